import { Type } from "typebox";
import { describeError } from "../errors.js";
import { atomicWriteFile, readRegularFile } from "../util/fs.js";
import { applyReplacements, type Edit, lineAt, planEdits, type Replacement } from "./edit-match.js";
import { binaryKind } from "./file-type.js";
import { diffLines } from "./line-diff.js";
import { count } from "./output.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failed, failedOnFile } from "./result.js";
import { defineTool, type EditToolDetails } from "./tool.js";

const OLD_TEXT =
	"Text to replace, exactly as it stands in the file, with its indentation. It must occur once only: take in lines around it until it does.";
const NEW_TEXT = "Text to put in its place; empty to delete";

const parameters = Type.Object({
	path: Type.String({ description: "File to change: absolute, relative to the working directory, or starting with ~" }),
	oldText: Type.Optional(Type.String({ description: OLD_TEXT })),
	newText: Type.Optional(Type.String({ description: NEW_TEXT })),
	edits: Type.Optional(
		Type.Array(
			Type.Object({ oldText: Type.String({ description: OLD_TEXT }), newText: Type.String({ description: NEW_TEXT }) }),
			{
				minItems: 1,
				description:
					"Several replacements in the same file, in place of oldText and newText. Each is matched against the file as it is now, and they must not overlap. All are made or none.",
			},
		),
	),
});

export const editTool = defineTool<typeof parameters, EditToolDetails>({
	name: "edit",
	description:
		"Replace text in a file: one place with oldText and newText, or several with edits. Byte order mark and line ends of the file are kept.",
	parameters,
	promptLine: "replace exact pieces of a file",
	guidelines: [
		"edit: keep oldText as short as it can be and still occur once; put several changes to one file into one call.",
	],
	async run({ path, oldText, newText, edits }, { cwd, signal }) {
		signal.throwIfAborted();
		const wanted = chooseEdits(oldText, newText, edits);
		if (typeof wanted === "string") return failed(wanted);
		const file = resolvePath(cwd, path);
		const shown = displayPath(cwd, file);
		let bytes: Buffer;
		try {
			bytes = await readRegularFile(file);
		} catch (thrown) {
			return failedOnFile(cwd, file, thrown);
		}
		const content = decode(bytes);
		if (content === undefined) {
			return failed(
				`${shown} is ${binaryKind(bytes) ?? "not UTF-8 text"}: an edit would damage it. Change it with bash.`,
			);
		}
		const plan = planEdits(content, wanted);
		if ("problem" in plan) return failed(`${shown} was not changed: ${plan.problem}`);
		const warning = warnOfSensitivePath(cwd, file);
		const changed = applyReplacements(content, plan.replacements);
		if (changed === content) return failed(`${shown} was not changed: it already reads as it would after the edit.`);
		signal.throwIfAborted();
		try {
			await atomicWriteFile(file, changed);
		} catch (thrown) {
			return failed(`Cannot write ${shown}: ${describeError(thrown)}.`);
		}
		const details = await diffLines(content, changed);
		const text = describe(shown, content, plan.replacements, details);
		return { content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }], details };
	},
});

/** @returns what is wrong with the arguments when they are no edits */
function chooseEdits(oldText?: string, newText?: string, edits?: Edit[]): Edit[] | string {
	if (edits !== undefined && edits.length > 0) {
		if (oldText === undefined && newText === undefined) return edits;
		return "Give either oldText and newText, or edits, not both.";
	}
	if (oldText !== undefined && newText !== undefined) return [{ oldText, newText }];
	const missing = oldText === undefined ? (newText === undefined ? "oldText and newText" : "oldText") : "newText";
	return `${missing} missing. Give oldText and newText, or edits: [{oldText, newText}, …].`;
}

/** undefined for what is not UTF-8 text; a byte order mark stays in front. */
function decode(bytes: Buffer): string | undefined {
	if (binaryKind(bytes) !== undefined) return undefined;
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

function describe(
	shown: string,
	content: string,
	replacements: readonly Replacement[],
	{ added, removed }: EditToolDetails,
): string {
	const places = count(replacements.length, "place");
	const lines = replacements.map(({ start }) => lineAt(content, start));
	const where = `${lines.length === 1 ? "line" : "lines"} ${lines.slice(0, 10).join(", ")}${lines.length > 10 ? ", …" : ""}`;
	const tolerated = replacements.some(({ isTolerant }) => isTolerant)
		? " oldText fitted only with trailing whitespace or typographic characters set aside."
		: "";
	return `Edited ${shown}: ${places} (${where}), ${count(added, "line")} added, ${removed} removed.${tolerated}`;
}
