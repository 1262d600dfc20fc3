import { join, resolve } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { BUILTIN_COMMANDS } from "../commands/builtin/index.js";
import type { RequestPreamble } from "../commands/inspection.js";
import { loadModelSources } from "../config/model-sources.js";
import type { ModelRegistry } from "../config/models.js";
import { type Environment, paths as findPaths, type Paths, processEnvironment } from "../config/paths.js";
import type { Settings } from "../config/settings-schema.js";
import { SettingsStore } from "../config/settings-store.js";
import type { ProjectSet } from "../config/trust.js";
import { estimatePreamble } from "../context/tokens.js";
import { PiError } from "../errors.js";
import { tasksHook, tasksTool } from "../features/tasks.js";
import type { GrantAnswer, GrantRequest } from "../hooks/handles.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import { findSession, latestSession } from "../log/catalog.js";
import type { ThinkingLevel } from "../log/entry.js";
import { copySession } from "../log/manage.js";
import { SessionLog } from "../log/session-log.js";
import { sessionDirName } from "../log/session-paths.js";
import { loadContextFiles } from "../resources/context-files.js";
import { loadPromptTemplates } from "../resources/prompt-templates.js";
import { loadSkills } from "../resources/skills.js";
import { buildSystemPrompt } from "../resources/system-prompt.js";
import { bashTool } from "../tools/bash.js";
import { BUILTIN_TOOLS } from "../tools/index.js";
import type { AnyTool } from "../tools/tool.js";
import { ensurePrivateDir } from "../util/fs.js";
import { createAccounts } from "./accounts.js";
import { HookGrants } from "./hook-grants.js";
import { loadModelClient } from "./model-client.js";
import type { TrustAnswer } from "./project-code.js";
import { findSessionCode } from "./session-code.js";
import { createModelOffers, createSessionModels, registerLocalModels, resolveModel } from "./session-models.js";
import type { ModelClient, SessionSetup } from "./session-setup.js";

/** Which log a session uses. */
export type SessionChoice =
	| { kind: "new" }
	/** The latest session of this directory that no other process has open; a new one when none exists. */
	| { kind: "continue" }
	/** A path, an id or the start of one. With `copy` the session continues in a new file with all its entries. */
	| { kind: "open"; target: string; copy?: boolean }
	/** Writes nothing to disk. */
	| { kind: "memory" };

/** Options of a session. Omitted ones are discovered on this machine. */
export interface CreateAgentSessionOptions {
	cwd?: string;
	env?: Environment;
	home?: string;
	/** Shared with other code that shows or changes settings. */
	settings?: SettingsStore;
	session?: SessionChoice;
	sessionDir?: string;
	/** `provider/id`, an id or part of one, with an optional thinking level such as `:high`; or a model. */
	model?: string | Model<Api>;
	provider?: string;
	/** Patterns of the models that Ctrl+P cycles through. */
	models?: readonly string[];
	apiKey?: string;
	thinkingLevel?: ThinkingLevel;
	/** Names of built-in tools; default: all. */
	tools?: readonly string[];
	/** Tool files to load along with the discovered ones. */
	customTools?: readonly string[];
	/** Tools to add to the built-in ones. */
	extraTools?: readonly AnyTool[];
	/** Hook files to load along with the discovered ones. */
	hooks?: readonly string[];
	discoverHooks?: boolean;
	/** Load the bundled hooks that are on. Default: like `discoverHooks`. */
	bundledHooks?: boolean;
	contextFiles?: boolean;
	skills?: readonly string[];
	discoverSkills?: boolean;
	systemPrompt?: string;
	appendSystemPrompt?: string;
	/** Run the project's own code in this session without asking. */
	trust?: boolean;
	/** Asks whether the project's own code may run. Without it, only trusted code runs. */
	askTrust?(set: ProjectSet): Promise<TrustAnswer>;
	/** Asks whether a hook gets a handle it requires. Without it, hooks get only what the settings grant. */
	askGrant?(request: GrantRequest): Promise<GrantAnswer>;
	/** Watches running hook handlers. It ends the process when one hangs, which SDK users may not want. */
	watch?: HandlerWatch;
	offline?: boolean;
	client?: ModelClient;
	/** Models to add to those of pi-ai and models.json. */
	extraModels?: readonly Model<Api>[];
}

