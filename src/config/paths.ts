import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Environment variables. Only this file reads those of the process; everything else is handed them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says about this run. */
export interface RunEnvironment {
	env: Environment;
	home: string;
	/** `PI_TRUST`: project code runs this once without a question. */
	trust: boolean;
	/** `PI_OFFLINE`: nothing is looked for on the network but the model's own endpoint. */
	offline: boolean;
}

/** Every file and directory of the user's and the project's configuration. Absolute; none of them need exist. */
export interface Paths {
	cwd: string;
	home: string;
	agentDir: string;
	settings: string;
	auth: string;
	models: string;
	trust: string;
	/** Copies of trusted texts, named by digest, to show later what changed. */
	trustedTexts: string;
	keybindings: string;
	hooks: string;
	tools: string;
	prompts: string;
	commands: string;
	skills: string;
	themes: string;
	contextFile: string;
	/** Holds one directory per working directory. */
	sessions: string;
	/** Spilled tool output. */
	tmp: string;
	/** Compiled hooks. */
	hookCache: string;
	project: ProjectPaths;
}

/** What a project may bring, under `<cwd>/.pi`. */
export interface ProjectPaths {
	dir: string;
	settings: string;
	hooks: string;
	tools: string;
	prompts: string;
	commands: string;
	skills: string;
	themes: string;
}

/** The process's environment, read once at the top and handed down. */
export function processEnvironment(): Environment {
	return process.env;
}

/** The switches among the environment's variables. Empty, `0` and `false` are off. */
export function runEnvironment(env: Environment = process.env, home: string = homedir()): RunEnvironment {
	return { env, home, trust: isOn(env.PI_TRUST), offline: isOn(env.PI_OFFLINE) };
}

/** The user's configuration directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
export function agentDir(env: Environment = process.env, home: string = homedir()): string {
	const chosen = env.PI_CODING_AGENT_DIR?.trim();
	return chosen ? resolve(expandHome(chosen, home)) : join(home, ".pi", "agent");
}

/** Where everything is for a session in `cwd`. */
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
		trust: join(agent, "trust.json"),
		trustedTexts: join(agent, "trusted"),
		keybindings: join(agent, "keybindings.json"),
		...resourceDirs(agent),
		contextFile: join(agent, "AGENTS.md"),
		sessions: join(agent, "sessions"),
		tmp: join(agent, "tmp"),
		hookCache: join(agent, "cache", "jiti"),
		project: { dir: project, settings: join(project, "settings.json"), ...resourceDirs(project) },
	};
}

/** A path as people write it in settings and arguments: `~` is the home directory, relative ones start at `base`. */
export function resolveUserPath(path: string, base: string, home: string = homedir()): string {
	const expanded = expandHome(path, home);
	return isAbsolute(expanded) ? resolve(expanded) : resolve(base, expanded);
}

function resourceDirs(dir: string) {
	return {
		hooks: join(dir, "hooks"),
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
