import { PiError, type PiErrorCode } from "../../errors.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { parseSubmission, type Submission } from "../submission.js";

/** What a session does with what is typed. */
export interface PromptTarget {
	/** Text and slash commands. Steers while the agent runs. */
	prompt(text: string): Promise<void>;
	followUp(text: string): Promise<void>;
	runBash(command: string, options: { excludeFromContext: boolean }): Promise<void>;
}

/**
 * Takes what is submitted to the session: text, `/commands`, `!commands`. What comes before there is a session waits and
 * is delivered in order.
 */
export class PromptController {
	#target: PromptTarget | undefined;
	#waiting: Submission[] = [];

	/**
	 * @param onError told when the session refuses a submission
	 * @param onWaiting told when what waits for the session has changed
	 */
	constructor(
		private readonly editor: PromptEditor,
		private readonly onError: (error: unknown) => void,
		private readonly onWaiting: (waiting: readonly Submission[]) => void = () => {},
	) {
		editor.onSubmit = (text) => this.submit(text);
		editor.onFollowUp = (text) => this.#follow(text);
	}

	/** The session is there: delivers what waits, in order, then everything at once. */
	attach(target: PromptTarget): void {
		this.#target = target;
		const waiting = this.#waiting;
		this.#waiting = [];
		if (waiting.length > 0) this.onWaiting([]);
		for (const submission of waiting) this.#deliver(target, submission);
	}

	/** Submits a text as if it had been typed. An empty one is ignored. */
	submit(text: string): void {
		const submission = parseSubmission(text);
		if (submission) this.#send(text, submission);
	}

	#follow(text: string): void {
		const submission = parseSubmission(text);
		if (!submission) return;
		this.#send(text, submission.kind === "prompt" ? { kind: "follow_up", text: submission.text } : submission);
	}

	#send(text: string, submission: Submission): void {
		this.editor.addToHistory(text);
		if (this.#target) {
			this.#deliver(this.#target, submission);
			return;
		}
		this.#waiting.push(submission);
		this.onWaiting(this.#waiting);
	}

	#deliver(target: PromptTarget, submission: Submission): void {
		const done =
			submission.kind === "bash"
				? target.runBash(submission.command, { excludeFromContext: submission.excludeFromContext })
				: submission.kind === "follow_up"
					? target.followUp(submission.text)
					: target.prompt(submission.text);
		done.catch((error: unknown) => {
			this.onError(error);
			// What was refused before anything was written is not lost: it is there to be sent again.
			const isRefused = error instanceof PiError && REFUSALS.has(error.code);
			if (isRefused && submission.kind !== "bash" && this.editor.getText() === "") this.editor.setText(submission.text);
		});
	}
}

const REFUSALS: ReadonlySet<PiErrorCode> = new Set(["model_missing", "key_missing", "bad_arguments"]);
