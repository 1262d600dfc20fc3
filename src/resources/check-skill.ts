import { type FrontMatter, textField } from "./front-matter.js";

/** A rule of the Agent Skills specification that the front matter of a skill breaks. */
export interface SkillProblem {
	/** In the file, 1-based. */
	line: number;
	/** The problem and what to do. */
	text: string;
}

/** A field that pi reads in addition to those of the specification: true hides the skill from the model. */
export const USER_ONLY = "disable-model-invocation";
/** Known fields: those of the specification, and one of other agents. */
const FIELDS: ReadonlySet<string> = new Set([
	"name",
	"description",
	"license",
	"compatibility",
	"metadata",
	"allowed-tools",
	USER_ONLY,
]);
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
/** Maximum length of a description, in characters. */
export const MAX_DESCRIPTION = 1024;
const MAX_COMPATIBILITY = 500;

/**
 * Checks a skill against the [Agent Skills specification](https://agentskills.io/specification).
 * @param directory name of the directory that contains the file; null if the file is not called SKILL.md
 * @returns by line
 */
export function checkSkill({ fields, lines }: FrontMatter, directory: string | null): SkillProblem[] {
	const problems: SkillProblem[] = [];
	const report = (field: string, text: string) => problems.push({ line: lines.get(field) ?? 1, text });
	const isTooLong = (field: string, limit: number) => {
		const length = [...String(fields[field]).trim()].length;
		if (length > limit) report(field, `the ${field} has ${length} characters · shorten it to ${limit}`);
	};

	const name = textField(fields, "name");
	if (name === undefined) {
		report("name", lines.has("name") ? "the name must be text that is not empty" : "the name is missing · add it");
	} else {
		if (!NAME.test(name)) {
			const shown = JSON.stringify(name);
			report("name", `the name ${shown} is not standard · use lowercase letters, digits and single hyphens`);
		}
		if (directory !== null && name !== directory) {
			const names = `${JSON.stringify(name)} differs from its directory ${JSON.stringify(directory)}`;
			report("name", `the name ${names} · rename one of them`);
		}
		isTooLong("name", MAX_NAME);
	}

	if (textField(fields, "description") !== undefined) isTooLong("description", MAX_DESCRIPTION);
	else if (lines.has("description")) report("description", "the description must be text that is not empty");
	else report("description", "the description is missing · say what the skill does and when to use it");

	if (lines.has("license") && !isText(fields.license)) report("license", "the license must be text");
	if (lines.has("compatibility")) {
		if (textField(fields, "compatibility") !== undefined) isTooLong("compatibility", MAX_COMPATIBILITY);
		else report("compatibility", "the compatibility must be text that is not empty · remove it if it has no content");
	}
	if (lines.has("metadata")) checkMetadata(fields.metadata, report);
	const tools = fields["allowed-tools"];
	if (lines.has("allowed-tools") && !isText(tools) && !(Array.isArray(tools) && tools.every(isText))) {
		report("allowed-tools", "allowed-tools must be names separated by spaces, or a list of names");
	}

	if (lines.has(USER_ONLY) && typeof fields[USER_ONLY] !== "boolean")
		report(USER_ONLY, `${USER_ONLY} must be true or false`);

	const unknown = Object.keys(fields).filter((field) => !FIELDS.has(field));
	if (unknown.length > 0) {
		const names = unknown.map((field) => JSON.stringify(field)).join(", ");
		const [noun, them] = unknown.length === 1 ? ["field", "it"] : ["fields", "them"];
		report(unknown[0] ?? "", `unknown ${noun} ${names} · put ${them} under metadata`);
	}
	return problems.sort((a, b) => a.line - b.line);
}

function checkMetadata(metadata: unknown, report: (field: string, text: string) => void): void {
	if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
		report("metadata", "metadata must consist of fields such as author: ada");
		return;
	}
	for (const [key, value] of Object.entries(metadata)) {
		if (!isText(value)) report(`metadata.${key}`, `metadata.${key} must be text`);
	}
}

/** Numbers and booleans are text that has no quotes. */
function isText(value: unknown): boolean {
	return ["string", "number", "boolean"].includes(typeof value);
}
