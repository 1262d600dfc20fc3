import { setImmediate as nextTick } from "node:timers/promises";
import type {
	AgentContext,
	AvailableCommand,
	ClientCapabilities,
	ContentBlock,
	PromptResponse,
	SessionConfigOption,
	SessionModeState,
	SessionUpdate,
	StopReason,
} from "@agentclientprotocol/sdk";
import { methods } from "@agentclientprotocol/sdk";
import { describeFailure } from "../../agent/failure.js";
import type { PaletteItem } from "../../commands/command.js";
import { builtinName, parseSlashCommand } from "../../commands/command-registry.js";
import { describeError, PiError } from "../../errors.js";
import { isMessageEntry, type SessionEntry } from "../../log/entry.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { Activity } from "../../session/activity.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import { onAbort } from "../../util/abort.js";
import { waitAtMost } from "../session-end.js";
import { clientStep, invalidParams, missingModel } from "./acp-errors.js";
import { AcpUI } from "./acp-ui.js";
import { configOptions, setConfigOption } from "./config-options.js";
import { replayHistory } from "./history.js";
import { isModeEntry, modesOf, setMode } from "./modes.js";
import { readPrompt } from "./prompt-content.js";
import { type ClientSupport, SessionUpdates, titleOf } from "./session-updates.js";

/** Dependencies of a session. */
export interface AcpSessionOptions {
	/** Not started yet. */
	session: AgentSession;
	client: Pick<AgentContext, "request" | "notify">;
	capabilities: ClientCapabilities;
	/** Whether the client knows the id already; if not, updates wait for the answer that contains it. */
	isKnown: boolean;
}

/** What a client learns when a session opens. */
export interface OpenedSession {
	modes?: SessionModeState;
	configOptions: SessionConfigOption[];
}

/** A prompt of the client until its answer. */
interface Turn {
	isCanceled: boolean;
	/** Resolves with its answer. */
	answered: Promise<void>;
	end(): void;
}

/** Maximum time for a session to end, in ms: shutdown handlers of hooks have 2 s. */
const DISPOSE_MS = 2500;

/** A session of a client: runs its prompts, and sends everything that happens as updates. */
export class AcpSession {
	/** The id for the client; the same as long as the session is open. */
	readonly id: string;
	readonly #session: AgentSession;
	readonly #client: AcpSessionOptions["client"];
	readonly #support: ClientSupport;
	readonly #updates: SessionUpdates;
	readonly #ui: AcpUI;
	readonly #unsubscribe: () => void;
	/** Prompts that the session has received. */
	readonly #turns = new Set<Turn>();
	/** Prompts that wait for a cancel before them. */
	readonly #waiting = new Set<Turn>();
	/** Settles when everything that was canceled has stopped; null without a cancel. */
	#canceling: Promise<void> | null = null;
	/** Prompts that left the queue unsent. */
	#returned = 0;
	/** Updates that wait until the client knows the id; null once it does. */
	#held: SessionUpdate[] | null;

