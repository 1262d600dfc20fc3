import { dirname } from "node:path";
import type { BranchTarget } from "../commands/command.js";
import type { OpenAs } from "../commands/open-locked.js";
import { PiError } from "../errors.js";
import type { HookRunner, SessionAnswer } from "../hooks/runner.js";
import type { SessionEvent as HookSessionEvent } from "../hooks/types.js";
import { entryTimestamp, isOpaqueEntry, isUserMessageEntry } from "../log/entry.js";
import { lastModel, type RecordedMachine } from "../log/last-choices.js";
import { copySession, removeSession } from "../log/manage-sessions.js";
import { promptText } from "../log/prompt-text.js";
import type { LogWatcher } from "../log/session-file.js";
import { SessionLog } from "../log/session-log.js";
import type { PreparedMachine } from "../services/machine/session-machine.js";
import { isSameFile } from "../util/fs.js";
import type { Operation } from "./activity.js";
import { describeMissingHooks, findMissingHooks, type MissingHooks } from "./hooks/missing-hooks.js";
import { entriesUpTo } from "./log-view.js";
import type { SessionCore } from "./session-core.js";

export interface LifecycleDeps extends SessionCore {
	/** Called before the session leaves a log, when nothing is running. @returns a line for the user, or null */
	onLeave(): string | null;
	/**
	 * Connects to the machine on which the session of a log is to work.
	 * @param source the file with its entries: of a copy, the original
	 * @throws PiError `host_unreachable`
	 */
	prepareMachine(log: SessionLog, source: string, signal: AbortSignal): Promise<PreparedMachine>;
	/** Reads the files of the user and the project again. @returns a line for each new problem */
	reread(): Promise<string[]>;
	/** True for entry types that a loaded hook declares or writes. */
	knowsType(type: string): boolean;
	/** The name of the bundled hook that owns entries of a type and is off; undefined if none is. */
	turnedOffHook(type: string): string | undefined;
	warn(line: string): void;
	/** Warns about the current log. */
	warnOfLog(line: string): void;
}

type ChangeReason = "before_switch" | "switch" | "before_clear" | "clear";

/** The fields of a session event that depend on its reason. */
type Occasion =
	| { reason: ChangeReason }
	| { reason: "start" | "shutdown"; isReload: boolean }
	| { reason: "before_branch" | "branch"; targetTurnIndex: number };

/** Starts, replaces, branches and shuts down the session; notifies the hooks and asks them before a replacement. */
export class Lifecycle {
	#watcher: LogWatcher | null = null;
	#missing: MissingHooks | null = null;
	#canceledBy: string | null = null;

	constructor(private readonly deps: LifecycleDeps) {}

	/** Sets the listener for the writes of this log and of its successors. */
	watchLog(watcher: LogWatcher): void {
		this.#watcher = watcher;
		Object.assign(this.deps.state.log, watcher);
	}

	/** Name of the hook that canceled the last change of the session; null if none did, as after an abort. */
	get canceledBy(): string | null {
		return this.#canceledBy;
	}

	/** Entries whose hook was not loaded when the session was opened; null when there were none. */
	get missingHooks(): MissingHooks | null {
		return this.#missing;
	}

	/**
	 * Replaces everything before the last reply with the context of its request.
	 * @throws PiError `command_failed` when the log does not record that context
	 */
	async freezeContext(): Promise<void> {
		const difference = this.#missing?.difference;
		if (!difference?.canFreeze) {
			throw new PiError("command_failed", "Cannot freeze the last context: the session does not record it");
		}
		this.deps.state.append({
			type: "context_freeze",
			timestamp: entryTimestamp(),
			entryIndex: difference.reply,
		});
		this.#missing = null;
		await this.deps.context.rebuild(this.deps.ended);
	}

