import { isDeepStrictEqual } from "node:util";
import type { Api, Model } from "@mariozechner/pi-ai";
import type { SettingsStore } from "../config/settings-store.js";
import {
	type ContextRecord,
	entryTimestamp,
	type FileChange,
	type LoggedMessage,
	type MessageEntry,
	type SessionEntry,
	type ThinkingLevel,
} from "../log/entry.js";
import { lastMachine, lastModel, lastThinkingLevel, type RecordedMachine } from "../log/last-choices.js";
import type { SessionLog } from "../log/session-log.js";
import { describeAssumed, describeLimits } from "../models/model-facts.js";
import { describeNearest } from "../models/thinking-levels.js";
import type { SessionDefaults, SessionModels } from "../services/service-types.js";
import type { AgentSessionEvent } from "./events.js";

/** What an entry tells about how a message came about, apart from the message. */
type TypedFacts = Pick<MessageEntry, "typed" | "changedBy" | "pasted" | "mode">;

/** Where the model that a log names is looked up. */
type UsedModels = Pick<SessionModels, "findUsed">;

/** Owns the log, the model and the thinking level of the running session, and writes every entry. */
export class SessionState {
	#log: SessionLog;
	/** Of the session from which the log was forked; null for others. */
	#parentKey: string | null;
	#model: Model<Api> | null;
	#thinkingLevel: ThinkingLevel;
	/** True if the user, a program or a hook chose the level. */
	#isLevelChosen: boolean;
	#generation = 0;
	readonly #unsubscribe: () => void;
	/** What the user typed, of messages that hooks changed. */
	readonly #typed = new WeakMap<LoggedMessage, TypedFacts>();
	/** Changes before the first message. They are written with it, so that an unused session leaves no file. */
	readonly #unwritten = new Set<"model" | "thinkingLevel" | "host">();
	/** What the user knows about models already. */
	readonly #announced = new Set<string>();
	/** The machine on which tools work. */
	#host: RecordedMachine = { on: null, name: "" };

