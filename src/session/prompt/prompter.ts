import { basename } from "node:path";
import type { ImageContent, TextContent, UserMessage } from "@mariozechner/pi-ai";
import type { AgentRunResult } from "../../agent/loop.js";
import { parseSlashCommand } from "../../commands/command-registry.js";
import { describeError, PiError } from "../../errors.js";
import type { PromptDecision } from "../../hooks/gates.js";
import type { HookRunner } from "../../hooks/runner.js";
import type { Attachment, PromptSource, SendOptions, SessionMode } from "../../hooks/types.js";
import type { SourceImage } from "../../images/sent-image.js";
import { messageText, type TextRange } from "../../log/entry.js";
import { checkPromptExtras } from "../../services/check-options.js";
import { abortable } from "../../util/abort.js";
import type { SessionActivity } from "../activity.js";
import { type OutputSchema, readOutputSchema } from "../run/demanded-answer.js";
import type { SessionImages } from "../run/session-images.js";
import type { SessionRunner } from "../run/session-run.js";
import type { SessionWindow } from "../run/session-window.js";
import type { SessionMcp } from "../session-mcp.js";
import type { SessionState } from "../session-state.js";
import type { CommandLineResult, CommandRunner } from "./command-runner.js";

export interface PromptExtras {
	attachments?: readonly Attachment[];
	images?: readonly SourceImage[];
	/** Default: `sdk`. */
	source?: PromptSource;
	/** The parts of the text that the user pasted and the editor folds. */
	pasted?: readonly TextRange[];
	/**
	 * JSON Schema (2020-12) that the answer must match: `structured` of the outcome is that answer. A prompt with one does not
	 * join a run that is active.
	 */
	outputSchema?: Readonly<Record<string, unknown>>;
}

/** The result of a prompt. */
export type PromptResult =
	| { kind: "run"; outcome: AgentRunResult }
	/** The session was busy: the prompt is queued. */
	| { kind: "queued" }
	/** A hook has handled the prompt: nothing is sent. */
	| { kind: "handled"; by: string }
	| { kind: "command"; status: string | null };

/** @internal */
export interface PrompterDeps {
	activity: SessionActivity;
	state: Pick<SessionState, "log" | "noteTyped">;
	hooks(): HookRunner;
	commands: CommandRunner;
	runner: SessionRunner;
	window: SessionWindow;
	images: Pick<SessionImages, "fit">;
	mcp: Pick<SessionMcp, "mentions" | "readMentions">;
	/** The mode that drives the session. */
	mode(): SessionMode;
	/** Aborted when the session ends. */
	ended: AbortSignal;
	notice(level: "info" | "warning" | "error", message: string): void;
}

/** A prompt whose images take longer is announced: until they are fitted, nothing else shows that it was accepted. */
const NOTICE_AFTER_MS = 300;

/** Handles a line from the user or a hook: runs it as a command, starts a run, or queues it. @internal */
export class Prompter {
	/** False in print mode, where only the prompt may start a run. */
	acceptsSend = true;
	/** Settles when all earlier prompts are sent or queued; null when none are waiting for hooks or images. */
	#delivering: Promise<unknown> | null = null;
	/** Whether a run without a prompt starts after what is active. */
	#waitsForRun = false;

