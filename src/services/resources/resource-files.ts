import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Paths } from "../../config/paths.js";
import { ProjectFiles, projectRoot } from "../../config/project-files.js";
import { PiError } from "../../errors.js";
import type { ResourcePaths } from "../../hooks/hook-resources.js";
import { type ContextFile, loadContextFiles } from "../../resources/context-files.js";
import { findNestedContextFiles } from "../../resources/find-nested-files.js";
import { projectReader, type ReadBytes, type ResourceProblems } from "../../resources/front-matter.js";
import { loadPromptTemplates, type PromptTemplate } from "../../resources/prompt-templates.js";
import { loadSkills, type ResourceLocation, readSkill, type Skill } from "../../resources/skills.js";
import { readFile } from "../../tools/file-content.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { AcceptedPackages, PackageFile } from "../code/package-code.js";
import type { NestedFileFinder } from "../service-types.js";

export interface ResourceFilesOptions {
	paths: Paths;
	/** Read again each time. */
	skillsEnabled(): boolean;
	/** False: no AGENTS.md or similar files. */
	contextFiles: boolean;
	discoverSkills: boolean;
	/** Skills named on the command line. */
	skills: readonly string[];
	/** Reads files in the sandbox in which tools work; undefined without one. */
	sandbox?(): ReadBytes | undefined;
}

/** Maximum time for reading a file in a sandbox. */
const READ_MS = 5000;

/** Reads files in a sandbox: a link that the model made must not show what the sandbox hides. @returns undefined for another host */
export function sandboxReader(host: ToolHost): ReadBytes | undefined {
	if (host.name === "" || !host.sharesFiles) return undefined;
	return (path, limits) => readFile(host, path, { signal: AbortSignal.timeout(READ_MS), ...limits });
}

/** Where skills are searched. */
export function skillLocations(paths: Paths): ResourceLocation[] {
	const { skills, project } = paths;
	return [
		{ path: skills, scope: "user" },
		{ path: project.skills, scope: "project", within: projectFiles(paths) },
	];
}

/** Found again each time: `git init` makes more files those of the project. */
function projectFiles(paths: Paths): ProjectFiles {
	return new ProjectFiles(projectRoot(paths), paths.agentDir);
}

/** Where prompt templates are searched. */
export function templateLocations(paths: Paths): ResourceLocation[] {
	const { prompts, commands, project } = paths;
	const within = projectFiles(paths);
	return [
		{ path: prompts, scope: "user" },
		{ path: commands, scope: "user" },
		{ path: project.prompts, scope: "project", within },
		{ path: project.commands, scope: "project", within },
	];
}

interface Resources {
	contextFiles: readonly ContextFile[];
	skills: readonly Skill[];
	templates: readonly PromptTemplate[];
	/** Problems of files that are used nevertheless, one line each. */
	remarks: readonly string[];
}

/** The context files, skills and prompt templates of a session. */
export class ResourceFiles implements NestedFileFinder {
	#current: Resources = { contextFiles: [], skills: [], templates: [], remarks: [] };

	#generation = 0;
	#packages: Pick<AcceptedPackages, "skills" | "prompts"> = { skills: [], prompts: [] };

	#hooks: ResourcePaths = { skills: [], prompts: [], themes: [] };

	private constructor(private readonly options: ResourceFilesOptions) {}

	/** Reads the files. `warnings` has a line for each problem. */
	static async load(options: ResourceFilesOptions): Promise<{ files: ResourceFiles; warnings: string[] }> {
		const files = new ResourceFiles(options);
		return { files, warnings: await files.reread() };
	}

	/** The files as last read; the same object until they are read again. */
	get current(): Resources {
		return this.#current;
	}

	get generation(): number {
		return this.#generation;
	}

	/** As `findNestedContextFiles`; nothing if context files are off. */
	async findNested(paths: readonly string[]): Promise<{ files: ContextFile[]; warnings: string[] }> {
		const { contextFiles, paths: places } = this.options;
		if (!contextFiles) return { files: [], warnings: [] };
		const loaded = this.#current.contextFiles.map(({ path }) => path);
		const sandbox = this.options.sandbox?.();
		return findNestedContextFiles(paths, {
			cwd: places.cwd,
			home: places.home,
			agentDir: places.agentDir,
			loaded,
			...(sandbox && { readBytes: sandbox }),
		});
	}

	/** Adds skills and prompts of packages, which those of the user and the project replace. @returns a line for each problem of theirs */
	async usePackages({ skills, prompts }: AcceptedPackages): Promise<string[]> {
		const before = this.#packages;
		this.#packages = { skills, prompts };
		if ([before.skills, before.prompts, skills, prompts].every(({ length }) => length === 0)) return [];
		const copies = [...skills, ...prompts].map(({ copy }) => copy);
		return (await this.reread()).filter((line) => copies.some((copy) => line.includes(copy)));
	}

	/** Adds skills, prompts and themes of hooks, which those of the user and the project replace. @returns a line for each problem of theirs */
	async useHooks(paths: ResourcePaths): Promise<string[]> {
		this.#hooks = paths;
		const all = [...paths.skills, ...paths.prompts, ...paths.themes];
		const missing = all.filter((path) => !existsSync(path));
		const lines = (await this.reread()).filter((line) => all.some((path) => line.includes(path)));
		return [...missing.map((path) => `${path}: no such file or directory; a hook names it`), ...lines];
	}

