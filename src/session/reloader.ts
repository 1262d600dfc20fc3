import { basename, dirname } from "node:path";
import type { RereadFiles } from "../commands/command.js";
import type { HookModels } from "./hook-models.js";
import type { Lifecycle } from "./lifecycle.js";
import type { SessionHooks } from "./session-hooks.js";
import type { SessionMcp } from "./session-mcp.js";
import type { SessionSetup } from "./session-setup.js";
import type { SessionState } from "./session-state.js";

export interface ReloaderDeps {
	setup: SessionSetup;
	state: SessionState;
	hooks: SessionHooks;
	mcp: Pick<SessionMcp, "load">;
	models: Pick<HookModels, "ready">;
	lifecycle: Pick<Lifecycle, "reload" | "shutDown">;
	/** Problems found at the start and at reloads, one line each. */
	warnings: string[];
	warn(line: string): void;
}

/** Reads everything that the user and the project provide again, while the session runs. */
export class Reloader {
	/** Problems of the files as last read. */
	#problems: readonly string[];

	constructor(private readonly deps: ReloaderDeps) {
		this.#problems = deps.setup.warnings;
	}

	/**
	 * Reads all files again, for `/reload`.
	 * @param screen the files that the mode has read again
	 * @returns what was read and what failed, as one line
	 */
	async reload(screen: RereadFiles | null): Promise<string> {
		const { setup, hooks, mcp, lifecycle, warnings, warn } = this.deps;
		warnings.length = 0;
		const { count, kept } = await lifecycle.reload(async (unload) => {
			this.#problems = await setup.reread({ withTools: true });
			for (const line of this.#problems) warn(line);
			const reloaded = await hooks.reload(unload);
			await mcp.load();
			return reloaded;
		});
		await this.#useModel();
		const problems = [...warnings, ...(screen?.problems ?? [])];
		const { remarks } = setup.resources;
		const failed = placesIn(problems.filter((line) => !remarks.includes(line)));
		const remarked = placesIn(remarks);
		return [
			`${plural(count, "hook")} loaded`,
			`read again: ${[...(screen?.read ?? []), ...setup.describeFiles()].join(", ")}`,
			...(kept.length > 0 ? [`kept the previous version of ${kept.join(", ")}`] : []),
			...(failed.length > 0 ? [`failed: ${failed.join(", ")}`] : []),
			...(remarked.length > 0 ? [`problems: ${remarked.join(", ")}`] : []),
		].join(" · ");
	}

	/**
	 * Reads all files again before the session continues with another log. Hooks and tools keep their state unless one of
	 * their files has changed.
	 * @returns the problems that are new
	 */
	async refresh(): Promise<string[]> {
		const { setup, hooks, mcp, lifecycle, warnings } = this.deps;
		const known = this.#problems;
		const hasNewCode = setup.codeChanged();
		const problems = await setup.reread({ withTools: hasNewCode });
		if (hasNewCode) {
			await hooks.reload(() => lifecycle.shutDown());
			await mcp.load();
		}
		await this.#useModel();
		const solved = known.filter((line) => !problems.includes(line) && (hasNewCode || !isAboutCode(line)));
		warnings.splice(0, warnings.length, ...warnings.filter((line) => !solved.includes(line)));
		this.#problems = [...known.filter((line) => !solved.includes(line)), ...problems];
		return problems.filter((line) => !known.includes(line));
	}

	/** Uses the model as its file defines it now, or the default model if the session has none. */
	async #useModel(): Promise<void> {
		const { setup, state, models } = this.deps;
		await models.ready();
		if (state.model === null) {
			const model = await setup.findDefaultModel();
			if (model) state.setModel(model);
		} else state.refreshModel(setup.models.find);
	}
}

/** True for a problem of a tool file, which is read again only if it changed. */
function isAboutCode(line: string): boolean {
	return /^(The tool|Tool) /.test(line);
}

function placesIn(lines: readonly string[]): string[] {
	return [...new Set(lines.flatMap((line) => placeIn(line) ?? []))];
}

/** File and line that a problem names, shortened to the file's name; of a skill with its directory. */
function placeIn(line: string): string | null {
	const found = /(\/[^\s:]+)((?::\d+)*)/.exec(line);
	if (found?.[1] === undefined || line.startsWith(`${found[1]}: replaces `)) return null;
	const name = basename(found[1]);
	return `${name === "SKILL.md" ? `${basename(dirname(found[1]))}/${name}` : name}${found[2]}`;
}

/** A count with its noun: `1 hook`, `2 hooks`. */
export function plural(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
