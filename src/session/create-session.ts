import { join, resolve } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { BUILTIN_COMMANDS } from "../commands/builtin/index.js";
import { Credentials } from "../config/credentials.js";
import { loadModels, type ModelRegistry } from "../config/models.js";
import { loadModelsFile } from "../config/models-file.js";
import {
	type Environment,
	paths as findPaths,
	type Paths,
	processEnvironment,
	resolveUserPath,
} from "../config/paths.js";
import { type LoadedSettings, loadSettings } from "../config/settings.js";
import type { ProjectSet } from "../config/trust.js";
import { describeError, PiError } from "../errors.js";
import { tasksHook, tasksTool } from "../features/tasks.js";
import { discoverHooks, type HookFile } from "../hooks/discover.js";
import { grantedHandles } from "../hooks/handles.js";
import { discoverTools, loadTools, mergeTools } from "../hooks/load-tools.js";
import { findSession, latestSession } from "../log/catalog.js";
import type { ThinkingLevel } from "../log/entry.js";
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
import { nearest } from "../util/nearest.js";
import { createAccounts } from "./accounts.js";
import { AgentSession } from "./agent-session.js";
import { loadModelClient } from "./model-client.js";
import { mayRunProjectCode, type TrustAnswer } from "./project-code.js";
import { createSessionModels, registerLocalModels } from "./session-models.js";
import type { ModelClient } from "./session-parts.js";

/** Which log a session uses. */
export type SessionChoice =
	| { kind: "new" }
	/** The latest one of this directory that is free; a new one when there is none. */
	| { kind: "continue" }
	/** A path, an id or the start of one. With `copy` the session goes on in a new file that holds all its entries. */
	| { kind: "open"; target: string; copy?: boolean }
	/** Nothing on disk. */
	| { kind: "memory" };

/** Everything can be left out and is then discovered; what is given takes the place of that. */
export interface CreateAgentSessionOptions {
	cwd?: string;
	env?: Environment;
	home?: string;
	settings?: LoadedSettings;
	session?: SessionChoice;
	sessionDir?: string;
	/** `provider/id`, an id, or words of it; `:high` behind it sets the thinking level. Or a model. */
	model?: string | Model<Api>;
	provider?: string;
	/** Patterns of the models that Ctrl+P goes through. */
	models?: readonly string[];
	apiKey?: string;
	thinkingLevel?: ThinkingLevel;
	/** Names of built-in tools; absent: all. */
	tools?: readonly string[];
	/** Files with tools, besides those that are discovered. */
	customTools?: readonly string[];
	/** Tools besides the built-in ones. */
	extraTools?: readonly AnyTool[];
	/** Hook files to load besides those that are discovered. */
	hooks?: readonly string[];
	discoverHooks?: boolean;
	contextFiles?: boolean;
	skills?: readonly string[];
	discoverSkills?: boolean;
	systemPrompt?: string;
	appendSystemPrompt?: string;
	/** Run the project's own code this once without a question. */
	trust?: boolean;
	/** Asks whether the project's own code may run. Without it, only trusted contents do. */
	askTrust?(set: ProjectSet): Promise<TrustAnswer>;
	offline?: boolean;
	client?: ModelClient;
	/** Models besides those of pi-ai and models.json. */
	extraModels?: readonly Model<Api>[];
}

