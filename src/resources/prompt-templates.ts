import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describeError, errorText } from "../errors.js";
import { isNotFound } from "../util/fs.js";
import { splitArgs } from "../util/split-args.js";
import { projectReader, type ReadBytes, type ResourceProblems, readMarkdown, textField } from "./front-matter.js";
import { isResourceName, type ResourceLocation, type ResourceScope } from "./skills.js";

/** A prompt in a file that the user sends by typing its name as a command. */
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

const MAX_DESCRIPTION = 100;

/** `$1`, `$@`, `$ARGUMENTS`, `${@:2}` and `${@:2:3}`. */
const PLACEHOLDER = /\$(?:(\d{1,2})|(@|ARGUMENTS\b)|\{@:(\d{1,4})(?::(\d{1,4}))?\})/g;

/**
 * Reads `*.md` in the given directories; a location may also be such a file. A template replaces one of the same name from an earlier location. Never throws:
 * unusable files cause warnings.
 * @param sandbox reads files of locations with a `within`; default: from this machine
 * @returns `templates`: sorted by name
 */
export async function loadPromptTemplates(
	locations: readonly ResourceLocation[],
	sandbox?: ReadBytes,
): Promise<ResourceProblems & { templates: PromptTemplate[] }> {
	const problems: ResourceProblems = { warnings: [], broken: new Set() };
	const { warnings } = problems;
	const templates = new Map<string, PromptTemplate>();
	for (const { path, scope, within } of locations) {
		const readBytes = within && projectReader(within, sandbox);
		const refusal = within?.refusal(path) ?? null;
		if (refusal !== null) {
			warnings.push(`${path}: ignored, because it is ${refusal}`);
			continue;
		}
		for (const file of path.endsWith(".md") ? [path] : listMarkdown(path, warnings)) {
			const template = await readTemplate(file, basename(file).slice(0, -3), { scope, readBytes }, problems);
			if (!template) continue;
			const other = templates.get(template.name);
			if (other) warnings.push(`${template.path}: replaces the prompt "/${template.name}" of ${other.path}`);
			templates.set(template.name, template);
		}
	}
	return { templates: [...templates.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), ...problems };
}

/**
 * Inserts the text typed after a template's name: `$1` is an argument (1-based), `$@` all of them, `${@:2}` those from the
 * second, `${@:2:3}` three of those. Arguments are split like in a shell; placeholders in them are not expanded. Without
 * placeholders in the template, the text is appended.
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
	{ scope, readBytes }: { scope: ResourceScope; readBytes: ReadBytes | undefined },
	{ warnings, broken }: ResourceProblems,
): Promise<PromptTemplate | null> {
	const refuse = (reason: string) => {
		broken.add(path);
		warnings.push(reason);
		return null;
	};
	if (!isResourceName(name)) {
		return refuse(`${path}:1: its name cannot be a command · use letters, digits, - and _; prompt ignored`);
	}
	try {
		const { fields, lines, body, problem } = await readMarkdown(path, readBytes);
		if (body === "") return refuse(`${path}:${problem ?? "1: the file has no text"}; prompt ignored`);
		if (problem !== undefined) refuse(`${path}:${problem}; front matter ignored`);
		for (const field of ["description", "argument-hint"]) {
			const value = fields[field] ?? "";
			if (value === "" || textField(fields, field) !== undefined) continue;
			warnings.push(`${path}:${lines.get(field) ?? 1}: ${field} must be text · put it in quotes`);
		}
		const argumentHint = textField(fields, "argument-hint");
		const description = textField(fields, "description") ?? firstLine(body);
		return { name, description, ...(argumentHint && { argumentHint }), body, path, scope };
	} catch (error) {
		return refuse(describeError(error));
	}
}

function listMarkdown(dir: string, warnings: string[]): string[] {
	try {
		return readdirSync(dir)
			.filter((name) => name.endsWith(".md") && name.length > 3)
			.sort()
			.map((name) => join(dir, name));
	} catch (error) {
		if (!isNotFound(error)) warnings.push(`${dir}: ${errorText(error)}`);
		return [];
	}
}

function firstLine(body: string): string {
	const line = (body.split("\n")[0] ?? "").replace(/^#+\s*/, "").trim();
	return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION - 1)}…`;
}
