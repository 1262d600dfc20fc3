import { isKeyRelease } from "@mariozechner/pi-tui";
import type { KeyAction, Keymap } from "../../tui/keymap.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";

/** What the keys do. All of them return at once; failures are the callee's to tell. */
export interface KeyActions {
	readonly isRunning: boolean;
	/** Stops the run. @returns the texts that were queued, in order */
	abort(): Promise<readonly string[]>;
	/** Takes the queued prompts out. @returns their texts, in order */
	takeQueue(): readonly string[];
	branch(): void;
	quit(): void;
	suspend(): void;
	chooseModel(): void;
	cycleModel(step: 1 | -1): void;
	cycleThinkingLevel(): void;
	toggleTools(): void;
	toggleThinking(): void;
	searchHistory(): void;
	pasteImage(): void;
	/** Lets the user write in a program of theirs. @returns the new text, or null when it is to stay */
	editExternally(text: string): Promise<string | null>;
	/** Shows a line below the transcript until the next key; null takes it away. */
	hint(text: string | null): void;
	/** Told when an action fails. */
	failed(error: unknown): void;
}

/** A second press within this counts as a double one. ms. */
const DOUBLE_PRESS_MS = 500;

/** Turns the app's keys into actions. The editor asks it first. */
export class KeyController {
	#lastEscape = Number.NEGATIVE_INFINITY;
	#lastInterrupt = Number.NEGATIVE_INFINITY;
	#hinted = false;

	/** @param now the clock, ms; for keys that count twice */
	constructor(
		private readonly editor: PromptEditor,
		private readonly keymap: Keymap,
		private readonly actions: KeyActions,
		private readonly now: () => number = () => performance.now(),
	) {
		editor.onKey = (data) => this.handle(data);
	}

	/** @returns true when the key was one of the app's */
	handle(data: string): boolean {
		if (isKeyRelease(data)) return false;
		const action = this.#actionOf(data);
		if (action !== "app.interrupt") this.#clearHint();
		if (action !== "app.abort") this.#lastEscape = Number.NEGATIVE_INFINITY;
		return action !== undefined && this.#run(action);
	}

	#actionOf(data: string): KeyAction | undefined {
		return HANDLED.find((action) => this.keymap.matches(data, action));
	}

	/** @returns false when the key is the editor's after all */
	#run(action: KeyAction): boolean {
		const { actions } = this;
		switch (action) {
			case "app.abort":
				this.#escape();
				return true;
			case "app.interrupt":
				this.#interrupt();
				return true;
			case "app.exit":
				if (this.editor.getText()) return false;
				actions.quit();
				return true;
			case "app.suspend":
				actions.suspend();
				return true;
			case "app.model":
				actions.chooseModel();
				return true;
			case "app.modelNext":
				actions.cycleModel(1);
				return true;
			case "app.modelPrevious":
				actions.cycleModel(-1);
				return true;
			case "app.thinkingLevel":
				actions.cycleThinkingLevel();
				return true;
			case "app.expandTools":
				actions.toggleTools();
				return true;
			case "app.toggleThinking":
				actions.toggleThinking();
				return true;
			case "app.externalEditor":
				this.#editExternally();
				return true;
			case "app.editQueue":
				this.#putBack(actions.takeQueue());
				return true;
			case "app.searchHistory":
				actions.searchHistory();
				return true;
			case "app.pasteImage":
				actions.pasteImage();
				return true;
			default:
				return false;
		}
	}

	/**
	 * Stops the run; when none runs, takes back what a run that failed has left in the queue; else the second of two
	 * opens the branch picker, unless there is a draft.
	 */
	#escape(): void {
		if (this.actions.isRunning) {
			this.#lastEscape = Number.NEGATIVE_INFINITY;
			this.actions.abort().then(
				(queued) => this.#putBack(queued),
				(error) => this.actions.failed(error),
			);
			return;
		}
		const left = this.actions.takeQueue();
		if (left.length > 0) {
			this.#putBack(left);
			return;
		}
		const twice = this.now() - this.#lastEscape <= DOUBLE_PRESS_MS;
		this.#lastEscape = twice ? Number.NEGATIVE_INFINITY : this.now();
		if (twice && !this.editor.getText()) this.actions.branch();
	}

	/** Clears the editor; the second of two quits. */
	#interrupt(): void {
		if (this.now() - this.#lastInterrupt <= DOUBLE_PRESS_MS) {
			this.#clearHint();
			this.actions.quit();
			return;
		}
		this.#lastInterrupt = this.now();
		this.editor.takeText();
		this.#hinted = true;
		this.actions.hint(`${this.keymap.keyOf("app.interrupt")} again quits`);
	}

	#clearHint(): void {
		this.#lastInterrupt = Number.NEGATIVE_INFINITY;
		if (!this.#hinted) return;
		this.#hinted = false;
		this.actions.hint(null);
	}

	#putBack(texts: readonly string[]): void {
		if (texts.length > 0) this.editor.putBack(texts.join("\n\n"));
	}

	#editExternally(): void {
		const draft = this.editor.getExpandedText();
		this.actions.editExternally(draft).then(
			(text) => {
				// Pastes stay folded when nothing was changed.
				if (text !== null && text !== draft) this.editor.setText(text);
			},
			(error) => this.actions.failed(error),
		);
	}
}

const HANDLED: readonly KeyAction[] = [
	"app.abort",
	"app.interrupt",
	"app.exit",
	"app.suspend",
	"app.model",
	"app.modelNext",
	"app.modelPrevious",
	"app.thinkingLevel",
	"app.expandTools",
	"app.toggleThinking",
	"app.externalEditor",
	"app.editQueue",
	"app.searchHistory",
	"app.pasteImage",
];