	constructor(private readonly deps: PrompterDeps) {
		deps.activity.subscribe(() => this.#deliverQueue());
	}

	/** See `AgentSession.prompt`. */
	async prompt(text: string, extras: PromptExtras): Promise<PromptResult> {
		checkPrompt(text, extras);
		const command = parseSlashCommand(text) ? await this.deps.commands.run(text) : null;
		return command ? this.#use(command, extras, text) : this.send(text, extras);
	}

	/** See `AgentSession.runShortcut`. */
	async runShortcut(shortcut: { id: string; key: string }): Promise<PromptResult> {
		return this.#use(await this.deps.commands.runShortcut(shortcut));
	}

	/** See `AgentSession.send`. */
	async send(text: string, extras: PromptExtras = {}): Promise<PromptResult> {
		checkPrompt(text, extras);
		return this.#send(text, extras, "steer");
	}

	/** See `AgentSession.followUp`. */
	async followUp(text: string, extras: PromptExtras): Promise<PromptResult> {
		checkPrompt(text, extras);
		return this.#send(text, extras, "followUp");
	}

	/** Resolves when no prompt is waiting for hooks or images. */
	async delivered(): Promise<void> {
		while (this.#delivering) await this.#delivering;
	}

	/** Accepts a prompt from a hook (`pi.send`). */
	receive(text: string | null, attachments: readonly Attachment[], { delivery = "steer" }: SendOptions): void {
		if (!this.acceptsSend) {
			this.deps.notice("warning", "pi.send is not supported in print mode");
			return;
		}
		const sent = text === null ? this.#runOnce() : this.#send(String(text), { attachments, source: "hook" }, delivery);
		void sent.catch((error) => this.#report(error));
	}

	/** Starts a run without a prompt as soon as one can start, unless the user stops what it waits for. */
	async #runOnce(): Promise<void> {
		const { activity, runner, state, ended, notice } = this.deps;
		state.log.checkWritable();
		const isFree = () => activity.verdict("prompt") === "allow";
		if (!isFree()) {
			if (this.#waitsForRun) return;
			this.#waitsForRun = true;
			const stopped = AbortSignal.any([activity.nextAbort, ended]);
			while (!isFree() && !stopped.aborted) await activity.changed();
			this.#waitsForRun = false;
			if (stopped.aborted) return;
		}
		const { stopped } = await runner.start(null, ended);
		if (stopped !== null) notice("warning", stopped);
	}

	/**
	 * Shows the status of a command, or sends its prompt.
	 * @param typed what the user typed; absent for a shortcut
	 */
	async #use(
		command: CommandLineResult,
		{ source, images = [], outputSchema }: PromptExtras = {},
		typed?: string,
	): Promise<PromptResult> {
		if (command.kind === "done") {
			if (command.status !== null) this.deps.notice("info", command.status);
			return { kind: "command", status: command.status };
		}
		const { prompt, attachments = [], fromHook, fromServer } = command;
		const from = fromHook ? ("hook" as const) : source;
		// Of a template or a skill, whose text the user completed.
		const own = fromHook || fromServer ? [] : images;
		const asked = outputSchema === undefined ? {} : { outputSchema };
		const extras = { attachments, images: own, ...(from ? { source: from } : {}), ...asked };
		return this.#send(prompt, extras, "steer", { typed, isForeign: fromHook || fromServer });
	}

	/**
	 * @param typed what the user typed: `text` may be the expansion of a template
	 * @param isForeign whether somebody else wrote `text`, whose `@server:uri` are then not read
	 */
	async #send(
		text: string,
		extras: PromptExtras,
		how: "steer" | "followUp",
		{ typed = text, isForeign = extras.source === "hook" }: { typed?: string; isForeign?: boolean } = {},
	): Promise<PromptResult> {
		const { hooks, notice, mcp, state, activity } = this.deps;
		state.log.checkWritable();
		const stopped = activity.nextAbort;
		const { outputSchema } = extras;
		const output = outputSchema === undefined ? null : await readOutputSchema(outputSchema, "outputSchema");
		const hasResources = !isForeign && mcp.mentions(text);
		const isChecked = hasResources || sourceImages(extras).length > 0 || hooks().registry.has("prompt");
		const waits = isChecked || this.#delivering !== null;
		const deliver = () => this.#deliver({ text, extras, how, typed, hasResources, stopped, output });
		// Without a wait when there is nothing to wait for: a hook's prompt joins the turn in which it was sent.
		const delivered = await (waits ? this.#inTurn(deliver) : deliver());
		if (!("run" in delivered)) return delivered;
		const outcome = await delivered.run;
		if (outcome.stopped !== null) notice("warning", outcome.stopped);
		return { kind: "run", outcome };
	}

	/** Asks the hooks, fits the images, and queues the prompt or begins its run. */
	async #deliver(sent: Prompt): Promise<Exclude<PromptResult, { kind: "run" }> | { run: Promise<AgentRunResult> }> {
		const { activity, runner, state } = this.deps;
		if (sent.stopped.aborted) throw notSent("while it waited for an earlier one");
		const prompt = sent.hasResources ? await this.#withResources(sent) : sent;
		const { how } = prompt;
		// No waits for nothing: the run begins before the caller can abort it or send a follow-up.
		const decision = this.deps.hooks().registry.has("prompt")
			? await this.#askHooks(prompt)
			: { text: prompt.text, changedBy: [] };
		if ("handled" in decision) return { kind: "handled", by: decision.by };
		if ("stop" in decision) {
			throw new PiError("prompt_refused", `Hook ${decision.by} refused the prompt: ${decision.stop}`);
		}
		const { text, changedBy } = decision;
		const extras = decision.attachments ? { attachments: decision.attachments } : prompt.extras;
		const images = sourceImages(extras);
		const message = createUserMessage(text, extras, images.length > 0 ? await this.#fit(images, sent.stopped) : []);
		if (message.content.length === 0) return { kind: "command", status: null };
		if (activity.isRunEnding) await this.#untilRunEnded(sent);
		activity.check("prompt");
		this.deps.window.checkPrompt(message);
		const isChanged = text !== prompt.text;
		const mode = this.deps.mode();
		const pasted = isChanged ? [] : pastedIn(message, text, extras);
		state.noteTyped(message, {
			...(isChanged && { typed: prompt.typed, changedBy }),
			...(pasted.length > 0 && { pasted }),
			...((mode === "print" || mode === "json") && { mode }),
		});
		if (activity.verdict("prompt") === "queue") {
			if (sent.output) throw new PiError("session_busy", "A prompt with an output schema needs a run of its own", WAIT);
			// A prompt that comes back is sent again, expanded again, and changed again.
			const isOwn = isChanged || prompt.extras.source !== "hook";
			runner.queue[how]({ text: isOwn ? prompt.typed : text, message });
			return { kind: "queued" };
		}
		return { run: runner.start([message], this.deps.ended, sent.output) };
	}

	/** Attaches the resources of MCP servers that the prompt names. */
	async #withResources(prompt: Prompt): Promise<Prompt> {
		const { mcp, activity, ended } = this.deps;
		await this.#untilRunEnded(prompt);
		const operation = activity.begin("prompting", { signals: [ended] });
		try {
			const { attachments = [] } = prompt.extras;
			const resources = await mcp.readMentions(prompt.text, operation.signal);
			return { ...prompt, extras: { ...prompt.extras, attachments: [...attachments, ...resources] } };
		} catch (error) {
			if (!operation.signal.aborted) throw error;
			throw notSent("while its resources were read");
		} finally {
			operation.end();
		}
	}

	/** Waits while the run before the prompt is ending. @throws PiError `prompt_refused` if the user stops it */
	async #untilRunEnded({ stopped }: Prompt): Promise<void> {
		await this.deps.activity.untilRunEnded();
		if (stopped.aborted) throw notSent("while the run before it was ending");
	}