/**
 * Collects everything a session needs from this machine. Hooks and the project's tools are loaded later, once they may run.
 * @throws PiError when the log, the model or a options_ tool cannot be used
 */
export async function discoverSetup(options: CreateAgentSessionOptions): Promise<SessionSetup> {
	const paths = findPaths(options.env, options.cwd, options.home);
	const store = options.settings ?? new SettingsStore(paths);
	const settings = store.current;
	const warnings = [...store.problems];
	const env = options.env ?? processEnvironment();
	const [client, { registry, credentials }, resources] = await Promise.all([
		options.client ?? loadModelClient(),
		loadModelSources({ paths, env, settings, onWarning: (line) => warnings.push(line) }),
		loadResources(options, paths, settings.skills.enabled),
	]);
	warnings.push(...resources.warnings);
	registry.registerModels(options.extraModels ?? []);
	const offline = options.offline ?? false;
	const chosen = await chooseModel(options, registry, settings, warnings, offline);
	// Runs in the background: the first request waits for it and reports a failure.
	if (chosen.model) client.prepare(chosen.model).catch(() => {});
	if (options.apiKey !== undefined) {
		if (!chosen.model) throw new PiError("bad_arguments", "--api-key needs a model", { hint: "add --model" });
		credentials.overrideKey(chosen.model.provider, options.apiKey);
	}
	const bundledHooks = options.bundledHooks ?? options.discoverHooks !== false;
	const code = await findSessionCode({
		paths,
		get settings() {
			return store.current;
		},
		builtinTools: settings.features.tasks ? [...BUILTIN_TOOLS, tasksTool] : BUILTIN_TOOLS,
		extraTools: options.extraTools ?? [],
		toolNames: options.tools,
		explicit: { hooks: options.hooks ?? [], tools: options.customTools ?? [] },
		discoverHooks: options.discoverHooks !== false,
		bundledHooks,
		trustOnce: options.trust === true,
		ask: options.askTrust,
		watch: options.watch,
	});
	warnings.push(...code.warnings);
	const sessionDir =
		options.session?.kind === "memory"
			? null
			: resolve(options.sessionDir ?? join(paths.sessions, sessionDirName(paths.cwd)));
	ensurePrivateDir(paths.tmp);
	const date = new Date().toISOString().slice(0, 10);
	// Computed again when the tools change, for example when the project's tools are added.
	const preamble = lastResult((tools: readonly AnyTool[]) =>
		createPreamble(
			buildSystemPrompt({
				cwd: paths.cwd,
				date,
				tools,
				contextFiles: resources.contextFiles,
				skills: tools.some(({ name }) => name === "read") ? resources.skills : [],
				...(options.systemPrompt === undefined ? {} : { custom: options.systemPrompt }),
				...(options.appendSystemPrompt === undefined ? {} : { append: options.appendSystemPrompt }),
			}),
			tools,
		),
	);
	return {
		cwd: paths.cwd,
		log: openLog(options.session ?? { kind: "new" }, sessionDir, paths.cwd),
		settings: store,
		agentDir: paths.agentDir,
		defaults: {
			model: chosen.model,
			thinkingLevel: options.thinkingLevel ?? chosen.thinkingLevel ?? settings.defaultThinkingLevel,
			chosen: {
				model: options.model !== undefined || options.provider !== undefined,
				thinkingLevel: options.thinkingLevel !== undefined || chosen.thinkingLevel !== undefined,
			},
		},
		models: createSessionModels({
			registry,
			credentials,
			offline,
			...(options.models ? { patterns: options.models } : {}),
		}),
		offers: createModelOffers({ registry, credentials, offline }),
		accounts: createAccounts(credentials, registry),
		client,
		get tools() {
			return code.tools.current;
		},
		toolSwitch: code.tools,
		bashTool,
		get preamble() {
			return preamble(code.tools.current);
		},
		resources: {
			templates: resources.templates,
			skills: resources.skills,
			contextFiles: resources.contextFiles.map(({ path }) => path),
		},
		findHooks: code.findHooks,
		bundledHooks,
		trust: code.trust,
		get builtinHooks() {
			return code.tools.current.includes(tasksTool) ? [{ name: "tasks", factory: tasksHook }] : [];
		},
		grants: new HookGrants({ settings: store, agentDir: paths.agentDir, home: paths.home, ask: options.askGrant }),
		...(options.watch ? { watch: options.watch } : {}),
		hookCacheDir: paths.hookCache,
		tmpDir: paths.tmp,
		sessionDir,
		sessionsRoot: paths.sessions,
		builtins: BUILTIN_COMMANDS,
		redact: (text) => credentials.redactSecrets(text),
		warnings,
	};
}

