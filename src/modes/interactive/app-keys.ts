import { isKeyRelease } from "@mariozechner/pi-tui";
import { describeNoThinking } from "../../models/thinking-levels.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { countJobs, MAX_RUNNING_JOBS } from "../../tools/job-status.js";
import type { KeyAction } from "../../tui/key-table.js";
import { type Keymap, typedText } from "../../tui/keymap.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { monotonicMs } from "../../util/clock.js";
import type { Screen } from "./screen.js";

/** The parts of the app that its keys control. Every function returns immediately and reports its own failures. */
export interface AppKeysHost {
	screen: Pick<Screen, "hint"> & {
		readonly transcript: Pick<Screen["transcript"], "toggleThinking">;
	};
	/** null until the session has started; keys that need a session do nothing until then. */
	session(): Pick<
		AgentSession,
		| "abort"
		| "abortBash"
		| "activity"
		| "takeQueued"
		| "prompt"
		| "cycleModel"
		| "cycleThinkingLevel"
		| "model"
		| "palette"
		| "shortcuts"
		| "runShortcut"
		| "jobs"
		| "moveToBackground"
	> | null;
	/** @returns the submissions that wait for the session, or for a shell command from before it */
	takeWaiting(): string[];
	/** Quits, after a question if entries cannot be saved. */
	quit(): void;
	/** Quits, after a question if that ends or loses something. */
	leave(): void;
	suspend(): void;
	searchHistory(): void;
	/** @param at where it begins: at the end, or at the last prompt */
	openTranscript(at?: "end" | "prompt"): void;
	pasteImage(): void;
	/** Opens the user's external editor. @returns the new text, or null to keep the old one */
	editExternally(text: string): Promise<string | null>;
	failed(error: unknown): void;
}

/** Maximum time between the two presses of a double Escape, ms. */
const DOUBLE_ESCAPE_MS = 500;
/** The same for Ctrl+C, while a line says that the second press quits. */
const QUIT_WINDOW_MS = 2000;

