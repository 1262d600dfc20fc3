import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describeError, errorText } from "../errors.js";
import { isNotFound, readRegularFile } from "../util/fs.js";
import { parseFrontMatter, textField } from "./front-matter.js";

/** Whose directory something was found in. */
export type ResourceScope = "user" | "project" | "flag";

/** A directory, or one file, to look in. */
export interface ResourcePlace {
	path: string;
	scope: ResourceScope;
}

/** Instructions for one kind of task, which the model reads when it has such a task. */
export interface Skill {
	name: string;
	/** One line: when to use it. */
	description: string;
	/** The SKILL.md file, absolute. */
	path: string;
	scope: ResourceScope;
}

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 8;
const MAX_DESCRIPTION = 1024;

/**
 * Finds `SKILL.md` files at any depth under the given places, or takes a place that is such a file. A later place wins
 * over an earlier one that has a skill of the same name. Never throws: what cannot be used is named in a warning.
 */
export async function loadSkills(places: readonly ResourcePlace[]): Promise<{ skills: Skill[]; warnings: string[] }> {
	const warnings: string[] = [];
	const skills = new Map<string, Skill>();
	for (const place of places) {
		for (const path of findSkillFiles(place.path, warnings, place.scope === "flag")) {
			const skill = await readHead(path, place.scope, warnings);
			if (!skill) continue;
			const other = skills.get(skill.name);
			if (other) warnings.push(`${path}: replaces the skill "${skill.name}" of ${other.path}`);
			skills.set(skill.name, skill);
		}
	}
	const byName = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
	return { skills: byName, warnings };
}

/**
 * The prompt of `/skill:name rest`: what the file says, and the task.
 * @throws PiError `file_unreadable`
 */
export async function readSkill(skill: Skill, rest: string): Promise<string> {
	const { body } = await parseFrontMatter(
		(await readRegularFile(skill.path, { maxBytes: MAX_BYTES })).toString("utf8"),
	);
	const head = `<skill name="${skill.name}" directory="${dirname(skill.path)}">\n${body}\n</skill>`;
	return rest.trim() === "" ? `${head}\n\nFollow this skill.` : `${head}\n\n${rest.trim()}`;
}

async function readHead(path: string, scope: ResourceScope, warnings: string[]): Promise<Skill | null> {
	try {
		const text = (await readRegularFile(path, { maxBytes: MAX_BYTES })).toString("utf8");
		const { fields, problem } = await parseFrontMatter(text);
		const description = textField(fields, "description");
		if (problem !== undefined || description === undefined) {
			warnings.push(`${path}: ${problem ?? "its front matter has no description"}; the skill is left out`);
			return null;
		}
		const name = textField(fields, "name") ?? basename(dirname(path));
		if (!isResourceName(name)) {
			warnings.push(`${path}: ${JSON.stringify(name)} cannot be a skill's name; letters, digits, - and _ can`);
			return null;
		}
		return { name, description: description.slice(0, MAX_DESCRIPTION), path, scope };
	} catch (error) {
		warnings.push(describeError(error));
		return null;
	}
}

/** True for what can stand behind a slash: letters, digits, `_`, `:` and `-`, up to 64 of them. */
export function isResourceName(name: string): boolean {
	return /^[a-z0-9][a-z0-9_:-]{0,63}$/i.test(name);
}

/** In byte order of their paths; links are followed, each directory once. */
function findSkillFiles(place: string, warnings: string[], explicit: boolean): string[] {
	const found: string[] = [];
	const visited = new Set<string>();
	const visit = (dir: string, depth: number) => {
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
		if (statSync(place).isFile()) return [place];
		visit(place, 0);
	} catch (error) {
		if (explicit || !isNotFound(error)) warnings.push(`${place}: ${errorText(error)}`);
	}
	return found;
}

function isVisitable(dir: string, entry: Dirent): boolean {
	if (entry.name === "node_modules" || entry.name.startsWith(".")) return false;
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	try {
		return statSync(join(dir, entry.name)).isDirectory();
	} catch {
		return false; // leads nowhere, or in a circle
	}
}
