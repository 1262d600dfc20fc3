import { visibleWidth } from "@mariozechner/pi-tui";
import type { ToolResult } from "../../../tools/tool.js";
import { cleanLine, clipLine, spread, styled } from "../lines.js";
import { ImageLines } from "./image-lines.js";
import { presenterOf } from "./tools/index.js";
import { failureOf } from "./tools/output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./tools/presenter.js";
import { View, type ViewStyle } from "./view.js";

/** Names are padded to this, so that the subjects of the built-in tools stand under each other. */
const NAME_WIDTH = 4;

/** A tool call with its result: one line, and under it what is worth seeing. */
export class ToolCallView extends View {
	#state: ToolCallState;
	#presenter: ToolPresenter;
	#ready = true;
	#images: ImageLines | null = null;

	constructor(style: ViewStyle, name: string, args: Record<string, unknown> = {}) {
		super(style);
		this.#state = { name, args, phase: "writing", result: null, isError: false };
		this.#presenter = presenterOf(name);
	}

	override get done(): boolean {
		const { phase } = this.#state;
		return (phase === "finished" || phase === "stopped") && this.#ready;
	}

	override get whole(): boolean {
		return this.#images?.isDrawn ?? false;
	}

	/** The model is still writing the call, or has written it. */
	describe(name: string, args: Record<string, unknown>, complete: boolean): void {
		if (name !== this.#state.name) this.#presenter = presenterOf(name);
		const waits = complete && this.#state.phase === "writing";
		this.#set({ name, args, ...(waits ? { phase: "waiting" } : {}) });
	}

	/** The call runs. */
	start(args: Record<string, unknown>): void {
		this.#set({ args, phase: "running" });
	}

	/** Output so far. */
	update(result: ToolResult): void {
		if (this.#state.phase === "running") this.#set({ result });
	}

	finish(result: ToolResult, isError: boolean): void {
		if (this.#state.phase === "finished") return;
		const images = result.content.filter((block) => block.type === "image");
		const name = this.#presenter.imageName?.(this.#state) ?? "";
		if (images.length > 0) {
			this.#images = new ImageLines(
				this.style,
				images.map((image) => ({ image, name })),
			);
		}
		this.#set({ result, isError, phase: "finished" });
		this.#ready = !this.#presenter.pending?.(this.#state, () => {
			this.#ready = true;
			this.changed();
		});
	}

	/** The run ended before the call did. */
	stop(): void {
		if (this.#state.phase !== "finished") this.#set({ phase: "stopped" });
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const call = this.#state;
		const name = cleanLine(call.name, 40).padEnd(NAME_WIDTH);
		const subject = this.#presenter.subject(call, this.style);
		const head = spread(`${theme.bold(name)}  ${subject}`, this.#outcome(), width);
		const rail = theme.dim("│ ");
		const room = Math.max(1, width - visibleWidth(rail));
		const body = [...(this.#presenter.body?.(call, room, this.style) ?? [])];
		if (call.isError && body.length === 0) {
			body.push(...styled(failureOf(resultText(call), room, this.style), theme.error));
		}
		body.push(...(this.#images?.lines(room) ?? []));
		return [head, ...body.map((line) => clipLine(rail + line, width))];
	}

	#outcome(): string {
		const { theme } = this.style;
		const call = this.#state;
		if (call.phase === "stopped") return theme.dim("stopped");
		const own = this.#presenter.outcome?.(call, this.style) ?? "";
		if (own) return call.isError ? theme.error(own.trim()) : theme.dim(own);
		return call.phase === "finished" && call.isError ? theme.error("failed") : "";
	}

	#set(change: Partial<ToolCallState>): void {
		this.#state = { ...this.#state, ...change };
		this.changed();
	}
}