	/** The theme files of hooks. */
	get hookThemes(): PackageFile[] {
		return this.#hooks.themes.flatMap((path) => themeFiles(path)).map((path) => ({ path, copy: path }));
	}

	/**
	 * Reads the files of the project again, in the sandbox that is connected now: what it hides was read before. Nothing without one.
	 */
	async enterSandbox(): Promise<void> {
		if (!this.options.sandbox?.()) return;
		this.#current = { contextFiles: [], skills: [], templates: [], remarks: [] };
		// Its problems were reported when the files were first read.
		await this.reread();
	}

	/** As `readSkill`. A skill of the project may have been replaced since it was found. */
	readSkill(skill: Skill, rest: string): Promise<string> {
		if (skill.scope !== "project") return readSkill(skill, rest);
		return readSkill(skill, rest, projectReader(projectFiles(this.options.paths), this.options.sandbox?.()));
	}

	/**
	 * @param warnings what the files were read with
	 * @throws PiError `bad_arguments` for a path of `skills` that gives none because of a problem
	 */
	checkNamed(warnings: readonly string[]): void {
		for (const named of this.options.skills) {
			const path = resolve(this.options.paths.cwd, named);
			const isUsed = this.#current.skills.some((skill) => skill.path === path || skill.path.startsWith(`${path}/`));
			const problem = isUsed ? undefined : warnings.find((line) => line.startsWith(path));
			if (problem !== undefined) throw new PiError("bad_arguments", problem);
		}
	}

	/** Reads all files again. A file that is broken now keeps its last good version. @returns a line for each problem */
	async reread(): Promise<string[]> {
		const { paths, skillsEnabled, contextFiles, discoverSkills } = this.options;
		const { agentDir, cwd, home } = paths;
		const ofPackages = (files: readonly { copy: string }[]) =>
			files.map(({ copy }) => ({ path: copy, scope: "user" as const }));
		const within = projectFiles(paths);
		const ofHooks = (files: readonly string[]): ResourceLocation[] =>
			files.map((path) => (within.contains(path) ? { path, scope: "project", within } : { path, scope: "user" }));
		const packages = this.#packages;
		const hooks = this.#hooks;
		const own = this.options.skills.map((path) => ({ path: resolve(cwd, path), scope: "flag" as const }));
		const sandbox = this.options.sandbox?.();
		const [context, skills, templates] = await Promise.all([
			contextFiles
				? loadContextFiles({ agentDir, cwd, home }, sandbox)
				: { files: [], warnings: [], broken: new Set<string>() },
			loadSkills(
				[
					...(skillsEnabled() ? ofHooks(hooks.skills) : []),
					...(skillsEnabled() && discoverSkills ? [...ofPackages(packages.skills), ...skillLocations(paths)] : []),
					...own,
				],
				sandbox,
			),
			loadPromptTemplates(
				[...ofHooks(hooks.prompts), ...ofPackages(packages.prompts), ...templateLocations(paths)],
				sandbox,
			),
		]);
		const before = this.#current;
		this.#generation++;
		this.#current = {
			contextFiles: keepGood(before.contextFiles, context.files, context),
			skills: keepGood(before.skills, skills.skills, skills),
			templates: keepGood(before.templates, templates.templates, templates),
			remarks: [skills, templates].flatMap(({ warnings, broken }) =>
				warnings.filter((line) => ![...broken].some((path) => isAbout(line, path))),
			),
		};
		return [...context.warnings, ...skills.warnings, ...templates.warnings];
	}
}

/** Replaces files that are broken now by their last good version, and says so in their warnings. */
function keepGood<T extends { path: string; name?: string }>(
	before: readonly T[],
	now: readonly T[],
	{ warnings, broken }: ResourceProblems,
): T[] {
	const kept = before.filter((item) => {
		const isReplaced = now.some(({ path, name }) => path !== item.path && name !== undefined && name === item.name);
		if (!broken.has(item.path) || isReplaced) return false;
		for (const [at, line] of warnings.entries()) {
			if (!isAbout(line, item.path)) continue;
			warnings[at] =
				`${line.replace(/; (?:skill|prompt|front matter) ignored$/, "")} · the version read before is kept`;
		}
		return true;
	});
	const order = now.filter(({ path }) => !kept.some((item) => item.path === path));
	for (const item of kept) {
		const earlier = before.slice(0, before.indexOf(item)).map(({ path }) => path);
		order.splice(order.findLastIndex(({ path }) => earlier.includes(path)) + 1, 0, item);
	}
	return order;
}

/** True for the problem of a file, not for the notice that it replaces another. */
function isAbout(line: string, path: string): boolean {
	return (
		(line.startsWith(`${path}:`) && !line.startsWith(`${path}: replaces `)) || line.startsWith(`Cannot read ${path}`)
	);
}

/** The theme files that a path names: itself, or those in the directory. */
function themeFiles(path: string): string[] {
	if (path.endsWith(".json")) return [path];
	try {
		return readdirSync(path).flatMap((name) => (name.endsWith(".json") ? [join(path, name)] : []));
	} catch {
		return []; // reported when the hook named it
	}
}
