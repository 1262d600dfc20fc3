import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describeError, errorText } from "../errors.js";
import { isNotFound, readRegularFile } from "../util/fs.js";
import { splitArgs } from "../util/split-args.js";
import { parseFrontMatter, textField } from "./front-matter.js";
import { isResourceName, type ResourcePlace, type ResourceScope } from "./skills.js";

/** A prompt kept in a file, sent by typing its name. */
export interface PromptTemplate {
	/** File name without `.md`. */
	name: string;
	/** One line. */
	description: string;
	argumentHint?: string;
	body: string;
	/** Absolute. */
	path: string;
	scope: ResourceScope;
}

const MAX_BYTES = 1024 * 1024;
const MAX_DESCRIPTION = 100;

/** `$1`, `$@`, `$ARGUMENTS`, `${@:2}` and `${@:2:3}`. */
const PLACEHOLDER = /\$(?:(\d{1,2})|(@|ARGUMENTS\b)|\{@:(\d{1,4})(?::(\d{1,4}))?\})/g;

/**
 * Reads `*.md` in the given directories. A later place wins over an earlier one that has a template of the same name.
 * Never throws: what cannot be used is named in a warning.
 */
export async function loadPromptTemplates(
	places: readonly ResourcePlace[],
): Promise<{ templates: PromptTemplate[]; warnings: string[] }> {
	const warnings: string[] = [];
	const templates = new Map<string, PromptTemplate>();
	for (const place of places) {
		for (const file of listMarkdown(place.path, warnings)) {
			const template = await readTemplate(join(place.path, file), file.slice(0, -3), place.scope, warnings);
			if (!template) continue;
			const other = templates.get(template.name);
			if (other) warnings.push(`${template.path}: replaces the prompt "/${template.name}" of ${other.path}`);
			templates.set(template.name, template);
		}
	}
	return { templates: [...templates.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

/**
 * The prompt that a template makes with what was typed behind its name: `$1` is an argument (1-based), `$@` all of
 * them, `${@:2}` those from the second, `${@:2:3}` three of those. Arguments are split as a shell would; what is in
 * them is never expanded. When the template has no place for them, they follow it.
 */
export function expandTemplate(template: Pick<PromptTemplate, "body">, rest: string): string {
	const args = splitArgs(rest);
	let used = false;
	const text = template.body.replace(
		PLACEHOLDER,
		(_match, position?: string, _all?: string, from?: string, count?: string) => {
			used = true;
			if (position !== undefined) return args[Number(position) - 1] ?? "";
			if (from === undefined) return args.join(" ");
			const start = Math.max(0, Number(from) - 1);
			return args.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
		},
	);
	return used || rest.trim() === "" ? text : `${text}\n\n${rest.trim()}`;
}

async function readTemplate(
	path: string,
	name: string,
	scope: ResourceScope,
	warnings: string[],
): Promise<PromptTemplate | null> {
	if (!isResourceName(name)) {
		warnings.push(`${path}: its name cannot be a command; letters, digits, - and _ can`);
		return null;
	}
	try {
		const { fields, body, problem } = await parseFrontMatter(
			(await readRegularFile(path, { maxBytes: MAX_BYTES })).toString("utf8"),
		);
		if (problem !== undefined) warnings.push(`${path}: ${problem}; its front matter is ignored`);
		if (body === "") return null;
		const argumentHint = textField(fields, "argument-hint");
		const description = textField(fields, "description") ?? firstLine(body);
		return { name, description, ...(argumentHint && { argumentHint }), body, path, scope };
	} catch (error) {
		warnings.push(describeError(error));
		return null;
	}
}

function listMarkdown(dir: string, warnings: string[]): string[] {
	try {
		return readdirSync(dir)
			.filter((name) => name.endsWith(".md") && name.length > 3)
			.sort();
	} catch (error) {
		if (!isNotFound(error)) warnings.push(`${dir}: ${errorText(error)}`);
		return [];
	}
}

function firstLine(body: string): string {
	const line = (body.split("\n")[0] ?? "").replace(/^#+\s*/, "").trim();
	return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION - 1)}…`;
}