	constructor({ session, client, capabilities, isKnown }: AcpSessionOptions) {
		this.id = session.sessionId;
		this.#session = session;
		this.#client = client;
		this.#held = isKnown ? null : [];
		const { notices, compaction } = capabilities.session ?? {};
		this.#support = { notices: isGiven(notices), compaction: isGiven(compaction) };
		this.#updates = new SessionUpdates({ session, support: this.#support, send: (update) => this.#send(update) });
		const hasForms = isGiven(capabilities.elicitation?.form);
		this.#ui = new AcpUI({ sessionId: this.id, client, updates: this.#updates, hasForms });
		session.attachUI(this.#ui, null, false);
		// Hooks treat an ACP client like an RPC client: a program that shows dialogs, but no components.
		session.mode = "rpc";
		this.#unsubscribe = session.subscribe((event) => this.#handle(event));
	}

	get cwd(): string {
		return this.#session.cwd;
	}

	/** Reports a problem to the user. */
	warn(line: string): void {
		this.#updates.notice("warning", line);
	}

	/** Reports an error outside of any handler. @returns false if no hook of the session caused it */
	blameHook(error: unknown): boolean {
		return this.#session.blameHook(error);
	}

	/** Loads the hooks. @throws PiError `model_missing` when no model can answer */
	async start(): Promise<void> {
		await this.#session.start();
		if (!this.#session.model) throw missingModel();
	}

	/** Sends the entries of the session as updates. */
	replay(): void {
		this.#updates.reset();
		replayHistory(this.#session, this.#updates, this.#support);
		this.#updates.sendUsage();
	}

	/** Describes the session for the answer to the request that opened it, after which the client gets its commands. */
	async describe(): Promise<OpenedSession> {
		const modes = await modesOf(this.#session);
		const opened = { ...(modes ? { modes } : {}), configOptions: await configOptions(this.#session) };
		setImmediate(() => {
			const held = this.#held ?? [];
			this.#held = null;
			for (const update of held) void this.#send(update);
			this.#sendCommands();
			this.#updates.sendTitle(titleOf(this.#session));
		});
		return opened;
	}

	/**
	 * Runs a prompt and everything that follows from it. Resolves when the session is idle again.
	 * @param signal cancels the prompt
	 * @throws PiError or RequestError when the prompt or its request fails
	 */
	async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
		const session = this.#session;
		const { text, images, attachments } = readPrompt(blocks, {
			cwd: session.cwd,
			elsewhere: elsewhereOf(session.host),
		});
		checkCommand(text);
		const turn = createTurn();
		if (this.#canceling) {
			this.#waiting.add(turn);
			await this.#canceling;
			this.#waiting.delete(turn);
			if (turn.isCanceled || signal.aborted) return { stopReason: "cancelled" };
		}
		this.#turns.add(turn);
		const release = onAbort(signal, () => void this.cancel());
		if (this.#turns.size === 1) this.#updates.beginTurn();
		this.#updates.expectedPrompts++;
		const returned = this.#returned;
		const before = session.log.findLastMessage("assistant");
		try {
			const result = await session.prompt(text, { images, attachments, source: "rpc" });
			await this.#untilIdle();
			if (turn.isCanceled) return { stopReason: "cancelled" };
			if (result.kind === "queued" && this.#returned > returned) {
				throw new PiError("prompt_refused", "The prompt was not sent: the run before it failed or was stopped", {
					hint: "send it again",
				});
			}
			const after = session.log.findLastMessage("assistant");
			return { stopReason: after === before ? "end_turn" : stopReasonOf(session.log.at(after)) };
		} catch (error) {
			if (turn.isCanceled) return { stopReason: "cancelled" };
			throw error;
		} finally {
			release();
			turn.end();
			this.#turns.delete(turn);
			if (this.#turns.size === 0) {
				this.#updates.expectedPrompts = 0;
				this.#updates.endTurn();
				this.#updates.sendTitle(titleOf(session));
			}
		}
	}

	/** Stops everything; open prompts are answered with `cancelled`. Later prompts wait until everything has stopped. */
	async cancel(): Promise<void> {
		this.#markCanceled();
		const canceling = this.#stop([...this.#turns]);
		this.#canceling = canceling;
		await canceling;
		if (this.#canceling === canceling) this.#canceling = null;
	}

	async #stop(turns: readonly Turn[]): Promise<void> {
		// The last prompt may not have begun its run yet.
		await nextTick();
		await this.#session.abort();
		await Promise.all(turns.map(({ answered }) => answered));
	}

	#markCanceled(): void {
		for (const turn of [...this.#turns, ...this.#waiting]) turn.isCanceled = true;
	}

	/** Changes an option. @returns all options */
	async setOption(id: string, value: unknown): Promise<SessionConfigOption[]> {
		await setConfigOption(this.#session, id, value);
		return configOptions(this.#session);
	}

	setMode(id: string): Promise<void> {
		return setMode(this.#session, id);
	}

	/** Stops everything and closes the log. */
	async close(): Promise<void> {
		this.#markCanceled();
		this.#ui.close();
		await waitAtMost(DISPOSE_MS, this.#session.dispose());
		this.#unsubscribe();
		this.#updates.close();
	}

	#handle(event: AgentSessionEvent): void {
		this.#updates.handle(event);
		switch (event.type) {
			case "agent_start":
				// The run began after the cancel: its images were still being scaled, for example.
				if ([...this.#turns].some(({ isCanceled }) => isCanceled)) void this.#session.abort();
				return;
			case "queue_returned":
				this.#returned += event.texts.length;
				return;
			case "model_changed":
			case "thinking_level_changed":
				void this.#sendOptions();
				return;
			case "registrations_changed":
				this.#sendCommands();
				void this.#sendOptions();
				return;
			case "entry_appended":
				if (event.entry.type === "session_info") this.#updates.sendTitle(titleOf(this.#session));
				if (isModeEntry(event.entry)) void this.#sendMode();
				return;
		}
	}

	async #sendMode(): Promise<void> {
		const modes = await modesOf(this.#session).catch(() => null);
		if (!modes) return;
		this.#updates.send({ sessionUpdate: "current_mode_update", currentModeId: modes.currentModeId });
		void this.#sendOptions();
	}

	#sendCommands(): void {
		const commands = availableCommands(this.#session.palette());
		this.#updates.send({ sessionUpdate: "available_commands_update", availableCommands: commands });
	}

	async #sendOptions(): Promise<void> {
		try {
			const options = await configOptions(this.#session);
			this.#updates.send({ sessionUpdate: "config_option_update", configOptions: options });
		} catch (error) {
			this.warn(describeError(error));
		}
	}

	/** Resolves when the session does nothing or ends: hooks may have sent further prompts at the end of the run. */
	async #untilIdle(): Promise<void> {
		await nextTick();
		const { activity } = this.#session;
		if (isAtRest(activity)) return;
		await new Promise<void>((resolve) => {
			const stop = this.#session.subscribe((event) => {
				if (event.type !== "activity_changed" || !isAtRest(event.activity)) return;
				stop();
				resolve();
			});
		});
		await this.#untilIdle();
	}

	async #send(update: SessionUpdate): Promise<void> {
		if (this.#held) {
			this.#held.push(update);
			return;
		}
		try {
			await this.#client.notify(methods.client.session.update, { sessionId: this.id, update });
		} catch {
			// The client has gone, which also ends the server.
		}
	}
}

function createTurn(): Turn {
	let end = () => {};
	const answered = new Promise<void>((resolve) => {
		end = resolve;
	});
	return { isCanceled: false, answered, end };
}

function isAtRest({ state }: Activity): boolean {
	return state === "idle" || state === "closing";
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** @throws PiError `request_failed` */
function stopReasonOf(entry: SessionEntry | undefined): StopReason {
	const reply = isMessageEntry(entry) && entry.message.role === "assistant" ? entry.message : null;
	switch (reply?.stopReason) {
		case "error": {
			const text = describeFailure(reply.errorMessage);
			throw new PiError("request_failed", text, { hint: clientStep(text) });
		}
		case "aborted":
			return "cancelled";
		case "length":
			return "max_tokens";
		default:
			return "end_turn";
	}
}

/** Commands that replace or end the session, which is up to the client. */
const REFUSED: Readonly<Record<string, string>> = {
	new: "begin a new thread in the editor",
	clear: "begin a new thread in the editor",
	resume: "choose the session in the editor",
	branch: "begin a new thread in the editor",
	quit: "close the thread in the editor",
	exit: "close the thread in the editor",
};
/** Commands that need a terminal, or that an option of the session replaces. */
const HIDDEN = new Set(["hotkeys", "theme", "login", "setup", "copy", "changelog", "model", "thinking"]);

/** The slash commands that a client offers. */
function availableCommands(palette: readonly PaletteItem[]): AvailableCommand[] {
	return palette
		.filter(({ name, origin }) => {
			const own = builtinName(name);
			return origin !== "built-in" || !(Object.hasOwn(REFUSED, own) || HIDDEN.has(own));
		})
		.map(({ name, description, argumentHint, origin }) => ({
			name,
			description: description || origin,
			...(argumentHint ? { input: { hint: argumentHint } } : {}),
		}));
}

/** @throws RequestError for a command that would replace or end the session */
function checkCommand(text: string): void {
	const name = builtinName(parseSlashCommand(text)?.name ?? "");
	const hint = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
	if (hint !== undefined) throw invalidParams(`/${name} is not available over ACP`, hint);
}
