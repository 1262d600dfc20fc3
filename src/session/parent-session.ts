import { SETTING_ROWS, type SettingsFile } from "../config/settings-schema.js";
import { SettingsStore } from "../config/settings-store.js";
import { PiError } from "../errors.js";
import type { SessionHandle } from "../hooks/types.js";
import { subSessionsDir } from "../log/session-paths.js";
import type { AcceptedPackages } from "../services/code/package-code.js";
import type { CreateAgentSessionOptions } from "../services/create-options.js";
import type {
	Code,
	KeyOverride,
	Machine,
	ModelClient,
	Models,
	SessionParent,
	Store,
} from "../services/service-types.js";
import type { AcceptedCode } from "../trust/gate.js";
import { isRecord } from "../util/is-record.js";
import { meterRequests } from "./run/meter-requests.js";
import { SessionFork } from "./session-fork.js";
import type { SessionState } from "./session-state.js";

export interface ParentSessionOptions {
	/** The options with which the session was created. */
	options: CreateAgentSessionOptions;
	store: Store;
	models: Models;
	code: Code;
	machine: Machine;
	state: SessionState;
	budget: SessionParent["budget"];
	/** The hooks that are loaded. */
	hooks: { readonly loaded: readonly { readonly path: string }[] };
}

/** What sub-sessions share with the session that starts them. */
export class ParentSession implements SessionHandle, SessionParent {
	readonly budget: SessionParent["budget"];

	readonly #ofHooks = new Map<string, ParentSession>();

	/** @param purpose of the requests of sub-sessions: see `RequestUsageEntry` */
	constructor(
		private readonly parts: ParentSessionOptions,
		private readonly purpose = "agent",
	) {
		this.budget = parts.budget;
	}

	/** This session, with sub-sessions that count under the name of a hook; the same object for the same name. */
	forHook(name: string): ParentSession {
		const known = this.#ofHooks.get(name) ?? new ParentSession(this.parts, `hook ${name}`);
		this.#ofHooks.set(name, known);
		return known;
	}

	get id(): string {
		return this.parts.state.log.id;
	}

	get acceptedCode(): AcceptedCode | null {
		return this.parts.code.acceptedCode();
	}

	get acceptedPackages(): AcceptedPackages | null {
		return this.parts.code.acceptedPackages();
	}

	get keyOverride(): KeyOverride | null {
		return this.parts.models.keyOverride;
	}

	/** The directory of the sub-sessions; null if this session is in memory only. */
	get sessionsDir(): string | null {
		const { path } = this.parts.state.log;
		return path === null ? null : subSessionsDir(path);
	}

	/**
	 * What a sub-session that is a fork of this session begins with; null for any other.
	 * @throws PiError `bad_arguments` for malformed options
	 */
	fork(own: CreateAgentSessionOptions): SessionFork | null {
		const { hooks, ...source } = this.parts;
		if (own.from === undefined) return null;
		return new SessionFork({ ...source, hooks: hooks.loaded.map(({ path }) => path) }, own.from, own);
	}

	/** The options of a sub-session, with those of this session where it has none of its own. */
	inherit(own: CreateAgentSessionOptions, fork: SessionFork | null): CreateAgentSessionOptions {
		const { options, store, machine } = this.parts;
		const { env, home, agentDir, client, localServers, readFlags, verbose, watch } = options;
		const { discoverHooks, bundledHooks, packages, contextFiles, discoverSkills } = options;
		const { extraModels, extraTools, customTools, hooks, skills } = options;
		return {
			...{ env, home, agentDir, client, localServers, readFlags, verbose, watch },
			...{ discoverHooks, bundledHooks, packages, contextFiles, discoverSkills },
			...{ extraModels, extraTools, customTools, skills },
			cwd: store.cwd,
			host: machine.host,
			on: machine.recorded.on ?? "local",
			session: this.sessionsDir === null ? { kind: "memory" } : { kind: "new" },
			...(this.sessionsDir === null ? {} : { sessionDir: this.sessionsDir }),
			...(fork && this.#inheritAll(own, fork)),
			...own,
			hooks: [...(hooks ?? []), ...(own.hooks ?? [])],
			settings: own.settings instanceof SettingsStore ? own.settings : merge(store.settings, own.settings),
		};
	}

	/** What a fork has in addition: the model, and all that decides which tools there are and what the prompt says. */
	#inheritAll(own: CreateAgentSessionOptions, { model, thinkingLevel }: SessionFork): CreateAgentSessionOptions {
		const { tools, mcp, mcpFiles, mcpServers, offline, extensions, systemPrompt, appendSystemPrompt } =
			this.parts.options;
		const isOtherModel = own.model !== undefined || own.provider !== undefined;
		return {
			...{ tools, mcp, mcpFiles, mcpServers, offline, extensions, systemPrompt, appendSystemPrompt },
			...(!isOtherModel && model !== null && { model, thinkingLevel }),
		};
	}

	meter(client: ModelClient): ModelClient {
		const { stream, write } = meterRequests(this.parts, this.purpose, client.stream);
		write();
		return { ...client, stream };
	}
}

/** The settings of this run and those of a sub-session. It reads the files itself. */
function merge(store: SettingsStore, own: SettingsFile = {}): SettingsFile {
	const settings: Record<string, unknown> = {};
	for (const { path } of SETTING_ROWS) {
		const { value, source } = store.state(path);
		const [group = "", member] = path.split(".");
		if (source !== "run") continue;
		settings[group] = member === undefined ? value : { ...Object(settings[group]), [member]: value };
	}
	for (const [name, value] of Object.entries(own)) {
		const inherited = settings[name];
		settings[name] = isRecord(value) && isRecord(inherited) ? { ...inherited, ...value } : value;
	}
	// The store checks it.
	return settings as SettingsFile;
}

/** @throws PiError `bad_arguments` for a value that is not the handle of a session */
export function parentOf({ parent, trust }: CreateAgentSessionOptions): ParentSession | null {
	if (parent === undefined) return null;
	if (!(parent instanceof ParentSession))
		throw new PiError("bad_arguments", "parent is not a session", { hint: "pass ctx.session of a hook" });
	if (trust === true)
		throw new PiError("bad_arguments", "trust: true cannot be used with parent", {
			hint: "omit it: a sub-session runs the same project code as its parent",
		});
	return parent;
}