/**
 * Brings a session together from what is on this machine. It has read everything but its hooks: call `attachUI` if
 * there is somebody to ask, then `start()`.
 * @throws PiError when the log, the model or a tool that was named cannot be used
 */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<AgentSession> {
	const paths = findPaths(options.env, options.cwd, options.home);
	const { settings, warnings: settingsWarnings } =
		options.settings ?? loadSettings({ agentDir: paths.agentDir, cwd: paths.cwd });
	const warnings = [...settingsWarnings];
	const modelsFile = loadModelsFile(paths.models);
	const credentials = new Credentials({
		authFile: paths.auth,
		env: options.env ?? processEnvironment(),
		home: paths.home,
		settingsKeys: settings.apiKeys,
		providers: modelsFile.providers,
		onNotice: (line) => warnings.push(line),
	});
	const [client, registry, resources] = await Promise.all([
		options.client ?? loadModelClient(),
		loadModels({ file: modelsFile, credentials }),
		loadResources(options, paths, settings.skills.enabled),
	]);
	warnings.push(...registry.warnings, ...resources.warnings);
	registry.registerModels(options.extraModels ?? []);
	const offline = options.offline ?? false;
	const chosen = await chooseModel(options, registry, settings, warnings, offline);
	// Goes on beside the rest; the first request waits for it, and tells when it fails.
	if (chosen.model) client.prepare(chosen.model).catch(() => {});
	if (options.apiKey !== undefined) {
		if (!chosen.model) throw new PiError("bad_arguments", "--api-key needs a model", { hint: "add --model" });
		credentials.overrideKey(chosen.model.provider, options.apiKey);
	}
	const found = await findTools(options, paths, settings);
	warnings.push(...found.warnings);
	const tools = [...chooseTools(options.tools, found.tools), ...(options.extraTools ?? [])];
	const sessionDir =
		options.session?.kind === "memory"
			? null
			: resolve(options.sessionDir ?? join(paths.sessions, sessionDirName(paths.cwd)));
	ensurePrivateDir(paths.tmp);
	return new AgentSession({
		cwd: paths.cwd,
		log: openLog(options.session ?? { kind: "new" }, sessionDir, paths.cwd),
		settings,
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
		accounts: createAccounts(credentials, registry),
		client,
		tools,
		bashTool,
		systemPrompt: buildSystemPrompt({
			cwd: paths.cwd,
			date: new Date().toISOString().slice(0, 10),
			tools,
			contextFiles: resources.contextFiles,
			skills: tools.some(({ name }) => name === "read") ? resources.skills : [],
			...(options.systemPrompt === undefined ? {} : { custom: options.systemPrompt }),
			...(options.appendSystemPrompt === undefined ? {} : { append: options.appendSystemPrompt }),
		}),
		resources: {
			templates: resources.templates,
			skills: resources.skills,
			contextFiles: resources.contextFiles.map(({ path }) => path),
		},
		findHooks: () => findHooks(options, paths, settings.hooks),
		builtinHooks: tools.includes(tasksTool) ? [{ name: "tasks", factory: tasksHook }] : [],
		grants: (file) =>
			grantedHandles(settings.hookGrants, file, (path) => resolveUserPath(path, paths.agentDir, paths.home)),
		hookCacheDir: paths.hookCache,
		tmpDir: paths.tmp,
		sessionDir,
		builtins: BUILTIN_COMMANDS,
		redact: (text) => credentials.redactSecrets(text),
		warnings,
	});
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
	settings: LoadedSettings["settings"],
	warnings: string[],
	offline: boolean,
): Promise<{ model: Model<Api> | null; thinkingLevel?: ThinkingLevel }> {
	if (typeof options.model === "object") return { model: options.model };
	const spec = options.model;
	if (spec !== undefined) {
		const named = options.provider === undefined ? {} : { provider: options.provider };
		try {
			return registry.resolveModelSpec(spec, named);
		} catch (error) {
			// It may be served on this machine, where nobody has looked yet.
			if (offline || !(await registerLocalModels(registry))) throw error;
			return registry.resolveModelSpec(spec, named);
		}
	}
	const wanted =
		options.provider === undefined
			? settings
			: { ...settings, defaultProvider: options.provider, defaultModel: undefined };
	try {
		const { model, warning } = registry.defaultModel({ settings: wanted });
		if (warning) warnings.push(warning);
		return { model };
	} catch (error) {
		if (!(error instanceof PiError) || error.code !== "model_missing") throw error;
		if (offline || !(await registerLocalModels(registry))) return { model: null };
		return { model: registry.defaultModel({ settings: wanted }).model };
	}
}