	constructor(
		log: SessionLog,
		private readonly defaults: SessionDefaults,
		private readonly emit: (event: AgentSessionEvent) => void,
		settings: Pick<SettingsStore, "current" | "subscribe">,
		parentKey: string | null = null,
	) {
		this.#log = log;
		this.#parentKey = parentKey;
		this.#model = defaults.model;
		this.#thinkingLevel = defaults.thinkingLevel;
		this.#isLevelChosen = defaults.chosen?.thinkingLevel === true;
		this.#unsubscribe = settings.subscribe(({ paths, problems }) => {
			if (paths.includes("defaultThinkingLevel")) this.setThinkingLevel(settings.current.defaultThinkingLevel);
			for (const message of problems) emit({ type: "notice", level: "warning", message });
		});
	}

	/** Closes the log and stops listening to the settings. */
	close(): void {
		this.#unsubscribe();
		this.#log.close();
	}

	get log(): SessionLog {
		return this.#log;
	}

	/** Names the requests of this session to the caches of providers. A fork shares the key of its parent. */
	get cacheKey(): string {
		return this.#parentKey ?? this.#log.id;
	}

	get model(): Model<Api> | null {
		return this.#model;
	}

	get thinkingLevel(): ThinkingLevel {
		return this.#thinkingLevel;
	}

	/** Incremented when the log is replaced; values that belong to an earlier generation are stale. */
	get generation(): number {
		return this.#generation;
	}

	/** Switches to another log, whose tools work on a machine; `isCopy` as for `useMachine`. The caller closes the old one. */
	replaceLog(log: SessionLog, host: RecordedMachine, isCopy: boolean): void {
		this.#log = log;
		this.#parentKey = null;
		this.#generation++;
		this.#unwritten.clear();
		this.useMachine(host, isCopy);
	}

	/**
	 * Restores model and thinking level from the log, unless the user chose others.
	 * @returns the model of the log if it does not exist anymore, or if the session was imported and it has no key: the program that
	 * wrote the session had its own. The current one is used instead
	 */
	restore(models: UsedModels, chosen = this.defaults.chosen): { provider: string; id: string } | null {
		const used = chosen?.model ? null : lastModel(this.#log);
		const needsKey = this.#log.header.importedFrom !== undefined && this.#model !== null;
		const model = used ? models.findUsed(used.provider, used.id, needsKey) : null;
		if (model) this.#model = model;
		const level = chosen?.thinkingLevel ? null : lastThinkingLevel(this.#log);
		if (level) this.#thinkingLevel = level;
		return model ? null : used;
	}

	/** Starts with these defaults, chosen again once hooks have added models. @returns as `restore` */
	useDefaults(defaults: SessionDefaults, models: UsedModels): { provider: string; id: string } | null {
		this.#model = defaults.model;
		this.#thinkingLevel = defaults.thinkingLevel;
		this.#isLevelChosen = defaults.chosen?.thinkingLevel === true;
		return this.restore(models, defaults.chosen);
	}

	/**
	 * Records the machine on which tools work with the next message, unless the log names it already.
	 * @param isCopy true if the log has the entries of another one. It records the machine at once: it is the user's own, and
	 * would otherwise choose the machine that a session of others names
	 */
	useMachine(host: RecordedMachine, isCopy: boolean): void {
		this.#host = host;
		const isNamed = (lastMachine(this.#log)?.on ?? null) === host.on;
		if (isNamed) this.#unwritten.delete("host");
		else this.#unwritten.add("host");
		if (isCopy && !isNamed) this.#writeChanges();
	}

	/** @param level chosen together with the model */
	setModel(model: Model<Api>, level?: ThinkingLevel): void {
		const isSame = this.#model?.id === model.id && this.#model.provider === model.provider;
		if (!isSame) {
			this.#model = model;
			this.#change("model");
			this.emit({ type: "model_changed" });
			this.#announceFacts();
		}
		if (level !== undefined) this.setThinkingLevel(level);
		else if (!isSame) this.#announceLevel();
	}

	/** Lines that the user must read before relying on the model and its level. The origin of its facts is named once. */
	modelRemarks(): string[] {
		const level = this.#describeLevel();
		return [...this.#factRemarks(), ...(level === null ? [] : [level])];
	}

	/** Reports a line to the user, once in the session. */
	announceOnce(line: string): void {
		if (this.#announced.has(line)) return;
		this.#announced.add(line);
		this.emit({ type: "notice", level: "warning", message: line });
	}

	/** Uses the model as it is defined now. Writes no entry: it is the same model. */
	refreshModel(findModel: (provider: string, id: string) => Model<Api> | null): void {
		const model = this.#model && findModel(this.#model.provider, this.#model.id);
		if (!model || model === this.#model || isDeepStrictEqual(model, this.#model)) return;
		const before = describeLimits(this.#model);
		this.#model = model;
		this.emit({ type: "model_changed" });
		if (before === null) this.#announceFacts();
	}

	/** Chooses a level. A notice names the one that is used instead if the model does not have it. */
	setThinkingLevel(level: ThinkingLevel): void {
		this.#isLevelChosen = true;
		if (this.#thinkingLevel !== level) {
			this.#thinkingLevel = level;
			this.#change("thinkingLevel");
			this.emit({ type: "thinking_level_changed" });
		}
		this.#announceLevel();
	}

	/** That the model does not have the chosen level; null if it has, and for a level that nobody chose. */
	#describeLevel(): string | null {
		return this.#isLevelChosen ? describeNearest(this.#model, this.#thinkingLevel) : null;
	}

	/** Remembers how a prompt came about, for the entry of a message that is written later. */
	noteTyped(message: LoggedMessage, typed: TypedFacts): void {
		this.#typed.set(message, typed);
	}

	/** Writes a message. @param files what a tool call changed @returns its entry index */
	record(message: LoggedMessage, context?: ContextRecord, files: readonly FileChange[] = []): number {
		this.#writeChanges();
		return this.#log.append({
			type: "message",
			timestamp: entryTimestamp(),
			message,
			...(context ? { context } : {}),
			...(files.length > 0 ? { files } : {}),
			...this.#typed.get(message),
		});
	}

	/** Writes the part of a reply that broke off before its retry. @returns its entry index */
	recordRetried(message: LoggedMessage): number {
		this.#writeChanges();
		return this.#log.append({ type: "message", timestamp: entryTimestamp(), message, retried: true });
	}

	/** Writes an entry that is not a message and emits `entry_appended`. @returns its index */
	append(entry: SessionEntry): number {
		return this.appendAll([entry])[0] ?? -1;
	}

	/** True until the first message: what nobody has used leaves no file. */
	get isUnused(): boolean {
		return this.#log.findLast("message") < 0;
	}

	/** Writes several entries at once and emits `entry_appended` for each. @returns their indices @param isQueued as for the log */
	appendAll(entries: readonly SessionEntry[], isQueued = false): number[] {
		const indices = this.#log.appendAll(entries, isQueued);
		for (const entryIndex of indices) {
			const entry = this.#log.entry(entryIndex);
			if (entry) this.emit({ type: "entry_appended", entryIndex, entry });
		}
		return indices;
	}

	#factRemarks(): string[] {
		const assumed = describeAssumed(this.#model);
		const isNew = assumed !== null && !this.#announced.has(assumed);
		if (isNew) this.#announced.add(assumed);
		return [describeLimits(this.#model), isNew ? assumed : null].filter((line) => line !== null);
	}

	#announceFacts(): void {
		for (const message of this.#factRemarks()) this.emit({ type: "notice", level: "warning", message });
	}

	#announceLevel(): void {
		const message = this.#describeLevel();
		if (message !== null) this.emit({ type: "notice", level: "warning", message });
	}

	#change(field: "model" | "thinkingLevel"): void {
		this.#unwritten.add(field);
		if (!this.isUnused) this.#writeChanges();
	}

	#writeChanges(): void {
		if (this.#unwritten.size === 0 || this.#log.isReadOnly) return;
		const timestamp = entryTimestamp();
		const entries: SessionEntry[] = [];
		if (this.#unwritten.has("model") && this.#model) {
			entries.push({ type: "model_change", timestamp, provider: this.#model.provider, modelId: this.#model.id });
		}
		if (this.#unwritten.has("thinkingLevel")) {
			entries.push({ type: "thinking_level_change", timestamp, thinkingLevel: this.#thinkingLevel });
		}
		if (this.#unwritten.has("host")) entries.push({ type: "tool_host", timestamp, ...this.#host });
		this.#unwritten.clear();
		this.appendAll(entries);
	}
}
