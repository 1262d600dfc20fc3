import { basename, join } from "node:path";
import type { JsonObject } from "../../config/json-file.js";
import { isRecord } from "../../util/is-record.js";
import { findAgents, findCommands, findMemory, findSkills } from "./markdown-items.js";
import { findServers, findServersOfProject, serverOfClaude, serverOfCodex, serverOfOpencode } from "./server-items.js";
import {
	type SetupItem,
	type SetupPlace,
	type SetupProgram,
	type SetupScope,
	withoutCounterpart,
} from "./setup-item.js";
import { parseJson, SourceFiles } from "./source-files.js";

/** The files of a scope, their directory, and where pi keeps its own. */
interface Scope {
	files: SourceFiles;
	from: string;
	to: string;
}

const FINDERS: Readonly<Record<SetupProgram, (place: SetupPlace) => Promise<SetupItem[]>>> = {
	claude: findOfClaude,
	codex: findOfCodex,
	opencode: findOfOpencode,
};

/** As its makers write it. */
export const SETUP_TITLES: Readonly<Record<SetupProgram, string>> = {
	claude: "Claude Code",
	codex: "Codex",
	opencode: "opencode",
};

/** Everything that another program has here, for the user and the project. Reads only, and never throws because of its files. */
export async function findSetup(program: SetupProgram, place: SetupPlace): Promise<SetupItem[]> {
	return (await FINDERS[program](place)).map((item) => {
		const isOfPi = item.kind === "command" && place.commands.has(item.name.slice(1));
		return isOfPi ? withoutCounterpart(item, `kept: ${item.name} is a command of pi`) : item;
	});
}

/** The directory of the user and, unless it is the same, that of the project. */
function scopesOf(place: SetupPlace, user: string, project: string): Scope[] {
	const { agentDir, projectDir, cwd } = place;
	const own = { files: new SourceFiles("user", null), from: user, to: agentDir };
	const shared = { files: new SourceFiles("project", cwd), from: project, to: projectDir };
	return user === project ? [own] : [own, shared];
}

async function findOfClaude(place: SetupPlace): Promise<SetupItem[]> {
	const { cwd, home, env, agentDir, projectDir } = place;
	const dir = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
	const items: SetupItem[] = [];
	for (const { files, from, to } of scopesOf(place, dir, join(cwd, ".claude"))) {
		const { scope } = files;
		items.push(...(await findCommands(files, join(from, "commands"), to)));
		items.push(...(await findAgents(files, join(from, "agents"), to)));
		items.push(...findSkills(files, join(from, "skills"), to));
		if (scope === "user") items.push(...findMemory(files, join(from, "CLAUDE.md"), to));
		else items.push(...unreadMemory(files, [join(from, "CLAUDE.md"), join(cwd, "CLAUDE.local.md")]));
		for (const name of ["settings.json", "settings.local.json"]) {
			const path = join(from, name);
			const settings = files.object(path);
			items.push(...hooksOf(settings, name, { scope, source: path, to }));
			items.push(...permissionsOf(settings, { scope, source: path }));
			items.push(
				...others(settings, ["env", "model", "statusLine", "outputStyle", "enabledPlugins"], { scope, source: path }),
			);
		}
		if (scope === "user") {
			const source = env.CLAUDE_CONFIG_DIR ? join(dir, ".claude.json") : join(home, ".claude.json");
			const state = files.object(source);
			const options = { source, to: join(agentDir, "mcp.json"), scope, convert: serverOfClaude };
			items.push(...findServers(state.mcpServers, options));
			const project = isRecord(state.projects) ? state.projects[cwd] : undefined;
			const own = { ...options, to: join(projectDir, "mcp.json"), scope: "project" } as const;
			items.push(...findServersOfProject(isRecord(project) ? project.mcpServers : undefined, own));
		}
		items.push(...files.skipped);
	}
	return items;
}

async function findOfCodex(place: SetupPlace): Promise<SetupItem[]> {
	const { cwd, home, env } = place;
	const { parse } = await import("smol-toml");
	const items: SetupItem[] = [];
	for (const { files, from, to } of scopesOf(place, env.CODEX_HOME || join(home, ".codex"), join(cwd, ".codex"))) {
		const { scope } = files;
		items.push(...(await findCommands(files, join(from, "prompts"), to)));
		items.push(...findSkills(files, join(from, "skills"), to));
		if (scope === "user") items.push(...findMemory(files, join(from, "AGENTS.md"), to));
		const source = join(from, "config.toml");
		const config = files.object(source, (text) => parse(text));
		const options = { source, to: join(to, "mcp.json"), scope, convert: serverOfCodex };
		items.push(...findServers(config.mcp_servers, options));
		const known = ["approval_policy", "sandbox_mode", "sandbox_workspace_write", "notify", "profiles", "hooks"];
		items.push(...others(config, known, { scope, source }), ...files.skipped);
	}
	return items;
}

