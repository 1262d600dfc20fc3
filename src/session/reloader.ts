import { basename, dirname } from "node:path";
import type { RereadFiles } from "../commands/command.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { SessionServices } from "../services/service-types.js";
import { plural } from "../util/format-amounts.js";
import type { HookModels } from "./hooks/hook-models.js";
import type { SessionHooks } from "./hooks/session-hooks.js";
import type { Lifecycle } from "./lifecycle.js";
import type { SessionMcp } from "./session-mcp.js";
import type { SessionState } from "./session-state.js";

export interface ReloaderDeps extends Pick<SessionServices, "store" | "models" | "code" | "resources"> {
	state: SessionState;
	hooks: SessionHooks;
	hookModels: Pick<HookModels, "ready">;
	mcp: Pick<SessionMcp, "load" | "list">;
	lifecycle: Pick<Lifecycle, "reload" | "replaceHooks">;
	/** Problems of the files as read at the start, one line each. */
	problems: readonly string[];
	/** Problems found at the start and at reloads, one line each. */
	warnings: string[];
	warn(line: string): void;
}

/** Reads everything that the user and the project provide again, while the session runs. */
export class Reloader {
	/** Problems of the files as last read. */
	#problems: readonly string[];

	constructor(private readonly deps: ReloaderDeps) {
		this.#problems = deps.problems;
	}

	/**
	 * Reads all files again, for `/reload`.
	 * @param screen the files that the mode has read again
	 * @returns what was read and what failed, as one line
	 */
	async reload(screen: RereadFiles | null): Promise<string> {
		const { resources, hooks, mcp, lifecycle, warnings, warn } = this.deps;
		warnings.length = 0;
		const { count, bundled, kept, restarted } = await lifecycle.reload(async (unload) => {
			this.#problems = await this.#reread({ withTools: true });
			for (const line of this.#problems) warn(line);
			const reloaded = await hooks.reload(unload);
			return { ...reloaded, restarted: await mcp.load() };
		});
		await this.#useModel();
		const { remarks } = resources.current;
		const unread = this.#problems.filter((line) => !remarks.includes(line) && !namesUnused(line));
		const failures = [...unread, ...hooks.loadErrors, ...(screen?.problems ?? [])];
		const failed = placesIn(failures).map(([first]) => first);
		const others = placesIn([...warnings, ...remarks].filter((line) => !failures.includes(line))).flat();
		return [
			`${describeHooks(count, bundled, hooks.loaded.length > 0)} loaded`,
			`read again: ${[...(screen?.read ?? []), ...this.#describeFiles()].join(", ")}`,
			...(kept.length > 0 ? [`kept the previous version of ${kept.join(", ")}`] : []),
			...(restarted.length > 0 ? [`restarted MCP servers: ${restarted.join(", ")}`] : []),
			...(failed.length > 0 ? [`failed: ${[...new Set(failed)].join(", ")}`] : []),
			...(others.length > 0 ? [`problems: ${distinct(others).join(", ")}`] : []),
		].join(" · ");
	}

	/**
	 * Reads all files again before the session continues with another log. Hooks and tools keep their state unless one of
	 * their files has changed.
	 * @returns the problems that are new
	 */
	async refresh(): Promise<string[]> {
		const { code, hooks, mcp, lifecycle } = this.deps;
		const known = this.#problems;
		const hasNewCode = code.hasChanged();
		const problems = await this.#reread({ withTools: hasNewCode });
		if (hasNewCode) {
			// The load reports those that remain again.
			this.#drop([...hooks.loadErrors, ...hooks.registry.warnings]);
			await lifecycle.replaceHooks((unload) => hooks.reload(unload));
			await mcp.load();
		}
		await this.#useModel();
		const solved = known.filter((line) => !problems.includes(line) && (hasNewCode || !isAboutCode(line)));
		this.#drop(solved);
		this.#problems = [...known.filter((line) => !solved.includes(line)), ...problems];
		return problems.filter((line) => !known.includes(line));
	}

	/** Removes warnings. */
	#drop(lines: readonly string[]): void {
		const { warnings } = this.deps;
		warnings.splice(0, warnings.length, ...warnings.filter((line) => !lines.includes(line)));
	}

	/**
	 * Reads settings, models, keys, context files, skills and templates again, and with `withTools` the user's own tools. A
	 * broken file keeps its last good state.
	 * @returns a line for each problem
	 */
	async #reread({ withTools }: { withTools: boolean }): Promise<string[]> {
		const { store, models, code, resources } = this.deps;
		const problems = [...store.settings.reload(), ...(await models.reread()), ...(await resources.reread())];
		return [...problems, ...(withTools ? await code.rereadTools() : [])];
	}

	/** What was read, as counts such as `2 skills`. */
	#describeFiles(): string[] {
		const { models, code, resources, mcp } = this.deps;
		const { templates, skills, contextFiles } = resources.current;
		const servers = mcp.list().length;
		const agents = code.configFiles("agents").length;
		return [
			"settings",
			plural(models.count(), "model"),
			plural(contextFiles.length, "context file"),
			plural(skills.length, "skill"),
			plural(templates.length, "prompt"),
			plural(code.toolSwitch.list().length, "tool"),
			// Most sessions have none.
			...(servers > 0 ? [plural(servers, "MCP server")] : []),
			...(agents > 0 ? [plural(agents, "agent")] : []),
		];
	}

	/** Uses the model as its file defines it now, or the default model if the session has none. */
	async #useModel(): Promise<void> {
		const { models, state, hookModels } = this.deps;
		await hookModels.ready();
		if (state.model === null) {
			const model = await models.findDefault();
			if (model) state.setModel(model);
		} else state.refreshModel(models.list.find);
	}
}

/** `2 hooks and pi:agents`; `only pi's own hooks`: no other ones, such as those of the user or of packages. */
function describeHooks(count: number, bundled: readonly string[], isAnyLoaded: boolean): string {
	const names = [...(count > 0 ? [plural(count, "hook")] : []), ...bundled];
	const [last = isAnyLoaded ? "only pi's own hooks" : "no hooks"] = names.splice(-1);
	return names.length > 0 ? `${names.join(", ")} and ${last}` : last;
}

/** True for a problem of a tool file, which is read again only if it changed. */
function isAboutCode(line: string): boolean {
	return /^(The tool|Tool) /.test(line);
}

/** True if a problem names something that is not used because another one with its name is: no file has failed. */
function namesUnused(line: string): boolean {
	return line.endsWith("; the latter is used") || / is not used: /.test(line);
}

/** The files that each problem names with their lines. Problems without any are omitted. */
function placesIn(lines: readonly string[]): [string, ...string[]][] {
	return lines.flatMap((line) => {
		const [first, ...rest] = [...line.matchAll(/(\/[^\s:;,/]+(?:\/[^\s:;,/]+)+)((?::\d+)*)/g)];
		if (first === undefined || line.startsWith(`${first[1]}: replaces `)) return [];
		return [[placeOf(first), ...rest.map(placeOf)]];
	});
}

/** Each place once; a file without a line only if no line of it is named. */
function distinct(places: readonly string[]): string[] {
	return [...new Set(places)].filter((place) => !places.some((other) => other.startsWith(`${place}:`)));
}

/** File and line, shortened to the file's name; of a file that many directories have with its directory. */
function placeOf([, path = "", line = ""]: RegExpMatchArray): string {
	const name = basename(path);
	return `${name === "SKILL.md" ? `${basename(dirname(path))}/${name}` : hookFileName(path)}${line}`;
}