/** Runs the app's key actions. The editor passes every key here first. */
export class AppKeys {
	#lastEscape = Number.NEGATIVE_INFINITY;
	#lastInterrupt = Number.NEGATIVE_INFINITY;
	/** Whether the press at `#lastInterrupt` left nothing that the next one could stop. */
	#quitsNext = false;
	/** A handler that returns false leaves the key to the editor. */
	readonly #actions: Partial<Record<KeyAction, (data: string) => boolean | void>> = {
		"app.abort": () => this.#escape(),
		"app.interrupt": () => this.#interrupt(),
		"app.exit": () => this.editor.getText() === "" && this.host.leave(),
		"app.suspend": () => this.host.suspend(),
		"app.help": (data) => this.#help(data),
		"app.model": () => this.#command("/model"),
		"app.modelNext": () => this.#cycleModel(1),
		"app.modelPrevious": () => this.#cycleModel(-1),
		"app.mode": () => this.#nextMode(),
		"app.thinkingLevel": () => this.#cycleThinkingLevel(),
		"app.transcript": () => this.host.openTranscript(),
		"app.previousPrompt": () => this.host.openTranscript("prompt"),
		"app.toggleThinking": () => this.host.screen.transcript.toggleThinking(),
		"app.externalEditor": () => this.#editExternally(),
		"app.background": () => this.#moveToBackground(),
		"app.editQueue": () => this.#editQueued(),
		"app.searchHistory": () => this.host.searchHistory(),
		"app.pasteImage": () => this.host.pasteImage(),
	};

	/** @param now the clock that detects double presses, ms */
	constructor(
		private readonly editor: PromptEditor,
		private readonly keymap: Keymap,
		private readonly host: AppKeysHost,
		private readonly now: () => number = monotonicMs,
	) {
		editor.onKey = (data) => this.handle(data);
	}

	/** @returns true when the app handled the key */
	handle(data: string): boolean {
		if (isKeyRelease(data)) return false;
		const action = this.keymap.actionOf(data, this.#actions);
		if (action === undefined && this.#runShortcut(data)) return true;
		if (action !== "app.interrupt") this.#lastInterrupt = Number.NEGATIVE_INFINITY;
		if (action !== "app.abort") this.#lastEscape = Number.NEGATIVE_INFINITY;
		return action !== undefined && this.#actions[action]?.(data) !== false;
	}

	/** Aborts what the session is doing. In an idle session, a double press opens the branch picker. */
	#escape(): void {
		const isBusy = this.#isBusy();
		this.#stop();
		if (isBusy) {
			this.#lastEscape = Number.NEGATIVE_INFINITY;
			return;
		}
		const isDouble = this.now() - this.#lastEscape <= DOUBLE_ESCAPE_MS;
		this.#lastEscape = isDouble ? Number.NEGATIVE_INFINITY : this.now();
		if (isDouble && !this.editor.getText()) this.#command("/branch");
	}

	/** Whether there is work that the user sees. The end of a run, after its last reply, is no such work. */
	#isBusy(): boolean {
		const operations = this.host.session()?.activity.operations ?? [];
		return operations.some(({ phase }) => phase !== "ending");
	}

	/** Aborts what the session is doing. @returns false if it is idle */
	#stop(): boolean {
		const session = this.host.session();
		if (!session || session.activity.state === "idle") return false;
		const { operations } = session.activity;
		// The status line names the command: a run that also goes on is stopped by the next press.
		const isShellRunning = operations.some(({ kind, phase }) => kind === "shell" && phase !== "ending");
		if (isShellRunning && operations.some(({ kind }) => kind === "run")) {
			session.abortBash().catch(this.host.failed);
			return true;
		}
		// Before the abort, which would deliver the next one.
		const waiting = this.host.takeWaiting();
		session.abort().then((queued) => this.#putBack([...queued, ...waiting]), this.host.failed);
		return true;
	}

	/**
	 * Clears the editor; if it is empty, stops what the session is doing. The next press quits if there is nothing left to
	 * stop, and nothing was pasted in between.
	 */
	#interrupt(): void {
		const isEmpty = this.editor.getText() === "";
		const session = this.host.session();
		if (isEmpty && this.#quitsNext && this.now() - this.#lastInterrupt <= QUIT_WINDOW_MS) {
			this.#lastInterrupt = Number.NEGATIVE_INFINITY;
			this.host.quit();
			return;
		}
		this.#lastInterrupt = this.now();
		this.#quitsNext = isEmpty || !this.#isBusy();
		if (!isEmpty || !this.#stop()) this.editor.takeText();
		const jobs = session?.jobs.running ?? 0;
		const does = this.#quitsNext ? `quit${jobs > 0 ? ` and end ${countJobs(jobs)}` : ""}` : "stop the run";
		this.host.screen.hint(`press ${this.keymap.keyOf("app.interrupt")} again to ${does}`, QUIT_WINDOW_MS);
	}

	/** @returns false if nothing can be moved */
	#moveToBackground(): boolean {
		const session = this.host.session();
		const moved = session?.moveToBackground() ?? null;
		if (moved === null) return false;
		if (moved.length === 0) this.host.screen.hint(`${countJobs(MAX_RUNNING_JOBS)} run already · /jobs can stop one`);
		else this.host.screen.hint(`moved to the background as ${moved.map(({ id }) => id).join(", ")} · /jobs shows it`);
		return true;
	}

	/** Opens help. A key that types a character opens it only when the editor is empty. */
	#help(data: string): boolean {
		const isTyped = typedText(data) !== "" && this.editor.getText() !== "";
		if (isTyped || this.host.session() === null) return false;
		this.#command("/help");
		return true;
	}

	/** Runs the shortcut of a hook. @returns false if the key is none */
	#runShortcut(data: string): boolean {
		const id = this.keymap.hookKeyOf(data);
		const session = this.host.session();
		const shortcut = session?.shortcuts.find((candidate) => candidate.id === id);
		if (!session || !shortcut) return false;
		session.runShortcut(shortcut).catch(this.host.failed);
		return true;
	}

	#command(name: string): void {
		this.host.session()?.prompt(name).catch(this.host.failed);
	}

	#cycleModel(step: 1 | -1): void {
		const cycled = this.host.session()?.cycleModel(step);
		cycled?.then((model) => {
			if (model === null) this.host.screen.hint("no other model available · /model shows all");
		}, this.host.failed);
	}

	/** Runs `/mode next` of the hook that provides modes. */
	#nextMode(): void {
		const session = this.host.session();
		if (!session) return;
		if (session.palette().some(({ name, origin }) => name === "mode" && origin.startsWith("hook "))) {
			this.#command("/mode next");
			return;
		}
		const key = this.keymap.keyOf("app.thinkingLevel");
		this.host.screen.hint(
			`${key ? `${key} changes the thinking level · ` : ""}for modes turn on pi:plan-mode in /hooks`,
		);
	}

	#cycleThinkingLevel(): void {
		const session = this.host.session();
		const refusal = describeNoThinking(session?.model ?? null);
		if (refusal) this.host.screen.hint(refusal);
		else session?.cycleThinkingLevel();
	}

	/** Puts the prompt that was queued last into the editor. What the session does not have yet was queued after the others. */
	#editQueued(): void {
		const waiting = this.host.takeWaiting();
		const queued = waiting.length > 0 ? null : (this.host.session()?.takeQueued() ?? null);
		this.#putBack(queued ? [queued.text] : waiting);
		const key = this.keymap.keyOf("app.followUp");
		if (queued?.isFollowUp && key) this.host.screen.hint(`${key} sends it after the run again`);
	}

	#putBack(texts: readonly string[]): void {
		if (texts.length > 0) this.editor.putBack(texts.join("\n\n"));
	}

	#editExternally(): void {
		const draft = this.editor.getExpandedText();
		this.host.editExternally(draft).then((text) => {
			// Without a change, keep the editor's text as it is, with long pastes still folded.
			if (text === null || text === draft) return;
			const added = addedTo(draft, this.editor.getExpandedText()).trim();
			this.editor.setText(text);
			if (added) this.editor.putBack(added);
		}, this.host.failed);
	}
}

/** @returns the part of a text that was inserted into the draft; the complete text if it replaced the draft */
function addedTo(draft: string, text: string): string {
	// Returned prompts are put in front.
	if (text.endsWith(draft)) return text.slice(0, text.length - draft.length);
	let start = 0;
	while (start < draft.length && draft[start] === text[start]) start += 1;
	const rest = draft.slice(start);
	return text.endsWith(rest) ? text.slice(start, text.length - rest.length) : text;
}