function createPreamble(systemPrompt: string, all: readonly AnyTool[]): RequestPreamble {
	const tools = all.map(({ name, description, parameters }) => ({ name, description, parameters }));
	return { systemPrompt, tools, tokens: estimatePreamble(systemPrompt, tools) };
}

/** Caches the last result of a function. */
function lastResult<T, R>(compute: (input: T) => R): (input: T) => R {
	let last: { input: T; result: R } | null = null;
	return (input) => {
		if (last?.input !== input) last = { input, result: compute(input) };
		return last.result;
	};
}

async function loadResources(options: CreateAgentSessionOptions, paths: Paths, skillsEnabled: boolean) {
	const { agentDir, cwd, home, project } = paths;
	const ownSkills = (options.skills ?? []).map((path) => ({ path: resolve(cwd, path), scope: "flag" as const }));
	const foundSkills =
		skillsEnabled && options.discoverSkills !== false
			? [
					{ path: paths.skills, scope: "user" as const },
					{ path: project.skills, scope: "project" as const },
				]
			: [];
	const [context, skills, templates] = await Promise.all([
		options.contextFiles === false ? { files: [], warnings: [] } : loadContextFiles({ agentDir, cwd, home }),
		loadSkills([...foundSkills, ...ownSkills]),
		loadPromptTemplates([
			{ path: paths.prompts, scope: "user" },
			{ path: paths.commands, scope: "user" },
			{ path: project.prompts, scope: "project" },
			{ path: project.commands, scope: "project" },
		]),
	]);
	return {
		contextFiles: context.files,
		skills: skills.skills,
		templates: templates.templates,
		warnings: [...context.warnings, ...skills.warnings, ...templates.warnings],
	};
}

async function chooseModel(
	options: CreateAgentSessionOptions,
	registry: ModelRegistry,
	settings: Settings,
	warnings: string[],
	offline: boolean,
): Promise<{ model: Model<Api> | null; thinkingLevel?: ThinkingLevel }> {
	if (typeof options.model === "object") return { model: options.model };
	if (options.model !== undefined) {
		return resolveModel(registry, options.model, { offline, provider: options.provider });
	}
	const preferences =
		options.provider === undefined
			? settings
			: { ...settings, defaultProvider: options.provider, defaultModel: undefined };
	try {
		const { model, warning } = registry.defaultModel({ settings: preferences });
		if (warning) warnings.push(warning);
		return { model };
	} catch (error) {
		if (!(error instanceof PiError) || error.code !== "model_missing") throw error;
		if (offline || !(await registerLocalModels(registry))) return { model: null };
		return { model: registry.defaultModel({ settings: preferences }).model };
	}
}

function openLog(choice: SessionChoice, sessionDir: string | null, cwd: string): SessionLog {
	if (sessionDir === null) return SessionLog.inMemory(cwd);
	if (choice.kind === "open") {
		const path = findSession(sessionDir, choice.target);
		return choice.copy ? copySession(path, sessionDir) : SessionLog.open(path, { cwd });
	}
	const latest = choice.kind === "continue" ? latestSession(sessionDir) : null;
	return latest === null ? SessionLog.create({ dir: sessionDir, cwd }) : SessionLog.open(latest, { cwd });
}
