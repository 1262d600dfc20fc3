import { plural } from "../util/format-amounts.js";
import { applyReplacements, type Edit, lineAt, planEdits, type Replacement } from "./edit-match.js";
import { readFile } from "./file-content.js";
import { binaryKind } from "./file-type.js";
import { diffLines } from "./line-diff.js";
import type { WrittenFile } from "./machine/machine.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failed, failedOnFile, failedToWrite } from "./result.js";
import { defineTool, type EditToolDetails } from "./tool.js";

const OLD_TEXT =
	"Text to replace, exactly as in the file, with its indentation. It must occur exactly once, unless replaceAll is true: include surrounding lines until it does.";
const NEW_TEXT = "Replacement text; empty to delete";
const REPLACE_ALL = "Replace every occurrence";

/** Changed places that the result names. */
const MAX_LINES = 10;

const parameters = {
	type: "object",
	properties: {
		path: {
			type: "string",
			description: "File to change: absolute, relative to the working directory, or starting with ~",
		},
		oldText: { type: "string", description: OLD_TEXT },
		newText: { type: "string", description: NEW_TEXT },
		replaceAll: { type: "boolean", description: REPLACE_ALL },
		edits: {
			type: "array",
			items: {
				type: "object",
				properties: {
					oldText: { type: "string", description: OLD_TEXT },
					newText: { type: "string", description: NEW_TEXT },
					replaceAll: { type: "boolean", description: REPLACE_ALL },
				},
				required: ["oldText", "newText"],
			},
			minItems: 1,
			description:
				"Several replacements in the same file, instead of oldText and newText. Each is matched against the current file, and they must not overlap. Either all are made or none.",
		},
	},
	required: ["path"],
} as const;

export const editTool = defineTool<typeof parameters, EditToolDetails>({
	name: "edit",
	description:
		"Replace text in a file: one passage with oldText and newText, or several with edits. The file's byte order mark and line endings are preserved.",
	parameters,
	promptLine: "replace exact passages of a file",
	guidelines: [
		"edit: keep oldText as short as possible while it still occurs only once; make several changes to one file in one call.",
	],
	async run({ path, oldText, newText, replaceAll = false, edits }, { host, signal }) {
		signal.throwIfAborted();
		const wanted = chooseEdits({ oldText, newText, replaceAll }, edits);
		if (typeof wanted === "string") return failed(wanted);
		const file = await resolvePath(host, path);
		const shown = displayPath(host.cwd, file);
		let bytes: Buffer;
		try {
			bytes = await readFile(host, file, { signal });
		} catch (thrown) {
			signal.throwIfAborted();
			return failedOnFile(host, file, thrown);
		}
		const content = decode(bytes);
		if (content === undefined) {
			return failed(
				`${shown} is ${binaryKind(bytes) ?? "not UTF-8 text"}: an edit would damage it. Use bash to change it.`,
			);
		}
		const plan = planEdits(content, wanted);
		if ("problem" in plan) return failed(`${shown} was not changed: ${plan.problem}`);
		const changed = applyReplacements(content, plan.replacements);
		if (changed === content) return failed(`${shown} was not changed: it already has the edited content.`);
		signal.throwIfAborted();
		let written: WrittenFile;
		try {
			written = await host.writeFile(file, changed, { signal });
		} catch (thrown) {
			signal.throwIfAborted();
			return failedToWrite(host, file, thrown);
		}
		const warning = await warnOfSensitivePath(host, file, written.realPath);
		const details = await diffLines(content, changed);
		const text = describe(shown, content, plan.replacements, details);
		return { content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }], details };
	},
});

/** @returns a problem as text if the arguments are invalid */
function chooseEdits(
	{ oldText, newText, replaceAll }: Partial<Edit> & { replaceAll: boolean },
	edits: readonly Edit[] = [],
): readonly Edit[] | string {
	if (edits.length > 0) {
		if (oldText !== undefined || newText !== undefined) return "Give either oldText and newText, or edits, not both.";
		// It could mean all of them or only some.
		return replaceAll ? "Give replaceAll in those edits that it is for." : edits;
	}
	if (oldText !== undefined && newText !== undefined) return [{ oldText, newText, replaceAll }];
	const missing = oldText === undefined ? (newText === undefined ? "oldText and newText" : "oldText") : "newText";
	return `Missing ${missing}. Give oldText and newText, or edits: [{oldText, newText}, …].`;
}

/** undefined for a file that is not UTF-8 text. A byte order mark is preserved. */
function decode(bytes: Buffer): string | undefined {
	if (binaryKind(bytes) !== undefined) return undefined;
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

function describe(shown: string, content: string, replacements: readonly Replacement[], diff: EditToolDetails): string {
	const { length } = replacements;
	const lines = replacements.slice(0, MAX_LINES).map(({ start }) => lineAt(content, start));
	const where = `${length === 1 ? "line" : "lines"} ${lines.join(", ")}${length > MAX_LINES ? ", …" : ""}`;
	const tolerated = replacements.some(({ isTolerant }) => isTolerant)
		? " oldText matched only after ignoring trailing whitespace or typographic characters."
		: "";
	return `Edited ${shown}: ${plural(length, "place")} (${where}), ${plural(diff.added, "line")} added, ${diff.removed} removed.${tolerated}`;
}
