import { REFUSED_MODEL_FIELDS, REFUSED_OAUTH_FIELDS, REFUSED_PROVIDER_FIELDS } from "./extension-provider.js";
import { REFUSED_TOOL_FIELDS } from "./extension-tool.js";
import { NO_EXPANSION, OBJECT_PROVIDER } from "./refusals.js";
import { NO_SUMMARY } from "./session-events.js";

/** A field that pi does not read, where a source sets it. */
export interface RefusedField {
	what: string;
	reason: string;
	index: number;
}

/** What a source must name for its fields to be those of a definition: other objects have fields with the same names. */
const DEFINITIONS: readonly (readonly [names: RegExp, of: string, fields: Readonly<Record<string, string>>])[] = [
	[/\b(?:registerTool|defineTool|ToolDefinition)\b/, "a tool", REFUSED_TOOL_FIELDS],
	[/\b(?:registerProvider|ProviderConfig)\b/, "a provider", REFUSED_PROVIDER_FIELDS],
	[/\b(?:registerProvider|ProviderConfig)\b/, "models of a provider", REFUSED_MODEL_FIELDS],
	[/\b(?:registerProvider|ProviderConfig)\b/, "oauth of a provider", REFUSED_OAUTH_FIELDS],
];

/** Arguments that pi does not accept. */
const ARGUMENTS: readonly (readonly [use: RegExp, what: string, reason: string])[] = [
	[/\.registerProvider\(\s*(?:\{|new\b|create\w*\()/, "registerProvider with a provider object", OBJECT_PROVIDER],
	[/\bexpandPromptTemplates\s*:\s*true\b/, "expandPromptTemplates of pi.sendUserMessage", NO_EXPANSION],
	[
		/\.startsWith\(\s*["'`]\?/,
		"a prompt that begins with ?",
		"this key opens the help in an empty editor; type a blank first, or bind app.help to another key",
	],
	[/\.navigateTree\([^)]*\bsummarize\s*:\s*true\b/, "summarize of ctx.navigateTree", NO_SUMMARY],
];

/** Finds the fields and arguments in a source that pi refuses when they are used. */
export function findRefusedFields(source: string): RefusedField[] {
	const found: RefusedField[] = [];
	for (const [names, of, fields] of DEFINITIONS) {
		if (!names.test(source)) continue;
		for (const [field, reason] of Object.entries(fields)) {
			const index = source.search(keyOf(field));
			if (index >= 0) found.push({ what: `${field} of ${of}`, reason, index });
		}
	}
	for (const [use, what, reason] of ARGUMENTS) {
		const index = source.search(use);
		if (index >= 0) found.push({ what, reason, index });
	}
	return found;
}

/** The key of an object, also of a method or in short; not a member that is read, and no field of a type. */
function keyOf(field: string): RegExp {
	// Calls that run one after another are what pi does.
	if (field === "executionMode") return /(?<![.\w])executionMode\s*:\s*["'`]parallel["'`]/;
	return new RegExp(String.raw`(?<=[{,]\s*(?:async\s+)?)${field}\s*(?::(?!\s*false\b)|\(|[,}])`);
}
