import { parseSlashCommand } from "../../commands/command-registry.js";
import { PiError, type PiErrorCode } from "../../errors.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { isRunEnding } from "../../session/activity.js";
import type { QueuedPrompts } from "../../session/events.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { type MentionedImage, mentionedImages } from "../mentioned-images.js";
import { parseSubmission, type Submission } from "../submission.js";
import { rememberTyped } from "./history-search.js";
import type { FirstPrompt } from "./interactive-options.js";
import type { PastedImages } from "./pasted-images.js";
import type { PastedTexts } from "./pasted-texts.js";

/** Receives what the user submits. */
export interface PromptTarget {
	/** Sends text and slash commands. Steers the current run, if any. */
	prompt(text: string): Promise<void>;
	followUp(text: string): Promise<void>;
	runBash(command: string, options: { excludeFromContext: boolean }): Promise<unknown>;
	/** Resolves when a run that is ending has ended; null without one. */
	untilRunEnded(): Promise<void> | null;
}

/**
 * Delivers submitted text, `/commands` and `!commands` to the session. Queues submissions until a session is attached and
 * delivers them in order, each after the end of the `!command` before it. Prompts also wait for the end of a run that is ending, which
 * hooks can delay: until then they are shown, and can be taken back.
 */
export class PromptController {
	#target: PromptTarget | undefined;
	#waiting: readonly Submission[] = [];
	/** What the submissions wait for: their turn, or the end of a run; null without any. */
	#waitsFor: "turn" | "run" | null = null;

	/**
	 * @param onError called when the session rejects a submission
	 * @param onWaiting called when the submissions that wait for the session change
	 */
	constructor(
		private readonly editor: PromptEditor,
		private readonly onError: (error: unknown) => void,
		private readonly onWaiting: (waiting: readonly Submission[]) => void = () => {},
	) {
		editor.onSubmit = (text) => this.submit(text);
		editor.onFollowUp = (text) => this.#follow(text);
	}

	/** Attaches the session: delivers waiting submissions in order, and later ones immediately. */
	attach(target: PromptTarget): void {
		this.#target = target;
		void this.#deliverWaiting(target);
	}

	/** Empties the list of waiting submissions. @returns their texts, in order */
	takeWaiting(): string[] {
		const texts = this.#waiting.map(textOf);
		this.#setWaiting([]);
		return texts;
	}

	/** Submits a text as if the user had typed it. Ignores empty text. */
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
		const target = this.#target;
		const isNext = isPrompt(submission)
			? this.#waiting.length === 0 && target?.untilRunEnded() === null
			: this.#waiting.length === 0 || this.#waitsFor === "run";
		if (target && isNext) {
			void this.#deliver(target, submission);
			return;
		}
		this.#setWaiting([...this.#waiting, submission]);
		if (target && this.#waitsFor === null) void this.#deliverWaiting(target);
	}

	async #deliverWaiting(target: PromptTarget): Promise<void> {
		for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
			const ended = isPrompt(next) ? target.untilRunEnded() : null;
			if (ended) {
				this.#waitsFor = "run";
				await ended;
				continue;
			}
			this.#waitsFor = "turn";
			this.#setWaiting(this.#waiting.slice(1));
			const delivered = this.#deliver(target, next);
			// The session runs one shell command at a time, and a prompt after it may ask about its output.
			if (next.kind === "bash") await delivered;
		}
		this.#waitsFor = null;
	}

	#setWaiting(waiting: readonly Submission[]): void {
		if (waiting.length === this.#waiting.length) return;
		this.#waiting = waiting;
		this.onWaiting(waiting);
	}

	async #deliver(target: PromptTarget, submission: Submission): Promise<void> {
		const done =
			submission.kind === "bash"
				? target.runBash(submission.command, { excludeFromContext: submission.excludeFromContext })
				: submission.kind === "follow_up"
					? target.followUp(submission.text)
					: target.prompt(submission.text);
		await done.catch((error: unknown) => {
			this.onError(error);
			restoreRefused(this.editor, textOf(submission), error);
		});
	}
}

/**
 * Puts a text that the session rejected before logging it into the empty editor, so that the user can change it and send it
 * again. A slash command that failed, or must wait, is only suggested: whoever types on writes the next prompt.
 */
function restoreRefused(editor: PromptEditor, text: string, error: unknown): void {
	if (!(error instanceof PiError) || editor.getText() !== "") return;
	const isCommand = text.startsWith("/") && !text.includes("\n");
	const isLater = error.code === "command_failed" || error.code === "session_busy";
	if (isCommand && isLater) editor.suggest(text);
	else if (REFUSALS.has(error.code)) editor.setText(text);
}

const REFUSALS: ReadonlySet<PiErrorCode> = new Set([
	"model_missing",
	"key_missing",
	"bad_arguments",
	"prompt_refused",
	"prompt_too_large",
	"session_busy",
	"log_read_only",
	"model_unknown",
	"tool_unknown",
]);

/** Delivers submissions to a session, with the images and texts that were pasted into them, and the images that they name. */
export function createPromptTarget(
	session: AgentSession,
	images: PastedImages,
	texts: PastedTexts,
	home: string,
): PromptTarget {
	const extras = (text: string) => {
		const pasted = texts.in(text);
		// The user has not seen all of a pasted text.
		const isTyped = ({ at }: MentionedImage) => pasted.every(({ start, end }) => at < start || at >= end);
		const named = elsewhereOf(session.host) === null ? mentionedImages(text, { cwd: session.cwd, home }) : [];
		return { images: images.in(text, named.filter(isTyped)), pasted, source: "editor" as const };
	};
	return {
		prompt: async (text) => {
			void rememberTyped(session, text);
			await session.prompt(text, extras(text));
		},
		followUp: async (text) => {
			await session.followUp(text, extras(text));
		},
		runBash: (command, options) => session.runBash(command, options),
		untilRunEnded: () => (isRunEnding(session.activity) ? untilRunEnded(session) : null),
	};
}

function untilRunEnded(session: AgentSession): Promise<void> {
	return new Promise((resolve) => {
		const stop = session.subscribe(({ type }) => {
			if (type !== "activity_changed" || isRunEnding(session.activity)) return;
			stop();
			resolve();
		});
	});
}

/** Sends prompts one after the other. A failed prompt does not stop the others; a rejected one goes to the editor. */
export async function sendPrompts(
	session: AgentSession,
	prompts: readonly FirstPrompt[],
	{ editor, failed }: { editor: PromptEditor; failed: (error: unknown) => void },
): Promise<void> {
	for (const { text, images } of prompts) {
		await session.prompt(text, { images, source: "editor" }).catch((error: unknown) => {
			failed(error);
			restoreRefused(editor, text, error);
		});
	}
}

/** False for commands, which may run at any time. */
function isPrompt(submission: Submission): boolean {
	return submission.kind !== "bash" && parseSlashCommand(submission.text) === null;
}

/** A submission as it was typed. */
function textOf(submission: Submission): string {
	if (submission.kind !== "bash") return submission.text;
	return `${submission.excludeFromContext ? "!!" : "!"}${submission.command}`;
}

/** Submissions that wait for the session, in the form of a queue. */
export function waitingQueue(waiting: readonly Submission[]): QueuedPrompts {
	return {
		steering: waiting.filter(({ kind }) => kind !== "follow_up").map(textOf),
		followUps: waiting.filter(({ kind }) => kind === "follow_up").map(textOf),
	};
}
