import { join, resolve } from "node:path";
import { BUILTIN_COMMANDS } from "../commands/builtin/index.js";
import { type Environment, paths as findPaths, processEnvironment } from "../config/paths.js";
import { SettingsStore } from "../config/settings-store.js";
import type { CorePreamble } from "../context/preamble.js";
import { PiError } from "../errors.js";
import { tasksHook, tasksTool } from "../features/tasks.js";
import { machineWords } from "../hooks/bundled-words.js";
import type { PromptSection, ToolInfo } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import { lastMachine, lastModel } from "../log/last-choices.js";
import type { SessionLog } from "../log/session-log.js";
import { sessionDirName } from "../log/session-paths.js";
import { callsTools } from "../models/model-facts.js";
import { networkOf } from "../network/network.js";
import type { ReadBytes } from "../resources/front-matter.js";
import { buildPromptSections, sectionsForTools, toolInfo } from "../resources/system-prompt.js";
import { BUILTIN_TOOLS } from "../tools/index.js";
import { createLocalMachine } from "../tools/machine/local-machine.js";
import type { ToolHost } from "../tools/machine/machine.js";
import { isInside } from "../tools/machine/readable-directories.js";
import type { AnyTool } from "../tools/tool.js";
import { localDate } from "../util/clock.js";
import { usablePrivateDir } from "../util/fs.js";
import { checkExtraTools } from "./check-options.js";
import { findConfigFiles } from "./code/config-files.js";
import { HookGrants } from "./code/hook-grants.js";
import { McpFiles } from "./code/mcp-files.js";
import { expectsHooks, findSessionCode, type SessionCodeOptions } from "./code/session-code.js";
import type { CreateAgentSessionOptions } from "./create-options.js";
import { type LoggedMachine, readableDirectories, SessionMachine } from "./machine/session-machine.js";
import { type ChosenModel, chooseModel, providerOfKey } from "./models/choose-model.js";
import { createHookStreams } from "./models/hook-streams.js";
import { loadModelClient } from "./models/model-client.js";
import { ModelFiles } from "./models/model-files.js";
import { ResourceFiles, sandboxReader } from "./resources/resource-files.js";
import type { ForkedLog, SessionParent, SessionServices } from "./service-types.js";
import { openLog } from "./store/open-log.js";

const NO_TOOLS: readonly AnyTool[] = [];

/** What a session begins with. */
export interface OpenedServices {
	services: SessionServices;
	/** Problems found meanwhile, one line each. */
	warnings: readonly string[];
	/** Those of `warnings` that concern the log. */
	logWarnings: readonly string[];
}

/**
 * Collects everything a session needs from this machine. Hooks and the project's tools are loaded later, once they may run.
 * @param parent the session whose sub-session this is; `options` then contain what it inherits
 * @param fork the entries with which a sub-session begins; null: none
 * @throws PiError when the log, the model or a named tool cannot be used, and for malformed options
 */
