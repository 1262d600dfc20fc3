import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ProjectFiles } from "../config/project-files.js";
import { describeError, errorText } from "../errors.js";
import { skillPromptText } from "../log/prompt-text.js";
import { isNotFound } from "../util/fs.js";
import { checkSkill, MAX_DESCRIPTION, USER_ONLY } from "./check-skill.js";
import { projectReader, type ReadBytes, type ResourceProblems, readMarkdown, textField } from "./front-matter.js";

/** Where a resource was found; `flag`: named on the command line. */
export type ResourceScope = "user" | "project" | "flag";

/** A directory or file to search for resources. */
export interface ResourceLocation {
	path: string;
	scope: ResourceScope;
	/** Where its files must be; absent: anywhere. */
	within?: ProjectFiles;
}

/** Instructions for one kind of task, which the model reads when it needs them. */
export interface Skill {
	name: string;
	/** One line: when to use it. */
	description: string;
	/** The SKILL.md file, absolute. */
	path: string;
	scope: ResourceScope;
	/** Set if only the user calls it, with `/skill:name`: the model is not offered it. */
	isUserOnly?: true;
}

const MAX_DEPTH = 8;

/**
 * Finds `SKILL.md` files at any depth in the given directories; a location may also be such a file. A skill replaces one
 * of the same name from an earlier location. Never throws: unusable files cause warnings. A skill that breaks a rule of
 * the specification causes a warning for each, and is used if it has a description and a name that a command can have.
 * @param sandbox reads files with a `within`; default: from this machine
 * @returns `skills`: sorted by name
 */
export async function loadSkills(
	locations: readonly ResourceLocation[],
	sandbox?: ReadBytes,
): Promise<ResourceProblems & { skills: Skill[] }> {
	const warnings: string[] = [];
	const broken = new Set<string>();
	const skills = new Map<string, Skill>();
	for (const location of locations) {
		const { within } = location;
		const readBytes = within && projectReader(within, sandbox);
		for (const path of findSkillFiles(location, warnings)) {
			const skill = await readHead(path, { scope: location.scope, readBytes }, warnings);
			if (!skill) {
				broken.add(path);
				continue;
			}
			const other = skills.get(skill.name);
			if (other) warnings.push(`${path}: replaces the skill "${skill.name}" of ${other.path}`);
			skills.set(skill.name, skill);
		}
	}
	const byName = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
	return { skills: byName, warnings, broken };
}

/**
 * The prompt for `/skill:name rest`: the skill's instructions and the task.
 * @param readBytes default: from this machine
 * @throws PiError `file_unreadable`
 */
export async function readSkill(skill: Skill, rest: string, readBytes?: ReadBytes): Promise<string> {
	const { body } = await readMarkdown(skill.path, readBytes);
	return skillPromptText({ name: skill.name, directory: dirname(skill.path), body, rest });
}

async function readHead(
	path: string,
	{ scope, readBytes }: { scope: ResourceScope; readBytes: ReadBytes | undefined },
	warnings: string[],
): Promise<Skill | null> {
	try {
		const file = await readMarkdown(path, readBytes);
		const { fields, lines, problem } = file;
		if (problem !== undefined || lines.size === 0) {
			const reason = problem ?? "1: begin the file with a name and a description between --- lines";
			warnings.push(`${path}:${reason}; skill ignored`);
			return null;
		}
		const directory = basename(dirname(path));
		const description = textField(fields, "description");
		const name = textField(fields, "name") ?? directory;
		const isUsable = description !== undefined && isResourceName(name);
		const end = isUsable ? "" : "; skill ignored";
		for (const { line, text } of checkSkill(file, basename(path) === "SKILL.md" ? directory : null)) {
			warnings.push(`${path}:${line}: ${text}${end}`);
		}
		if (!isUsable) return null;
		const shown = [...description].slice(0, MAX_DESCRIPTION).join("");
		return {
			name,
			description: shown,
			path,
			scope,
			...(fields[USER_ONLY] === true ? { isUserOnly: true as const } : {}),
		};
	} catch (error) {
		warnings.push(describeError(error));
		return null;
	}
}

/** Whether a name is valid in a command: letters, digits, `_`, `:` and `-`, at most 64 characters. */
export function isResourceName(name: string): boolean {
	return /^[a-z0-9][a-z0-9_:-]{0,63}$/i.test(name);
}

/** Sorted by path. Links are followed, but not out of the project; each directory is visited once. */
function findSkillFiles({ path, scope, within }: ResourceLocation, warnings: string[]): string[] {
	const found: string[] = [];
	const visited = new Set<string>();
	const visit = (dir: string, depth: number) => {
		const refusal = within?.refusal(dir) ?? null;
		if (refusal !== null) {
			warnings.push(`${dir}: ignored, because it is ${refusal}`);
			return;
		}
		const real = realpathSync(dir);
		if (visited.has(real) || depth > MAX_DEPTH) return;
		visited.add(real);
		const entries = readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
		if (entries.some((entry) => entry.name === "SKILL.md")) found.push(join(dir, "SKILL.md"));
		for (const entry of entries) {
			if (isVisitable(dir, entry)) visit(join(dir, entry.name), depth + 1);
		}
	};
	try {
		if (statSync(path).isFile()) return [path];
		visit(path, 0);
	} catch (error) {
		if (isNotFound(error)) {
			if (scope === "flag")
				warnings.push(`${path}: no such file or directory; pass a SKILL.md file or a directory of skills`);
		} else warnings.push(`${path}: ${errorText(error)}`);
	}
	return found;
}

function isVisitable(dir: string, entry: Dirent): boolean {
	if (entry.name === "node_modules" || entry.name.startsWith(".")) return false;
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	try {
		return statSync(join(dir, entry.name)).isDirectory();
	} catch {
		return false; // a broken or circular link
	}
}
