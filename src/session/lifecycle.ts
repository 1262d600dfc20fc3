import { dirname } from "node:path";
import type { BranchTarget } from "../commands/command.js";
import type { BuiltContext } from "../context/context-message.js";
import { PiError } from "../errors.js";
import { SESSION_REASONS } from "../hooks/events.js";
import type { HookRunner, SessionAnswer } from "../hooks/runner.js";
import type { SessionEvent as HookSessionEvent } from "../hooks/types.js";
import { entryTimestamp, isUserMessageEntry, messageText, type SessionEntry } from "../log/entry.js";
import { copySession, removeSession } from "../log/manage.js";
import { SessionLog } from "../log/session-log.js";
import type { SessionEvent } from "./events.js";
import { describeMissingHooks, findMissingHooks, type MissingHooks } from "./missing-hooks.js";
import { entriesUpTo, type SessionContext } from "./session-context.js";
import type { SessionParts } from "./session-parts.js";
import type { SessionState } from "./session-state.js";

/** What the life of a session is driven with. */
export interface LifecycleDeps {
	parts: SessionParts;
	state: SessionState;
	context: SessionContext;
	hooks(): HookRunner;
	emit(event: SessionEvent): void;
	/** Stops whatever runs. */
	stop(): Promise<unknown>;
	/** True for entry types that a loaded hook declares or writes. */
	knowsType(type: string): boolean;
	/** Computes a context beside the session's own. */
	tryContext(entries: readonly SessionEntry[], signal: AbortSignal): Promise<BuiltContext>;
	warn(line: string): void;
	/** Aborted when the program ends. */
	ended: AbortSignal;
}

type PlainReason = "start" | "before_switch" | "switch" | "before_clear" | "clear" | "shutdown";

/** Start, switch, clear, branch, shutdown: each tells the hooks, and before it changes anything asks them. */
export class Lifecycle {
	#onWriteError: (error: PiError) => void = () => {};
	/** Aborts the wait for handlers, of each event that they are being told of. */
	readonly #waits = new Set<AbortController>();
	#missing: MissingHooks | null = null;

	constructor(private readonly deps: LifecycleDeps) {}

	/** Hears when entries cannot be written, of this log and of those that follow. */
	watchLog(onWriteError: (error: PiError) => void): void {
		this.#onWriteError = onWriteError;
		this.deps.state.log.onWriteError = onWriteError;
	}

	/** Entries whose hook is not loaded, as it was when the session was opened; null when there were none. */
	get missingHooks(): MissingHooks | null {
		return this.#missing;
	}

	/**
	 * Lets the context of the last request stand for all that was before its reply.
	 * @throws PiError `command_failed` when the log does not say what it was
	 */
	async freezeContext(): Promise<void> {
		const difference = this.#missing?.difference;
		if (!difference?.canFreeze) {
			throw new PiError("command_failed", "The last context cannot be frozen: the session does not say what it was");
		}
		this.#missing = null;
		this.deps.state.append({
			type: "context_freeze",
			timestamp: entryTimestamp(),
			entryIndex: difference.reply,
		});
		await this.deps.context.rebuild(this.deps.ended);
	}

	/** Computes the first context and tells the hooks of the start. */
	async start(): Promise<void> {
		this.#comparePlace();
		await this.#findMissing();
		await this.deps.context.rebuild(this.deps.ended);
		await this.tellHooks("start");
		this.deps.emit({ type: "session_changed", reason: "start" });
	}

