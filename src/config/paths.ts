import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Environment variables. Only this file reads those of the process; all other code receives them as an argument. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this run. */
export interface RunEnvironment {
	env: Environment;
	home: string;
	/** `PI_TRUST`: project code runs without a question, in this process only. */
	trust: boolean;
	/** `PI_OFFLINE`: no network requests except those to the model. */
	offline: boolean;
}

/** Directories of files that a user or a project can add. */
interface ResourceDirs {
	hooks: string;
	extensions: string;
	tools: string;
	prompts: string;
	commands: string;
	skills: string;
	themes: string;
}

/** Every file and directory of the user's and the project's configuration. Absolute; none of them need exist. */
export interface Paths extends ResourceDirs {
	cwd: string;
	home: string;
	agentDir: string;
	settings: string;
	auth: string;
	models: string;
	/** What updates found about models since the list that ships. */
	modelList: string;
	/** The model last used in each directory. */
	lastModels: string;
	trust: string;
	/** Copies of trusted files, named by digest, to compare changed files with. */
	trustedTexts: string;
	keybindings: string;
	/** MCP servers. */
	mcp: string;
	contextFile: string;
	/** Contains one directory per working directory. */
	sessions: string;
	/** Model options that were accepted before; only a cache. */
	acceptedNames: string;
	/** What is known of the usage of sessions; only a cache. */
	usageIndex: string;
	/** Tool output that is too long for a result. */
	tmp: string;
	/** Compiled hooks. */
	hookCache: string;
	/** Copies of accepted project code. */
	projectCache: string;
	/** Installed packages. */
	packages: string;
	/** Versions and digests of the user's packages. */
	packagesLock: string;
	project: ProjectPaths;
}

/** The project's own configuration, in `<cwd>/.pi`. */
export interface ProjectPaths extends ResourceDirs {
	dir: string;
	settings: string;
	mcp: string;
	/** `<cwd>/.mcp.json`, which other programs read, too. */
	sharedMcp: string;
	/** Versions and digests of the project's packages. */
	packagesLock: string;
}

/** The environment of the process; the entry point reads it once and passes it on. */
export function processEnvironment(): Environment {
	return process.env;
}

/** Reads the switches in the environment. Empty, `0` and `false` are off. */
export function runEnvironment(env: Environment = process.env, home: string = homedir()): RunEnvironment {
	return { env, home, trust: isOn(env.PI_TRUST), offline: isOn(env.PI_OFFLINE) };
}

/** The agent directory, absolute: `PI_CODING_AGENT_DIR`, in which a leading `~` is expanded, or `~/.pi/agent`. */
export function agentDir(env: Environment = process.env, home: string = homedir()): string {
	const chosen = env.PI_CODING_AGENT_DIR?.trim();
	return chosen ? resolve(expandHome(chosen, home)) : join(home, ".pi", "agent");
}

/** The paths for a session in `cwd`. */
export function paths(env: Environment = process.env, cwd: string = process.cwd(), home: string = homedir()): Paths {
	const agent = agentDir(env, home);
	const project = join(resolve(cwd), ".pi");
	return {
		cwd: resolve(cwd),
		home,
		agentDir: agent,
		settings: join(agent, "settings.json"),
		auth: join(agent, "auth.json"),
		models: join(agent, "models.json"),
		modelList: join(agent, "model-list.json"),
		lastModels: join(agent, "last-models.json"),
		trust: join(agent, "trust.json"),
		trustedTexts: join(agent, "trusted"),
		keybindings: join(agent, "keybindings.json"),
		mcp: join(agent, "mcp.json"),
		...resourceDirs(agent),
		contextFile: join(agent, "AGENTS.md"),
		sessions: join(agent, "sessions"),
		acceptedNames: join(agent, "cache", "accepted-names.json"),
		usageIndex: join(agent, "cache", "usage.json"),
		tmp: join(agent, "tmp"),
		hookCache: join(agent, "cache", "jiti"),
		projectCache: join(agent, "cache", "project"),
		packages: join(agent, "packages"),
		packagesLock: join(agent, "packages.lock.json"),
		project: {
			dir: project,
			settings: join(project, "settings.json"),
			mcp: join(project, "mcp.json"),
			sharedMcp: join(resolve(cwd), ".mcp.json"),
			packagesLock: join(project, "packages.lock.json"),
			...resourceDirs(project),
		},
	};
}

/** Resolves a path in a setting or an argument: `~` is the home directory, relative paths start at `base`. */
export function resolveUserPath(path: string, base: string, home: string = homedir()): string {
	const expanded = expandHome(path, home);
	return isAbsolute(expanded) ? resolve(expanded) : resolve(base, expanded);
}

function resourceDirs(dir: string): ResourceDirs {
	return {
		hooks: join(dir, "hooks"),
		extensions: join(dir, "extensions"),
		tools: join(dir, "tools"),
		prompts: join(dir, "prompts"),
		commands: join(dir, "commands"),
		skills: join(dir, "skills"),
		themes: join(dir, "themes"),
	};
}

function expandHome(path: string, home: string): string {
	return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

function isOn(value: string | undefined): boolean {
	return value !== undefined && !["", "0", "false"].includes(value.trim().toLowerCase());
}
