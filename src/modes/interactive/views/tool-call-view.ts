import { visibleWidth } from "@mariozechner/pi-tui";
import {
	type Drawing,
	drawCall,
	drawResult,
	type FindToolRenderer,
	type ToolRenderer,
} from "../../../hooks/tool-drawing.js";
import type { ChangedInput } from "../../../log/entry.js";
import { describeChangedInput } from "../../../log/gate-text.js";
import { describeCall } from "../../../tools/describe-call.js";
import type { CallDescription } from "../../../tools/description.js";
import type { ToolResult } from "../../../tools/tool.js";
import { clipLine, spread } from "../../../tui/line.js";
import { cleanLine, hostLabel, styled, wrapLines } from "../clean-text.js";
import { hookTheme } from "../hook-theme.js";
import { safeRows } from "./custom-entry-view.js";
import { ImageLines } from "./image-lines.js";
import { bashPresenter } from "./tools/bash-body.js";
import { failureMark, failureOf } from "./tools/command-output.js";
import { editPresenter, writePresenter } from "./tools/edit-body.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./tools/presenter.js";
import { genericPresenter, lookupPresenter, tasksPresenter } from "./tools/result-bodies.js";
import { type RemoteMachine, View, type ViewStyle } from "./view.js";

/** Names are padded to this width to align the subjects of the built-in tools. Columns. */
const NAME_WIDTH = 4;
/** Calls of the tool itself that a preview shows; a transcript shows all. */
const MAX_MADE = 10;
/** Maximum characters of the line that describes changed arguments. */
const MAX_CHANGE = 1000;

const PRESENTERS: ReadonlyMap<string, ToolPresenter> = new Map([
	["bash", bashPresenter],
	["read", lookupPresenter],
	["grep", lookupPresenter],
	["find", lookupPresenter],
	["ls", lookupPresenter],
	["edit", editPresenter],
	["write", writePresenter],
	["tasks", tasksPresenter],
]);

/** A tool call with its result: one line, and a preview of the output below it. */
export class ToolCallView extends View {
	#state: ToolCallState;
	#presenter: ToolPresenter;
	#ready = true;
	#images: ImageLines | null = null;
	/** Calls that the tool makes while it runs, oldest first. */
	readonly #made: ToolCallView[] = [];
	#within: ToolCallView | null = null;

	/**
	 * @param rendererOf finds how a hook draws its tool
	 * @param remote the machine of the call
	 */
	constructor(
		style: ViewStyle,
		name: string,
		args: Record<string, unknown> = {},
		private readonly rendererOf: FindToolRenderer = () => undefined,
		remote: RemoteMachine | null = style.remote,
		/** The hook that makes the call, if that must be said: not for one within another call. */
		private readonly by: string | null = null,
	) {
		super(style);
		this.#state = { name, args, phase: "writing", result: null, isError: false, blockedBy: "", change: "", remote };
		this.#presenter = presenterOf(name);
	}

	override get done(): boolean {
		const { phase } = this.#state;
		return (phase === "finished" || phase === "stopped") && this.#ready && this.#made.every(({ done }) => done);
	}

	override get whole(): boolean {
		return this.#images?.isDrawn ?? false;
	}

	/** Draws a call that the tool makes below this one. */
	include(call: ToolCallView): void {
		call.#within = this;
		this.#made.push(call);
		this.changed();
	}

	protected override changed(): void {
		super.changed();
		this.#within?.changed();
	}