export async function openServices(
	options: CreateAgentSessionOptions,
	parent: SessionParent | null,
	fork: ForkedLog | null,
): Promise<OpenedServices> {
	const env = options.env ?? processEnvironment();
	const paths = findPaths(withAgentDir(env, options.agentDir), options.cwd, options.home);
	const { settings } = options;
	const store = settings instanceof SettingsStore ? settings : new SettingsStore(paths, settings);
	const warnings = [...store.problems];
	const extraTools = checkExtraTools(options.extraTools ?? []);
	const hooks = options.hooks ?? [];
	const requireNamed = options.requireNamed === true;
	const local = { env, ...options.localServers };
	const network = await networkOf(env);
	let followModels = () => {};
	/** Reads files in the sandbox, once it is connected. */
	let sandbox = (): ReadBytes | undefined => undefined;
	const [ownClient, { files: models, warnings: modelWarnings }, { files: resources, warnings: resourceWarnings }] =
		await Promise.all([
			options.client ?? loadModelClient(network),
			ModelFiles.load({
				paths,
				env,
				network,
				local,
				settings: () => store.current,
				patterns: options.models,
				isOffline: options.offline === true,
				onUpdate: () => followModels(),
				extraModels: options.extraModels ?? [],
			}),
			ResourceFiles.load({
				paths,
				skillsEnabled: () => store.current.skills.enabled,
				contextFiles: options.contextFiles !== false,
				discoverSkills: options.discoverSkills !== false,
				skills: options.skills ?? [],
				sandbox: () => sandbox(),
			}),
		]);
	if (requireNamed) resources.checkNamed(resourceWarnings);
	warnings.push(...modelWarnings, ...resourceWarnings);
	const tmpDir = usablePrivateDir(paths.tmp);
	const mcp = new McpFiles({
		paths,
		env,
		enabled: options.mcp !== false,
		explicit: options.mcpFiles ?? [],
		servers: options.mcpServers ?? {},
	});
	if (requireNamed) mcp.checkNamed();
	const bundledHooks = options.bundledHooks ?? options.discoverHooks !== false;
	/** The machine of the session, once its log is open. */
	let usedHost = (): string | null => null;
	const codeOptions: SessionCodeOptions = {
		paths,
		copyDir: tmpDir === paths.tmp ? paths.projectCache : join(tmpDir, "project"),
		get settings() {
			return store.current;
		},
		get builtinTools() {
			return store.current.features.tasks ? [...BUILTIN_TOOLS, tasksTool] : BUILTIN_TOOLS;
		},
		extraTools,
		toolNames: options.tools,
		explicit: {
			get hooks() {
				return [...hooks, ...machineWords(options.on ?? store.current.on), ...machineWords(usedHost())];
			},
			extensions: options.extensions ?? [],
			tools: options.customTools ?? [],
			packages: options.packages ?? [],
		},
		store,
		env,
		usePackages: (accepted) => resources.usePackages(accepted),
		discoverHooks: options.discoverHooks !== false,
		bundledHooks,
		requireNamed,
		trust: options.trust,
		mcp,
		ask: options.askTrust,
		watch: options.watch,
		parent,
	};
	const { lastModels, cwd } = paths;
	const choose = () => {
		const { registry, findOffering } = models.current;
		const keyed = options.apiKey === undefined ? undefined : providerOfKey(options, registry);
		if (keyed !== undefined && options.apiKey !== undefined) models.overrideKey(keyed, options.apiKey);
		const { onWait } = options;
		return chooseModel(options, { registry, settings: store, lastModels, cwd, local, findOffering, onWait });
	};
	const { client: unmetered, routes } = await createHookStreams(ownClient, (provider) => models.hookProvider(provider));
	followModels = () => routes.use(models.streamed());
	const client = parent?.meter(unmetered) ?? unmetered;
	// A hook may add the model: until the hooks have loaded, nothing about the choice is an error.
	const waitsForHooks = expectsHooks(codeOptions);
	const first = await choose().catch((error: unknown) => {
		if (!waitsForHooks || !(error instanceof PiError) || error.code !== "model_unknown") throw error;
		return { error };
	});
	const chosen: ChosenModel = "error" in first ? withoutModel(options, store) : first;
	if (!waitsForHooks) warnings.push(...chosen.warnings);
	// Runs in the background: the first request waits for it and reports a failure.
	if (chosen.model) client.prepare(chosen.model).catch(() => {});
	let keyOverride = options.apiKey === undefined ? (parent?.keyOverride ?? null) : null;
	if (keyOverride) models.overrideKey(keyOverride.provider, keyOverride.key);
	const useKey = ({ model }: ChosenModel) => {
		if (options.apiKey === undefined) return;
		if (!model) throw new PiError("bad_arguments", "--api-key needs a model", { hint: "add --model" });
		keyOverride = { provider: model.provider, key: options.apiKey };
		models.overrideKey(keyOverride.provider, keyOverride.key);
	};
	if (!("error" in first)) useKey(chosen);
	const code = await findSessionCode(codeOptions);
	warnings.push(...code.warnings);
	const savedSessionsDir = resolve(options.sessionDir ?? join(paths.sessions, sessionDirName(paths.cwd)));
	const sessionDir = options.session?.kind === "memory" ? null : savedSessionsDir;
	const date = localDate(Date.now());
	const { log, source, warning } = openLog(fork ?? options.session ?? { kind: "new" }, sessionDir, paths.cwd);
	const logWarnings = warning === undefined ? [] : [warning];
	warnings.push(...logWarnings);
	const loggedMachine = (log: SessionLog, path: string | null): LoggedMachine | null => {
		const recorded = lastMachine(log);
		const isOwn = [sessionDir, paths.sessions].some((dir) => dir !== null && isInside(dir, path ?? dir));
		return recorded && { ...recorded, isOwn };
	};
	const readable = lastResult((skills: typeof resources.current.skills) => readableDirectories(tmpDir, skills, paths));
	const hosts = new SessionMachine(
		options.host ?? createLocalMachine(paths.cwd, paths.home, paths.agentDir),
		options.host
			? { on: options.on ?? "local", setting: undefined, isConnected: true }
			: { on: options.on, setting: store.current.on },
		loggedMachine(log, source),
		() => readable(resources.current.skills),
	);
	usedHost = () => hosts.recorded.on;
	sandbox = () => sandboxReader(hosts.current);
	// Computed again when the tools or files change, for example when the project's tools are added.
	const preamble = lastResult(
		(all: readonly AnyTool[], { contextFiles, skills }: typeof resources.current, host: ToolHost) => {
			const tools = all.map((tool) => toolInfo(tool, code.tools.hookOf(tool)));
			const sections = buildPromptSections({
				host,
				date,
				tools,
				contextFiles,
				skills,
				...(options.systemPrompt === undefined ? {} : { custom: options.systemPrompt }),
				...(options.appendSystemPrompt === undefined ? {} : { append: options.appendSystemPrompt }),
			});
			return createPreamble(sections, tools);
		},
	);
	const used = chosen.chosen.model ? null : lastModel(log);
	if (used) await models.current.models.searchServer(used);
	const services: SessionServices = {
		store: {
			cwd: paths.cwd,
			log,
			isCopy: log.path !== source,
			settings: store,
			agentDir: paths.agentDir,
			hookCacheDir: paths.hookCache,
			lastModels,
			tmpDir,
			sessionDir,
			savedSessionsDir,
			sessionsRoot: paths.sessions,
			usageIndex: paths.usageIndex,
		},
		models: {
			get list() {
				return models.current.models;
			},
			get offers() {
				return models.current.offers;
			},
			get accounts() {
				return models.current.accounts;
			},
			client,
			defaults: { model: chosen.model, thinkingLevel: chosen.thinkingLevel, chosen: chosen.chosen },
			get keyOverride() {
				return keyOverride;
			},
			async findDefault() {
				return (await choose().catch(() => ({ model: null }))).model;
			},
			late: waitsForHooks
				? async (isNew) => {
						if (!isNew && "error" in first) throw first.error;
						const late = isNew ? await choose() : chosen;
						if (isNew) useKey(late);
						return late;
					}
				: null,
			async useProviders(providers) {
				const reading = models.useProviders(providers);
				routes.use(models.streamed());
				const problems = await reading;
				routes.use(models.streamed());
				return problems;
			},
			enterHooks: (action) => routes.run(action),
			endProviders: () => routes.close(),
			async reread() {
				const problems = await models.reread();
				routes.use(models.streamed());
				return problems;
			},
			count: () => models.current.registry.availableModels().length,
			redact: (text) => models.redact(text),
		},
		code: {
			get tools() {
				return code.tools.current;
			},
			toolSwitch: code.tools,
			rereadTools: code.rereadTools,
			hasChanged: code.hasChanged,
			findHooks: code.findHooks,
			locateHook: code.locateHook,
			...(options.readFlags ? { readFlags: options.readFlags } : {}),
			bundledHooks,
			requireNamed,
			trust: code.trust,
			asksAboutCode: options.askTrust !== undefined,
			get builtinHooks() {
				return code.tools.current.includes(tasksTool) ? [{ name: "tasks", factory: tasksHook }] : [];
			},
			acceptedCode: () => code.accepted,
			acceptedPackages: () => code.packages,
			configFiles: (folder) =>
				findConfigFiles(folder, {
					...{ agentDir: paths.agentDir, cwd: paths.cwd, projectDir: paths.project.dir },
					context: { env, home: paths.home },
					accepted: code.accepted,
					packages: code.packages,
				}),
			grants: new HookGrants({ settings: store, agentDir: paths.agentDir, home: paths.home, ask: options.askGrant }),
			verbose: options.verbose === true,
			...(options.watch ? { watch: options.watch } : {}),
			builtins: BUILTIN_COMMANDS,
			mcp,
			mcpContext: {
				env,
				network,
				cwd: paths.cwd,
				home: paths.home,
				isOffline: options.offline === true,
				authFile: paths.auth,
				toolNames: options.tools,
			},
		},
		resources: {
			get current() {
				const { contextFiles, ...others } = resources.current;
				return { ...others, contextFiles: contextFiles.map(({ path }) => path) };
			},
			preamble: (model) =>
				preamble(model === null || callsTools(model) ? code.tools.current : NO_TOOLS, resources.current, hosts.current),
			useHooks: (given) => resources.useHooks(given),
			themes: () => [...(code.packages?.themes ?? []), ...resources.hookThemes],
			readSkill: (skill, rest) => resources.readSkill(skill, rest),
			enterSandbox: () => resources.enterSandbox(),
			reread: () => resources.reread(),
			nestedFiles: resources,
		},
		machine: {
			get host() {
				return hosts.current;
			},
			get recorded() {
				return hosts.recorded;
			},
			connect: (connection) => hosts.connect(connection),
			prepare: (logged, connection) => hosts.prepare(logged, connection),
			dispose: () => hosts.dispose(),
			loggedMachine,
		},
	};
	return { services, warnings, logWarnings };
}

function withAgentDir(env: Environment, agentDir: string | undefined): Environment {
	return agentDir === undefined ? env : { ...env, PI_CODING_AGENT_DIR: agentDir };
}

/** The choice for a session whose model is unknown until its hooks have loaded. */
function withoutModel({ thinkingLevel }: CreateAgentSessionOptions, { current }: SettingsStore): ChosenModel {
	return {
		model: null,
		thinkingLevel: thinkingLevel ?? current.defaultThinkingLevel,
		chosen: { model: true, thinkingLevel: thinkingLevel !== undefined },
		warnings: [],
	};
}

function createPreamble(list: PromptSection[], infos: ToolInfo[]): CorePreamble {
	const [sections, tools] = [freezeDeep(list), Object.freeze(infos)];
	return { sections, tools, generate: (offered) => sectionsForTools(sections, offered) };
}

/** Caches the last result of a function. */
function lastResult<A extends readonly unknown[], R>(compute: (...args: A) => R): (...args: A) => R {
	let last: { args: A; result: R } | null = null;
	return (...args) => {
		if (!last || args.some((arg, at) => arg !== last?.args[at])) last = { args, result: compute(...args) };
		return last.result;
	};
}
