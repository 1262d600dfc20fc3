import type { ImageContent, TextContent, UserMessage } from "@mariozechner/pi-ai";
import type { AgentRunResult } from "../agent/loop.js";
import { describeError } from "../errors.js";
import type { Attachment } from "../hooks/types.js";
import type { SourceImage } from "../images/sent-image.js";
import type { SessionActivity } from "./activity.js";
import type { CommandLineResult, CommandRunner } from "./command-runner.js";
import type { SessionImages } from "./session-images.js";
import type { SessionRunner } from "./session-run.js";
import type { SessionWindow } from "./session-window.js";

export interface PromptExtras {
	attachments?: readonly Attachment[];
	images?: readonly SourceImage[];
}

/** The result of a prompt. */
export type PromptResult =
	| { kind: "run"; outcome: AgentRunResult }
	/** The session was busy: the prompt is queued. */
	| { kind: "queued" }
	| { kind: "command"; status: string | null };

export interface PrompterDeps {
	activity: SessionActivity;
	commands: CommandRunner;
	runner: SessionRunner;
	window: SessionWindow;
	images: Pick<SessionImages, "fit">;
	/** Aborted when the session ends. */
	ended: AbortSignal;
	notice(level: "info" | "warning" | "error", message: string): void;
}

/** A prompt whose images take longer is announced: until they are fitted, nothing else shows that it was accepted. */
const NOTICE_AFTER_MS = 300;

/** Handles a line from the user or a hook: runs it as a command, starts a run, or queues it. */
export class Prompter {
	/** False in print mode, where only the prompt may start a run. */
	acceptsSend = true;
	/** Settles when the images of all earlier prompts are fitted; null when none are left. */
	#fitting: Promise<unknown> | null = null;

	constructor(private readonly deps: PrompterDeps) {
		deps.activity.subscribe(() => this.#deliverQueue());
	}

	/** See `AgentSession.prompt`. */
	async prompt(text: string, extras: PromptExtras): Promise<PromptResult> {
		const command = await this.deps.commands.run(text);
		return command ? this.#use(command) : this.send(text, extras);
	}

	/** See `AgentSession.runShortcut`. */
	async runShortcut(shortcut: { id: string; key: string }): Promise<PromptResult> {
		return this.#use(await this.deps.commands.runShortcut(shortcut));
	}

	/** See `AgentSession.send`. */
	send(text: string, extras: PromptExtras = {}): Promise<PromptResult> {
		return this.#deliver(text, extras, "steer");
	}

	/** See `AgentSession.followUp`. */
	async followUp(text: string, images: readonly SourceImage[]): Promise<void> {
		await this.#deliver(text, { images }, "followUp");
	}

	/** Accepts a prompt from a hook (`pi.send`). */
	receive(text: string, attachments: readonly Attachment[]): void {
		if (!this.acceptsSend) {
			this.deps.notice("warning", "pi.send is not supported in print mode");
			return;
		}
		void this.send(String(text), { attachments }).catch((error) => this.#report(error));
	}

	/** Shows the status of a command, or sends its prompt. */
	async #use(command: CommandLineResult): Promise<PromptResult> {
		if (command.kind === "prompt") return this.send(command.prompt, { attachments: command.attachments ?? [] });
		if (command.status !== null) this.deps.notice("info", command.status);
		return { kind: "command", status: command.status };
	}

	async #deliver(text: string, extras: PromptExtras, delivery: "steer" | "followUp"): Promise<PromptResult> {
		const { activity, runner } = this.deps;
		const images = sourceImages(extras);
		// Without a wait when there is nothing to wait for: a hook's prompt joins the turn in which it was sent.
		const fitted = images.length > 0 || this.#fitting ? await this.#fit(images) : [];
		const message = createUserMessage(text, extras, fitted);
		if (message.content.length === 0) return { kind: "command", status: null };
		await activity.untilRunEnded();
		activity.check("prompt");
		this.deps.window.checkPrompt(message);
		if (activity.verdict("prompt") === "queue") {
			runner.queue[delivery]({ text, message });
			return { kind: "queued" };
		}
		const outcome = await runner.start([message], this.deps.ended);
		if (outcome.stopped !== null) this.deps.notice("warning", outcome.stopped);
		return { kind: "run", outcome };
	}

	/** Fits images. A prompt waits for the images of the prompts before it, so that their order is kept. */
	async #fit(images: readonly SourceImage[]): Promise<ImageContent[]> {
		const before = this.#fitting ?? Promise.resolve();
		const fitted = before.then(() => this.deps.images.fit(images));
		const settled = fitted.then(
			() => {},
			() => {},
		);
		this.#fitting = settled;
		const text = images.length > 1 ? "scaling the images of the prompt" : "scaling the image of the prompt";
		const timer = images.length > 0 ? setTimeout(() => this.deps.notice("info", text), NOTICE_AFTER_MS) : undefined;
		try {
			return await fitted;
		} finally {
			clearTimeout(timer);
			if (this.#fitting === settled) this.#fitting = null;
		}
	}

	/** Sends prompts queued during a compaction or switch as soon as a run can start. */
	#deliverQueue(): void {
		const { activity, runner, ended } = this.deps;
		if (runner.queue.size === 0 || activity.verdict("prompt") !== "allow") return;
		void runner.start(null, ended).then(
			({ stopped }) => {
				if (stopped !== null) this.deps.notice("warning", stopped);
			},
			(error) => this.#report(error),
		);
	}

	#report(error: unknown): void {
		this.deps.notice("error", describeError(error));
	}
}

function sourceImages({ attachments = [], images = [] }: PromptExtras): SourceImage[] {
	const attached = attachments.filter(({ type }) => type === "image");
	return [...images, ...attached.map(({ content, mimeType }) => ({ type: "image" as const, data: content, mimeType }))];
}

/** Creates the user message of a prompt: images become blocks, documents become text between `<file>` tags. */
function createUserMessage(
	text: string,
	{ attachments = [] }: PromptExtras,
	pictures: readonly ImageContent[],
): UserMessage {
	const documents = attachments.filter(({ type }) => type === "document").map(documentText);
	const content = [...documents, text].filter((section) => section.length > 0).join("\n\n");
	if (pictures.length === 0) return { role: "user", content, timestamp: Date.now() };
	const blocks: (TextContent | ImageContent)[] = content ? [{ type: "text", text: content }] : [];
	return { role: "user", content: [...blocks, ...pictures], timestamp: Date.now() };
}

function documentText({ fileName, mimeType, content, extractedText }: Attachment): string {
	const isText = /^text\/|json|xml|yaml|javascript|typescript/.test(mimeType);
	const text =
		extractedText ?? (isText ? Buffer.from(content, "base64").toString("utf8") : `(${mimeType}, not readable as text)`);
	return `<file name="${fileName.replace(/["<>&]/g, "")}">\n${text}\n</file>`;
}