	async #askHooks(prompt: Prompt): Promise<PromptDecision> {
		const { activity, hooks } = this.deps;
		const { text, extras, how } = prompt;
		await this.#untilRunEnded(prompt);
		const operation = activity.begin("prompting", { signals: [this.deps.ended] });
		try {
			const { source = "sdk" } = extras;
			const delivery = activity.verdict("prompt") === "queue" ? how : "start";
			const event = { type: "prompt", text, attachments: allAttachments(extras), source, delivery } as const;
			const decision = await hooks().gatePrompt(event, operation.signal);
			if (!operation.signal.aborted) return decision;
			throw notSent("before the hooks had decided");
		} finally {
			operation.end();
		}
	}

	/** Delivers a prompt after those before it, so that their order is kept. */
	async #inTurn<T>(deliver: () => Promise<T>): Promise<T> {
		const delivered = (this.#delivering ?? Promise.resolve()).then(deliver);
		const settled = delivered.then(
			() => {},
			() => {},
		);
		this.#delivering = settled;
		void settled.then(() => {
			if (this.#delivering === settled) this.#delivering = null;
		});
		return delivered;
	}

	async #fit(images: readonly SourceImage[], stopped: AbortSignal): Promise<ImageContent[]> {
		const text = images.length > 1 ? "scaling the images of the prompt" : "scaling the image of the prompt";
		const timer = setTimeout(() => this.deps.notice("info", text), NOTICE_AFTER_MS);
		try {
			return await abortable(this.deps.images.fit(images), stopped);
		} catch (error) {
			throw stopped.aborted ? notSent("before its images were scaled") : error;
		} finally {
			clearTimeout(timer);
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

/** A prompt on its way. */
interface Prompt {
	text: string;
	extras: PromptExtras;
	how: "steer" | "followUp";
	typed: string;
	/** Whether it names resources of MCP servers. */
	hasResources: boolean;
	/** Aborted when the user stops the session before the prompt is delivered. */
	stopped: AbortSignal;
	/** What the answer must match. */
	output: OutputSchema | null;
}

const WAIT = { hint: "wait until the session is idle" };

function notSent(when: string): PiError {
	return new PiError("prompt_refused", `The prompt was not sent: it was stopped ${when}`);
}

/** @throws PiError `bad_arguments` for a prompt that is not a string, has malformed images, or has no content */
function checkPrompt(text: unknown, extras: PromptExtras): void {
	checkPromptExtras(extras);
	const { attachments = [], images = [] } = extras;
	const hint = "send text, an image or an attachment";
	if (typeof text !== "string") throw new PiError("bad_arguments", "The prompt must be a string", { hint });
	if (text.trim() !== "" || attachments.length + images.length > 0) return;
	throw new PiError("bad_arguments", "The prompt is empty", { hint });
}

/** The attachments of a prompt as hooks receive them: its images have this form, too. */
function allAttachments({ attachments = [], images = [] }: PromptExtras): Attachment[] {
	const pasted = images.map(({ data, mimeType, path }, index): Attachment => {
		const fileName = path === undefined ? `image-${index + 1}.${mimeType.split("/")[1] ?? "png"}` : basename(path);
		const size = Buffer.byteLength(data, "base64");
		return { id: `image-${index + 1}`, type: "image", fileName, mimeType, size, content: data };
	});
	return [...attachments.map((attachment) => ({ ...attachment })), ...pasted];
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
	const content = [...documents, text].filter((section) => section.trim() !== "").join("\n\n");
	if (pictures.length === 0) return { role: "user", content, timestamp: Date.now() };
	const blocks: (TextContent | ImageContent)[] = content ? [{ type: "text", text: content }] : [];
	return { role: "user", content: [...blocks, ...pictures], timestamp: Date.now() };
}

/** The pasted parts of a prompt's text in its message, where documents precede it. */
function pastedIn(message: UserMessage, text: string, { pasted = [] }: PromptExtras): TextRange[] {
	const offset = messageText(message).length - text.length;
	return pasted.map(({ start, end }) => ({ start: start + offset, end: end + offset }));
}

function documentText({ fileName, mimeType, content, extractedText }: Attachment): string {
	const isText = /^text\/|json|xml|yaml|javascript|typescript/.test(mimeType);
	const text =
		extractedText ?? (isText ? Buffer.from(content, "base64").toString("utf8") : `(${mimeType}, not readable as text)`);
	return `<file name="${fileName.replace(/["<>&]/g, "")}">\n${text}\n</file>`;
}