/** The built-in tools and those of files. A project's own run only when they are trusted already: tools cannot wait. */
async function findTools(options: CreateAgentSessionOptions, paths: Paths, settings: LoadedSettings["settings"]) {
	const { files, errors } = discoverTools({
		globalDir: paths.tools,
		projectDir: paths.project.tools,
		cwd: paths.cwd,
		homeDir: paths.home,
		configured: settings.customTools,
		settingsDir: paths.agentDir,
		explicit: options.customTools ?? [],
		discovery: true,
	});
	const warnings = errors.map(describeError);
	const builtins = settings.features.tasks ? [...BUILTIN_TOOLS, tasksTool] : BUILTIN_TOOLS;
	if (files.length === 0) return { tools: builtins, warnings };
	const isProject = files.some(({ scope }) => scope === "project");
	const mayRun =
		isProject &&
		(await mayRunProjectCode({ ...trustOptions(options, paths), onWarning: (line) => warnings.push(line) }));
	const { tools, errors: failures } = await loadTools(
		mayRun ? files : files.filter(({ scope }) => scope !== "project"),
		{ cacheDir: paths.hookCache, timeoutMs: settings.hookTimeout, cwd: paths.cwd },
	);
	const merged = mergeTools(builtins, tools);
	return { tools: merged.tools, warnings: [...warnings, ...failures.map(describeError), ...merged.warnings] };
}

function trustOptions(options: CreateAgentSessionOptions, paths: Paths) {
	return { cwd: paths.cwd, agentDir: paths.agentDir, trustOnce: options.trust === true };
}

function chooseTools(names: readonly string[] | undefined, tools: readonly AnyTool[]): readonly AnyTool[] {
	if (!names) return tools;
	return names.map((name) => {
		const tool = tools.find((candidate) => candidate.name === name);
		if (tool) return tool;
		const known = tools.map((candidate) => candidate.name);
		const near = nearest(name, known)[0];
		throw new PiError("tool_unknown", `There is no tool "${name}"`, {
			hint: near ? `did you mean ${near}?` : `the tools are ${known.join(", ")}`,
		});
	});
}

function copyLog(path: string, sessionDir: string): SessionLog {
	const source = SessionLog.open(path, { readOnly: true });
	try {
		return source.branchTo("all", { dir: sessionDir });
	} finally {
		source.close();
	}
}

function openLog(choice: SessionChoice, sessionDir: string | null, cwd: string): SessionLog {
	if (sessionDir === null) return SessionLog.inMemory(cwd);
	if (choice.kind === "open") {
		const path = findSession(sessionDir, choice.target);
		return choice.copy ? copyLog(path, sessionDir) : SessionLog.open(path, { cwd });
	}
	const latest = choice.kind === "continue" ? latestSession(sessionDir) : null;
	return latest === null ? SessionLog.create({ dir: sessionDir, cwd }) : SessionLog.open(latest, { cwd });
}

async function findHooks(
	options: CreateAgentSessionOptions,
	paths: Paths,
	configured: readonly string[],
): Promise<{ files: HookFile[]; errors: PiError[] }> {
	const { files, errors } = discoverHooks({
		globalDir: paths.hooks,
		projectDir: paths.project.hooks,
		cwd: paths.cwd,
		homeDir: paths.home,
		configured,
		settingsDir: paths.agentDir,
		explicit: options.hooks ?? [],
		discovery: options.discoverHooks !== false,
	});
	if (!files.some(({ scope }) => scope === "project")) return { files, errors };
	const mayRun = await mayRunProjectCode({
		...trustOptions(options, paths),
		...(options.askTrust ? { ask: options.askTrust } : {}),
		onWarning: (line) => errors.push(new PiError("hook_load_failed", line)),
	});
	return { files: mayRun ? files : files.filter(({ scope }) => scope !== "project"), errors };
}