	/** Ends the wait for handlers at once; what they were asked about does not happen. */
	abort(): void {
		for (const wait of this.#waits) wait.abort();
	}

	/** Begins a new, empty session. @returns false when a hook cancelled it */
	async newSession(): Promise<boolean> {
		if ((await this.#ask("before_clear")).cancel) return false;
		const { cwd, sessionDir } = this.deps.parts;
		await this.deps.stop();
		await this.#replace(
			sessionDir === null ? SessionLog.inMemory(cwd) : SessionLog.create({ dir: sessionDir, cwd }),
			"clear",
		);
		return true;
	}

	/**
	 * Opens another session, or a copy of it. @returns false when a hook cancelled it
	 * @throws PiError when the file cannot be used; `log_locked` for one that another pi has open and that is not copied
	 */
	async switchSession(path: string, { copy = false } = {}): Promise<boolean> {
		const { cwd, sessionDir } = this.deps.parts;
		const log = copy ? copySession(path, sessionDir ?? dirname(path)) : SessionLog.open(path, { cwd });
		if ((await this.#ask("before_switch")).cancel) {
			log.close();
			if (copy && log.path !== null) removeSession(log.path);
			return false;
		}
		await this.deps.stop();
		await this.#replace(log, "switch");
		return true;
	}

	/** User messages, oldest first. */
	branchTargets(): BranchTarget[] {
		const { log } = this.deps.state;
		const targets: BranchTarget[] = [];
		for (let at = log.findLastMessage("user"); at >= 0; at = log.findLastMessage("user", at)) {
			const entry = log.peek(at);
			if (isUserMessageEntry(entry)) targets.push({ entryIndex: at, text: messageText(entry.message) });
		}
		return targets.reverse();
	}

	/**
	 * Goes on in a new session that holds the entries before a user message.
	 * @returns the text of that message, for the editor; null when a hook cancelled it
	 * @throws PiError `bad_arguments` when the entry is no user message
	 */
	async branch(entryIndex: number): Promise<string | null> {
		const { parts, state } = this.deps;
		const entry = state.log.entry(entryIndex);
		if (!isUserMessageEntry(entry)) {
			throw new PiError("bad_arguments", `Entry ${entryIndex} is not a message of the user`, { hint: "see /branch" });
		}
		const answer = await this.#ask("before_branch", entryIndex);
		if (answer.cancel) return null;
		await this.deps.stop();
		await state.log.flush();
		const until = answer.skipConversationRestore ? "all" : entryIndex;
		await this.#replace(state.log.branchTo(until, { dir: parts.sessionDir ?? "" }), "branch", entryIndex);
		return messageText(entry.message);
	}

	/** Names the session. */
	setName(name: string): void {
		this.deps.state.append({ type: "session_info", timestamp: entryTimestamp(), name });
	}

	/** Tells the hooks of a start or an end. */
	async tellHooks(reason: "start" | "shutdown"): Promise<void> {
		await this.#emit(() => this.#event(reason, null));
	}

	async #replace(log: SessionLog, reason: "switch" | "clear" | "branch", targetTurnIndex = 0): Promise<void> {
		const { state, context, parts, emit } = this.deps;
		const previous = state.log;
		await previous.flush();
		log.onWriteError = this.#onWriteError;
		state.replaceLog(log);
		// Of a closed file nothing more can be read.
		const { id } = previous;
		previous.close();
		parts.client.release(id);
		context.reset();
		if (reason === "switch") state.restore(parts.models.find, { model: false, thinkingLevel: false });
		this.#missing = null;
		if (reason === "switch") {
			this.#comparePlace();
			await this.#findMissing();
		}
		await context.rebuild(this.deps.ended);
		emit({ type: "session_changed", reason });
		await this.#emit(() =>
			reason === "branch"
				? this.#event("switch", previous.path, { reason, targetTurnIndex })
				: this.#event(reason, previous.path),
		);
	}

	/** What a session says of files holds for the directory where it was said. */
	#comparePlace(): void {
		const { parts, state, warn } = this.deps;
		const began = state.log.header.cwd;
		if (began !== parts.cwd) warn(`This session began in ${began} · tools and paths go by ${parts.cwd} now`);
	}

	async #findMissing(): Promise<void> {
		const { state, knowsType, tryContext, ended, warn } = this.deps;
		this.#missing = await findMissingHooks({
			log: state.log,
			knowsType,
			tryContext: (entries) => tryContext(entries, ended),
		});
		if (this.#missing) warn(describeMissingHooks(this.#missing));
	}

	async #ask(reason: "before_switch" | "before_clear" | "before_branch", targetTurnIndex = 0) {
		return this.#emit(() =>
			reason === "before_branch"
				? this.#event("before_switch", null, { reason, targetTurnIndex })
				: this.#event(reason, null),
		);
	}

	/** Makes the event only when there is a handler: it holds every entry of the log. */
	async #emit(event: () => HookSessionEvent): Promise<SessionAnswer> {
		const hooks = this.deps.hooks();
		if (!hooks.registry.has("session")) return {};
		const told = event();
		const wait = new AbortController();
		if (SESSION_REASONS[told.reason].abortable) this.#waits.add(wait);
		try {
			const verdict = await hooks.emitSession(told, wait.signal);
			// Nobody has answered what an abort left open: then nothing changes.
			return wait.signal.aborted ? { cancel: true } : verdict;
		} finally {
			this.#waits.delete(wait);
		}
	}

	/** Entries are read when a handler asks for them. */
	#event(
		reason: PlainReason,
		previousSessionFile: string | null,
		branch?: { reason: "before_branch" | "branch"; targetTurnIndex: number },
	): HookSessionEvent {
		const { log } = this.deps.state;
		const { length } = log;
		return {
			type: "session",
			sessionFile: log.path,
			previousSessionFile,
			get entries() {
				return entriesUpTo(log, length);
			},
			...(branch ?? { reason }),
		};
	}
}