async function findOfOpencode(place: SetupPlace): Promise<SetupItem[]> {
	const { cwd, home, env } = place;
	const items: SetupItem[] = [];
	const user = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
	for (const { files, from, to } of scopesOf(place, user, join(cwd, ".opencode"))) {
		const { scope } = files;
		for (const name of ["command", "commands"]) items.push(...(await findCommands(files, join(from, name), to)));
		for (const name of ["agent", "agents"]) items.push(...(await findAgents(files, join(from, name), to)));
		for (const name of ["skill", "skills"]) items.push(...findSkills(files, join(from, name), to));
		if (scope === "user") items.push(...findMemory(files, join(from, "AGENTS.md"), to));
		const dirs = scope === "user" ? [from] : [cwd, from];
		for (const source of dirs.flatMap((dir) => [join(dir, "opencode.json"), join(dir, "opencode.jsonc")])) {
			const config = files.object(source, (text) => parseJson(withoutComments(text)));
			const options = { source, to: join(to, "mcp.json"), scope, convert: serverOfOpencode };
			items.push(...findServers(config.mcp, options));
			const known = ["permission", "plugin", "command", "agent", "instructions", "formatter", "tools"];
			items.push(...others(config, known, { scope, source }));
		}
		items.push(...files.skipped);
	}
	return items;
}

/** Files of a project that pi reads only by other names. */
function unreadMemory(files: SourceFiles, paths: readonly string[]): SetupItem[] {
	return paths.flatMap((path) => {
		if (files.text(path, "memory") === null) return [];
		const item = {
			kind: "memory",
			scope: files.scope,
			name: basename(path),
			source: path,
		} as const;
		return [
			withoutCounterpart(
				item,
				"pi reads AGENTS.md, or else CLAUDE.md, in the directories of the project: move it there",
			),
		];
	});
}

/** The hooks in a settings.json, for the bundled hook `claude-hooks`. @param to directory of pi */
function hooksOf(
	{ hooks, disableAllHooks }: JsonObject,
	name: string,
	{ to, ...where }: { scope: SetupScope; source: string; to: string },
): SetupItem[] {
	if (hooks === undefined || (isRecord(hooks) && Object.keys(hooks).length === 0)) return [];
	const item = { kind: "hooks", name, ...where } as const;
	if (!isRecord(hooks)) return [withoutCounterpart(item, "hooks must be an object")];
	const malformed = Object.keys(hooks).find((event) => !Array.isArray(hooks[event]));
	if (malformed !== undefined) return [withoutCounterpart(item, `hooks.${malformed} must be a list`)];
	if (disableAllHooks === true) return [withoutCounterpart(item, "they are turned off")];
	const types = Object.values(hooks)
		.flat()
		.flatMap((group) => (isRecord(group) && Array.isArray(group.hooks) ? group.hooks : []))
		.map((hook) => (isRecord(hook) ? hook.type : undefined));
	const others = [...new Set(types.filter((type) => typeof type === "string" && type !== "command"))].join(", ");
	if (others !== "" && types.every((type) => type !== "command"))
		return [withoutCounterpart(item, `pi runs no hooks of the type ${others}`)];
	const unused = others === "" ? "" : `; those of the type ${others} do not run`;
	const bytes = Buffer.from(`${JSON.stringify({ hooks }, null, 2)}\n`);
	return [
		{
			...item,
			changes: [
				{ type: "file", path: join(to, "claude-hooks", name), bytes },
				{ type: "hook", name: "claude-hooks" },
			],
			note: `${Object.keys(hooks).join(", ")}: see docs/claude-hooks.md${unused}`,
		},
	];
}

/** Rules about calls of tools. Those of pi are compared in another way, so that the same text would allow more, or forbid less. */
function permissionsOf({ permissions }: JsonObject, where: { scope: SetupScope; source: string }): SetupItem[] {
	if (!isRecord(permissions)) return [];
	const counts = ["deny", "ask", "allow"].flatMap((name) => {
		const rules = permissions[name];
		return Array.isArray(rules) && rules.length > 0 ? [`${rules.length} ${name}`] : [];
	});
	if (counts.length === 0) return [];
	const reason = "pi:permissions compares its rules in another way; add yours with /permissions";
	return [withoutCounterpart({ kind: "permissions", name: counts.join(", "), ...where }, reason)];
}

/** Fields of a configuration that are only named. */
function others(
	config: JsonObject,
	known: readonly string[],
	where: { scope: SetupScope; source: string },
): SetupItem[] {
	return known
		.filter((name) => config[name] !== undefined)
		.map((name) => withoutCounterpart({ kind: "other", name, ...where }, "no counterpart: see docs/coming-from.md"));
}

/** JSON without `//` and block comments, and without commas before a closing bracket. Everything else keeps its place. */
export function withoutComments(text: string): string {
	const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
	return text
		.replace(
			/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
			(all, quoted: string | undefined) => quoted ?? blank(all),
		)
		.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, quoted: string | undefined) => quoted ?? " ");
}
