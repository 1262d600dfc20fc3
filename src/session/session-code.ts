import { join } from "node:path";
import type { Paths } from "../config/paths.js";
import type { Settings } from "../config/settings-schema.js";
import type { ProjectSet } from "../config/trust.js";
import { describeError, PiError } from "../errors.js";
import { type DiscoverOptions, discoverHooks, type HookFile } from "../hooks/discover.js";
import type { FoundHooks } from "../hooks/load.js";
import { discoverTools, loadTools } from "../hooks/load-tools.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { AnyTool } from "../tools/tool.js";
import { ProjectGate, type TrustAnswer, withCopies } from "./project-code.js";
import { SessionTools } from "./session-tools.js";

/** Where the code of a session comes from. */
export interface SessionCodeOptions {
	paths: Paths;
	settings: Pick<Settings, "hooks" | "customTools" | "hookTimeout">;
	builtinTools: readonly AnyTool[];
	extraTools: readonly AnyTool[];
	/** Names of the tools to use; absent: all. */
	toolNames: readonly string[] | undefined;
	/** Files that the command line names. */
	explicit: { hooks: readonly string[]; tools: readonly string[] };
	discoverHooks: boolean;
	trustOnce: boolean;
	ask: ((set: ProjectSet) => Promise<TrustAnswer>) | undefined;
	/** Watches over files of tools while they are loaded. */
	watch: HandlerWatch | undefined;
}

/** The hooks and tools of a session, as far as they may run. */
export interface SessionCode {
	tools: SessionTools;
	trust: ProjectGate;
	/** Finds the hooks, at the start and at each reload; the project's tools are loaded with its hooks. */
	findHooks(): Promise<FoundHooks>;
	/** What went wrong so far, one line each. */
	warnings: string[];
}

/**
 * Loads the user's own tools. The project's code is not looked at before `findHooks`.
 * @throws PiError `tool_unknown`
 */
export async function findSessionCode(options: SessionCodeOptions): Promise<SessionCode> {
	const { paths, builtinTools, extraTools, toolNames, trustOnce, ask } = options;
	const found = findTools(options, false);
	const { tools: own, errors } = await load(found.files, options);
	const tools = new SessionTools({
		builtins: builtinTools,
		own,
		names: toolNames,
		extra: extraTools,
		expectsMore: findProjectTools(options).length > 0,
	});
	const trust = new ProjectGate({
		cwd: paths.cwd,
		agentDir: paths.agentDir,
		copyDir: join(paths.agentDir, "cache", "project"),
		trustOnce,
		...(ask ? { ask } : {}),
	});
	return {
		tools,
		trust,
		findHooks: async () => findHooks(options, trust, tools),
		warnings: [...[...found.errors, ...errors].map(describeError), ...tools.warnings],
	};
}

/** The user's own hooks first: the project's code is asked about once these run. */
function findHooks(options: SessionCodeOptions, trust: ProjectGate, tools: SessionTools): FoundHooks {
	const { files, errors } = discoverHooks(hookPlaces(options, true));
	const isFirst = ({ scope }: HookFile) => scope === "global";
	return {
		files: files.filter(isFirst),
		errors,
		async next() {
			const problems: PiError[] = [];
			const onWarning = (line: string) => problems.push(new PiError("hook_load_failed", line));
			const toolFiles = findProjectTools(options);
			const isAsked = toolFiles.length > 0 || files.some(({ scope }) => scope === "project");
			const accepted = isAsked ? await trust.accept(onWarning) : null;
			// A file that the user names as well is the user's own choice, whatever becomes of the project.
			const allowed = accepted ? files : discoverHooks(hookPlaces(options, false)).files;
			const made = await load(accepted ? withCopies(toolFiles, accepted, onWarning) : [], options);
			problems.push(...made.errors);
			for (const line of tools.useProject(made.tools)) onWarning(line);
			const rest = allowed.filter((file) => !isFirst(file));
			return { files: withCopies(rest, accepted, onWarning), errors: problems };
		},
	};
}

function load(
	files: readonly HookFile[],
	{ paths, settings, watch }: SessionCodeOptions,
): ReturnType<typeof loadTools> {
	const { hookCache: cacheDir, cwd } = paths;
	return loadTools(files, { cacheDir, timeoutMs: settings.hookTimeout, cwd, ...(watch ? { watch } : {}) });
}

function findTools(options: SessionCodeOptions, withProject: boolean): ReturnType<typeof discoverTools> {
	const { paths, settings, explicit } = options;
	return discoverTools({
		...places(options),
		globalDir: paths.tools,
		projectDir: withProject ? paths.project.tools : "",
		configured: settings.customTools,
		explicit: explicit.tools,
		discovery: true,
	});
}

function hookPlaces(options: SessionCodeOptions, withProject: boolean): DiscoverOptions {
	const { paths, settings, explicit } = options;
	return {
		...places(options),
		globalDir: paths.hooks,
		projectDir: withProject ? paths.project.hooks : "",
		configured: settings.hooks,
		explicit: explicit.hooks,
		discovery: options.discoverHooks,
	};
}

function places({ paths }: SessionCodeOptions): Pick<DiscoverOptions, "cwd" | "homeDir" | "settingsDir"> {
	return { cwd: paths.cwd, homeDir: paths.home, settingsDir: paths.agentDir };
}

/** Tool files of the project that the user did not name as well. */
function findProjectTools(options: SessionCodeOptions): HookFile[] {
	const own = new Set(findTools(options, false).files.map(({ realPath }) => realPath));
	return findTools(options, true).files.filter(({ scope, realPath }) => scope === "project" && !own.has(realPath));
}