	/** Updates the call as far as the model has written it. */
	describe(name: string, args: Record<string, unknown>, complete: boolean): void {
		if (name !== this.#state.name) this.#presenter = presenterOf(name);
		const waits = complete && this.#state.phase === "writing";
		this.#set({ name, args, ...(waits ? { phase: "waiting" } : {}) });
	}

	/** Marks the call as running. */
	start(args: Record<string, unknown>): void {
		this.#set({ args, phase: "running" });
	}

	/** Shows that hooks changed the arguments, and the arguments that the tool receives. */
	changeInput(changed: ChangedInput): void {
		const kept = Object.entries(this.#state.args).filter(([name]) => !(name in changed.from));
		const args = { ...Object.fromEntries(kept), ...changed.to };
		this.#set({ args, change: cleanLine(describeChangedInput(changed), MAX_CHANGE) });
	}

	/** Replaces the output of the running call. */
	update(result: ToolResult): void {
		if (this.#state.phase === "running") this.#set({ result });
	}

	/** @param blockedBy name of the hook that blocked the call */
	finish(result: ToolResult, isError: boolean, blockedBy = ""): void {
		if (this.#state.phase === "finished") return;
		const images = result.content.filter((block) => block.type === "image");
		const name = this.#presenter.imageName?.(this.#state) ?? "";
		if (images.length > 0) {
			this.#images = new ImageLines(
				this.style,
				images.map((image) => ({ image, name })),
			);
		}
		this.#set({ result, isError, blockedBy: cleanLine(blockedBy, 40), phase: "finished" });
		this.#ready = !this.#presenter.pending?.(this.#state, () => {
			this.#ready = true;
			this.changed();
		});
	}

	/** Marks an unfinished call as stopped. */
	stop(): void {
		if (this.#state.phase !== "finished") this.#set({ phase: "stopped" });
	}

	protected override draw(width: number): string[] {
		const style = this.#styleNow();
		const { theme } = style;
		const call = this.#state;
		const name = cleanLine(call.name, 40).padEnd(NAME_WIDTH);
		const description = this.#describe();
		const { brief, status } = description;
		const failed = call.phase === "finished" && call.isError;
		const host = this.#host(description, width);
		const by = this.by === null ? "" : ` · hook ${cleanLine(this.by, 40)}`;
		const title = failed
			? theme.error(`${theme.bold(name)}  ${host}${brief}${by}`)
			: `${theme.bold(name)}  ${theme.dim(host)}${brief}${theme.dim(by)}`;
		const rail = theme.dim("│ ");
		const room = Math.max(1, width - visibleWidth(rail));
		const renderer = this.rendererOf(call.name);
		const drawn = renderer ? hookLines(renderer, call, { call: width, result: room }, style) : null;
		const [first = title, ...rest] = drawn?.call ?? [];
		const head = [spread(withoutPadding(first), this.#status(failed, status), width), ...rest];
		const body = [...(drawn?.result ?? this.#presenter.body?.(call, room, style, status) ?? [])];
		if (!drawn?.result && call.isError && body.length === 0) {
			body.push(...styled(failureOf(resultText(call), room, style), theme.error));
		}
		body.push(...(drawn?.errors ?? []));
		body.push(...(this.#images?.lines(room) ?? []));
		body.unshift(...this.#drawMade(room, style));
		if (call.change !== "") body.unshift(...styled(wrapLines([call.change], room), theme.warning));
		return [...head, ...body.map((line) => clipLine(rail + line, width))];
	}

	/** The calls that the tool makes: a dimmed line for each, and in a transcript all of them. */
	#drawMade(width: number, style: ViewStyle): string[] {
		const { expanded, theme } = style;
		if (expanded) return this.#made.flatMap((call) => call.draw(width));
		const hidden = this.#made.length - MAX_MADE;
		const lines = this.#made.slice(-MAX_MADE).map((call) => theme.dim(call.draw(width)[0] ?? ""));
		return hidden > 0 ? [theme.dim(`… ${hidden} earlier ${hidden === 1 ? "call" : "calls"}`), ...lines] : lines;
	}

	/** A call that still grows must fit on the screen. */
	#styleNow(): ViewStyle {
		return this.style.expanded === "ended" && !this.done ? { ...this.style, expanded: false } : this.style;
	}

	#describe(): CallDescription {
		const { name, args, phase, result, isError, remote } = this.#state;
		const ended = phase === "finished" && result ? { ...result, isError } : undefined;
		return describeCall({ name, args, result: ended }, { roots: remote ?? this.style });
	}

	/** The machine of the call with a colon, as in `ssh build-01: `; empty for this one, on which tools of others run. */
	#host({ kind }: CallDescription, width: number): string {
		const { remote } = this.#state;
		return remote && kind !== "other" && kind !== "think" ? hostLabel(remote.name, width) : "";
	}

	#status(failed: boolean, words: readonly string[]): string {
		const { theme } = this.style;
		if (this.#state.phase === "stopped") return theme.dim("stopped");
		const { blockedBy, phase } = this.#state;
		if (blockedBy !== "") return failureMark(`blocked by ${blockedBy}`, theme);
		const own = phase === "finished" ? this.#presenter.status?.(this.#state, words) : undefined;
		const status = own ?? (failed && words.length === 0 ? "failed" : words.join(" · "));
		return failed ? failureMark(status, theme) : theme.dim(status);
	}

	#set(change: Partial<ToolCallState>): void {
		this.#state = { ...this.#state, ...change };
		this.changed();
	}
}

function presenterOf(toolName: string): ToolPresenter {
	return PRESENTERS.get(toolName) ?? genericPresenter;
}

/** A line without the blanks at its end, with which components fill their rows. Styles stay. */
function withoutPadding(line: string): string {
	return line.replace(/(?<! ) +((?:\x1b\[[\d;]*m)*)$/, "$1");
}

/** What a hook drew of a call of its tool. */
interface HookLines {
	/** null: shown as the call of any tool. */
	call: string[] | null;
	/** null: shown as the result of any tool. */
	result: string[] | null;
	/** Lines that name each failure of the hook. */
	errors: string[];
}

/**
 * Draws a call with the functions of its hook: lines without control sequences except styles.
 * @param widths columns of the call and of its result
 */
function hookLines(
	renderer: ToolRenderer,
	{ args, result, phase, isError }: ToolCallState,
	widths: { call: number; result: number },
	style: ViewStyle,
): HookLines {
	const theme = hookTheme(style.theme);
	const isComplete = phase !== "writing";
	const options = { expanded: style.expanded !== false, isPartial: phase !== "finished", isError };
	const errors: string[] = [];
	const accept = (drawing: Drawing<string[]> | null): string[] | null => {
		if (drawing === null || "drawn" in drawing) return drawing?.drawn ?? null;
		errors.push(...styled(wrapLines([`✗ ${cleanLine(drawing.error)}`], widths.result), theme.error));
		return null;
	};
	const call = isComplete
		? accept(drawCall(renderer, args, theme, (drawn) => safeRows(drawn, widths.call, style.theme)))
		: null;
	const shown = result
		? accept(drawResult(renderer, result, options, theme, (drawn) => safeRows(drawn, widths.result, style.theme)))
		: null;
	// A block that still grows must fit on the screen.
	return { call, result: phase === "running" ? (shown?.slice(-style.liveRows()) ?? null) : shown, errors };
}