	/** Loads the hooks, computes the first context and notifies the hooks of the start. */
	start(load: () => Promise<void>): Promise<void> {
		return this.#switching("start", async (signal) => {
			await load();
			this.#warnAboutState();
			await this.#findMissing();
			await this.deps.context.rebuild(signal);
			await this.#emit(() => this.#event({ reason: "start", isReload: false }), signal);
			this.deps.emit({ type: "session_changed", reason: "start" });
		});
	}

	/** Emits a session event of the current session to some hooks only. */
	async notify(runner: HookRunner, reason: "start" | "shutdown"): Promise<void> {
		await runner.emitSession(this.#event({ reason, isReload: false }), this.deps.ended);
	}

	/** Reloads the hooks; then computes the context again. */
	reload<T>(load: (unload: () => Promise<void>) => Promise<T>): Promise<T> {
		return this.#switching("reload", async (signal) => {
			const loaded = await this.replaceHooks(load, signal);
			await this.deps.context.rebuild(signal);
			return loaded;
		});
	}

	/** Loads the hooks again: the old ones receive `shutdown`, the new ones `start`. */
	async replaceHooks<T>(load: (unload: () => Promise<void>) => Promise<T>, signal = this.deps.ended): Promise<T> {
		const loaded = await load(() => this.shutDown({ isReload: true }));
		await this.#emit(() => this.#event({ reason: "start", isReload: true }), signal);
		return loaded;
	}

	/** Begins a new, empty session. @returns false when a hook canceled it @throws PiError `session_busy` */
	newSession(): Promise<boolean> {
		return this.#switching("clear", async (signal) => {
			if ((await this.#ask("before_clear", signal)).cancel) return false;
			const { cwd, sessionDir } = this.deps.store;
			await this.deps.activity.stop();
			const log = sessionDir === null ? SessionLog.inMemory(cwd) : SessionLog.create({ dir: sessionDir, cwd });
			await this.#replace(log, "clear", signal);
			return true;
		});
	}

	/**
	 * Opens another session, or a copy of it, or reads it. Changes nothing if the session is open for writing already.
	 * @returns false when a hook canceled it
	 * @throws PiError when the file cannot be used; `log_locked` when another pi has it open and `as` is `original`;
	 * `session_busy`
	 */
	switchSession(path: string, as: OpenAs = "original"): Promise<boolean> {
		return this.#switching("switch", async (signal) => {
			const { log: current } = this.deps.state;
			const isOpen = current.path !== null && !current.isReadOnly && isSameFile(path, current.path);
			if (isOpen && as !== "copy") return true;
			const { cwd, sessionDir } = this.deps.store;
			const log =
				as === "copy"
					? copySession(path, sessionDir ?? dirname(path))
					: SessionLog.open(path, { cwd, readOnly: as === "readOnly" });
			const discard = () => {
				log.close();
				if (as === "copy" && log.path !== null) removeSession(log.path);
			};
			let host: PreparedMachine;
			try {
				host = await this.deps.prepareMachine(log, path, signal);
			} catch (error) {
				discard();
				throw error;
			}
			if ((await this.#ask("before_switch", signal)).cancel) {
				discard();
				await host.cancel();
				return false;
			}
			await this.deps.activity.stop();
			await this.#replace(log, "switch", signal, { host, isCopy: as === "copy" });
			return true;
		});
	}

	/** User messages, oldest first. */
	branchTargets(): BranchTarget[] {
		const { log } = this.deps.state;
		const targets: BranchTarget[] = [];
		for (let at = log.findLastMessage("user"); at >= 0; at = log.findLastMessage("user", at)) {
			const entry = log.peek(at);
			if (isUserMessageEntry(entry)) targets.push({ entryIndex: at, text: promptText(entry) });
		}
		return targets.reverse();
	}

	/**
	 * Continues in a new session with the entries before a user message.
	 * @returns what the user typed for that message, for the editor; null when a hook canceled it
	 * @throws PiError `bad_arguments` when the entry is not a user message
	 */
	async branch(entryIndex: number): Promise<string | null> {
		const { store, state, activity } = this.deps;
		const entry = state.log.entry(entryIndex);
		if (!isUserMessageEntry(entry)) {
			throw new PiError("bad_arguments", `Entry ${entryIndex} is not a user message`, {
				hint: "pass the index of a user message",
			});
		}
		return this.#switching("branch", async (signal) => {
			const answer = await this.#ask("before_branch", signal, entryIndex);
			if (answer.cancel) return null;
			await activity.stop();
			await state.log.flush();
			const until = answer.skipConversationRestore ? "all" : entryIndex;
			await this.#replace(state.log.branchTo(until, { dir: store.sessionDir }), "branch", signal, {
				turnIndex: entryIndex,
				isCopy: true,
			});
			return promptText(entry);
		});
	}

	/** Sends `shutdown` to the hooks. An abort does not shorten this. */
	async shutDown({ isReload = false } = {}): Promise<void> {
		await this.#emit(() => this.#event({ reason: "shutdown", isReload }), null);
	}

	async #switching<T>(reason: string, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const { activity, ended } = this.deps;
		const operation: Operation = activity.begin("switching", { name: reason, signals: [ended] });
		try {
			return await action(operation.signal);
		} finally {
			operation.end();
		}
	}

	async #replace(
		log: SessionLog,
		reason: "switch" | "clear" | "branch",
		signal: AbortSignal,
		{
			turnIndex: targetTurnIndex = 0,
			host,
			isCopy = false,
		}: { turnIndex?: number; host?: PreparedMachine; isCopy?: boolean } = {},
	): Promise<void> {
		const { state, context, models, machine, emit } = this.deps;
		const previous = state.log;
		const left = this.deps.onLeave();
		await previous.flush();
		Object.assign(log, this.#watcher);
		const { recorded: before } = machine;
		const recorded = host ? await host.use() : before;
		state.replaceLog(log, recorded, isCopy);
		// Read the id first: a closed log cannot be read.
		const { id } = previous;
		previous.close();
		models.client.release(id);
		context.reset();
		const problems = reason === "branch" ? [] : await this.deps.reread();
		if (reason === "switch") await this.#restoreModel();
		this.#missing = null;
		if (reason === "switch") {
			this.#warnAboutState();
			await this.#findMissing();
		}
		await context.rebuild(signal);
		emit({ type: "session_changed", reason });
		if (left !== null) emit({ type: "notice", level: "info", message: models.redact(left) });
		if (recorded.on !== before.on) {
			const message = `Tools and commands now work on ${placeOf(recorded)}, no longer on ${placeOf(before)}`;
			emit({ type: "notice", level: "warning", message: models.redact(message) });
		}
		for (const message of problems) emit({ type: "notice", level: "warning", message: models.redact(message) });
		const event = () =>
			reason === "branch"
				? this.#event({ reason, targetTurnIndex }, previous.path)
				: this.#event({ reason }, previous.path);
		await this.#emit(event, signal);
	}

	async #restoreModel(): Promise<void> {
		const { state, models, warn, warnOfLog } = this.deps;
		const used = lastModel(state.log);
		if (used) await models.list.searchServer(used);
		const gone = state.restore(models.list, { model: false, thinkingLevel: false });
		if (gone) warnOfLog(models.list.describeReplaced(gone, state.model));
		for (const line of state.modelRemarks()) warn(line);
	}

	/** Warns if the log began in another directory, or if its last prompt has no reply. */
	#warnAboutState(): void {
		const { store, state, warnOfLog } = this.deps;
		const { log } = state;
		const began = log.header.cwd;
		if (began !== store.cwd) {
			warnOfLog(`This session began in ${began} · tools and relative paths now use ${store.cwd}`);
		}
		const isDamaged = isOpaqueEntry(log.entry(log.length - 1) ?? log.header);
		if (!isDamaged && log.findLastMessage("user") > log.findLastMessage(["assistant", "toolResult"])) {
			warnOfLog("The last prompt has no reply");
		}
	}

	async #findMissing(): Promise<void> {
		const { state, context, knowsType, turnedOffHook, tryContext, ended, warnOfLog } = this.deps;
		this.#missing = await findMissingHooks({
			log: state.log,
			knowsType,
			turnedOffHook,
			tryContext: (entries, past) => tryContext(entries, ended, past),
			context,
		});
		if (this.#missing) warnOfLog(describeMissingHooks(this.#missing));
	}

	/** Asks the hooks whether the session may be replaced. An abort counts as a cancel. */
	async #ask(
		reason: "before_switch" | "before_clear" | "before_branch",
		signal: AbortSignal,
		targetTurnIndex = 0,
	): Promise<SessionAnswer> {
		const event = () =>
			reason === "before_branch" ? this.#event({ reason, targetTurnIndex }) : this.#event({ reason });
		const answer = await this.#emit(event, signal);
		this.#canceledBy = signal.aborted ? null : (answer.canceledBy ?? null);
		return signal.aborted ? { cancel: true } : answer;
	}

	/**
	 * Emits a session event. Creates it only if a hook handles it, because it holds every entry of the log.
	 * @param signal stops waiting for handlers; null: nothing does
	 */
	async #emit(event: () => HookSessionEvent, signal: AbortSignal | null): Promise<SessionAnswer> {
		const hooks = this.deps.hooks();
		if (!hooks.registry.has("session")) return {};
		return hooks.emitSession(event(), signal ?? new AbortController().signal);
	}

	/** Creates a session event that reads the entries on demand. */
	#event(occasion: Occasion, previousSessionFile: string | null = null): HookSessionEvent {
		const { log } = this.deps.state;
		const { length } = log;
		return {
			type: "session",
			sessionFile: log.path,
			previousSessionFile,
			get entries() {
				return entriesUpTo(log, length);
			},
			...occasion,
		};
	}
}

function placeOf({ on, name }: RecordedMachine): string {
	return on === null ? "this machine" : name;
}
