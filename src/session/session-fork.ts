import type { Api, Model } from "@mariozechner/pi-ai";
import { type CorePreamble, withoutTools, withTools } from "../context/preamble.js";
import { coreAt } from "../context/recorded-preamble.js";
import { PiError } from "../errors.js";
import { isMessageEntry, isOutputSchemaEntry, type ThinkingLevel } from "../log/entry.js";
import { lastThinkingLevel } from "../log/last-choices.js";
import type { SessionLog } from "../log/session-log.js";
import { callsTools } from "../models/model-facts.js";
import { sectionsForTools } from "../resources/system-prompt.js";
import type { CreateAgentSessionOptions } from "../services/create-options.js";
import type { Code, Models } from "../services/service-types.js";
import { sourceOf } from "./log-view.js";
import type { SessionState } from "./session-state.js";

/** Options that change the system prompt or the tools: with one of them, a fork computes both again. */
const OWN_PREAMBLE = [
	...(["cwd", "host", "on", "tools", "customTools", "extraTools", "mcpFiles", "mcpServers"] as const),
	...(["contextFiles", "skills", "discoverSkills", "systemPrompt", "appendSystemPrompt"] as const),
] as const satisfies readonly (keyof CreateAgentSessionOptions)[];

/** The session from which a fork begins. */
export interface ForkSource {
	state: SessionState;
	models: Pick<Models, "list" | "defaults">;
	/** Paths of its hooks. */
	hooks: readonly string[];
}

/**
 * The entries with which a forked sub-session begins, and what its requests must have in common with those of its parent, so
 * that the provider finds them in its cache: model, thinking level, system prompt, tools and cache key.
 */
export class SessionFork {
	/** The key under which the provider keeps the requests of the parent. */
	readonly cacheKey: string;
	/** What the last request before the fork was sent with; `model` is null if the parent has none. */
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	readonly #source: SessionLog;
	readonly #from: number;
	readonly #hooks: ReadonlySet<string>;
	readonly #isRecorded: boolean;
	#log: SessionLog | null = null;
	/** The preamble of the last request of the copied entries; null if they do not record it. */
	#recorded: CorePreamble | null = null;
	#last: { computed: CorePreamble; preamble: CorePreamble } | null = null;

	/**
	 * @param from number of entries
	 * @throws PiError `bad_arguments` for another number, and for a session that cannot begin with entries of the parent
	 */
	constructor({ state, models, hooks }: ForkSource, from: number, own: CreateAgentSessionOptions) {
		const { log } = state;
		if (!Number.isSafeInteger(from) || from < 1 || from > log.length)
			throw new PiError("bad_arguments", `from must be a number of entries from 1 to ${log.length}`, {
				hint: "ctx.entries.length takes all entries of the parent",
			});
		const kind = own.session?.kind ?? "memory";
		if (kind !== "memory" && (kind !== "new" || log.path === null))
			throw new PiError("bad_arguments", `session.kind must be ${log.path === null ? "" : "new or "}memory with from`, {
				hint: "a fork is a new session, and one of a session in memory is in memory too",
			});
		this.#source = log;
		this.#from = from;
		this.#hooks = new Set(hooks);
		this.#isRecorded = OWN_PREAMBLE.every((name) => own[name] === undefined);
		this.cacheKey = state.cacheKey;
		const reply = log.findLastMessage("assistant", from);
		this.model = modelOfReply(log, reply, { state, models });
		// The level with which a session begins is not recorded.
		const isChanged = log.findLast("thinking_level_change") > reply;
		this.thinkingLevel =
			reply < 0 || !isChanged ? state.thinkingLevel : (lastThinkingLevel(log, reply) ?? models.defaults.thinkingLevel);
	}

	/** Copies the entries. @param dir for the file; null: into memory @throws PiError `log_write_failed` */
	openLog(dir: string | null): SessionLog {
		this.#log = this.#source.branchTo(this.#from, { dir });
		const recorded = this.#isRecorded ? coreAt(sourceOf(this.#log, this.#from), this.#from, sectionsForTools) : null;
		const asked = this.#log.entry(this.#log.findLast("output_schema"));
		// The tool for an answer of the parent: no prompt of the fork asks for it.
		const tool = isOutputSchemaEntry(asked) ? asked.tool : undefined;
		this.#recorded = recorded && tool !== undefined ? withoutTools(recorded, new Set([tool])) : recorded;
		return this.#log;
	}

	/**
	 * System prompt and tools before hooks: those of the parent's last request, without the tools that are off here, and with
	 * those of hooks that the parent does not have. In another log, and if the entries do not record them, the computed ones.
	 * @param computed those of today's files and tools
	 */
	preamble(computed: CorePreamble, { log, model }: Pick<SessionState, "log" | "model">, { toolSwitch }: Code) {
		const recorded = this.#recorded;
		if (recorded === null || log !== this.#log || (model !== null && !callsTools(model))) return computed;
		if (this.#last?.computed === computed) return this.#last.preamble;
		const off = toolSwitch.list().flatMap(({ name, isOn }) => (isOn ? [] : [name]));
		const added = computed.tools.filter(({ hook }) => hook !== undefined && !this.#hooks.has(hook));
		const preamble = withTools(withoutTools(recorded, new Set(off)), added);
		this.#last = { computed, preamble };
		return preamble;
	}
}

function modelOfReply(log: SessionLog, reply: number, { state, models }: Omit<ForkSource, "hooks">): Model<Api> | null {
	const entry = log.entry(reply);
	if (!isMessageEntry(entry) || entry.message.role !== "assistant") return state.model;
	const { provider, model: id } = entry.message;
	if (state.model?.provider === provider && state.model.id === id) return state.model;
	return models.list.find(provider, id) ?? state.model;
}
