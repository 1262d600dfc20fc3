import { detail, field, numberDetail, textArg } from "../../../../tools/description.js";
import { languageOf } from "../../../../util/highlight.js";
import { type DiffLine, parseDiff, proposedDiff } from "../../../../util/read-diff.js";
import { loadWordDiff, wordDiff } from "../../../../util/word-diff.js";
import { plural } from "../../../format.js";
import type { ViewStyle } from "../view.js";
import { more, PREVIEW_LINES, shareOf } from "./command-output.js";
import { drawDiff } from "./diff-lines.js";
import type { ToolCallState, ToolPresenter } from "./presenter.js";

/** Lines of a diff in a preview: room for a few changes with the lines around them. */
const PREVIEW_DIFF_LINES = 16;
/** Maximum rows of one changed line in a preview. */
const PREVIEW_ROWS = 3;

/** The changed lines with the lines around them; before the tool has run, the requested change. */
export const editPresenter: ToolPresenter = {
	body(call, width, style) {
		if (call.phase === "finished" && call.isError) return [];
		return drawnChanges(call, width, style) ?? drawn(proposed(call), width, style, call);
	},
	pending: waitsForWords,
};

/** The beginning of the file; the changed lines when it replaced a file that pi could compare. */
export const writePresenter: ToolPresenter = {
	body(call, width, style) {
		if (call.phase === "finished" && call.isError) return [];
		const changes = drawnChanges(call, width, style);
		if (changes) return changes;
		const content = textArg(call, "content");
		if (!content) return [];
		// A large file streams in: wrap only the visible part in each frame.
		const start = style.expanded ? content : content.slice(0, (PREVIEW_LINES + 1) * 1000);
		const total = style.expanded ? undefined : countLines(content);
		// What was added to the old file is unknown.
		const kind = detail(call, "created") === false ? "context" : "added";
		return drawn(
			proposedDiff("", start).map((line, row) => ({ ...line, kind, number: String(row + 1) })),
			width,
			style,
			call,
			total,
		);
	},
	pending: (call, onReady) => typeof detail(call, "diff") === "string" && waitsForWords(call, onReady),
};

/** Loads the comparison by words. @returns whether the call must be drawn again when `onReady` is called */
function waitsForWords(_call: ToolCallState, onReady: () => void): boolean {
	if (wordDiff()) return false;
	loadWordDiff().then(onReady, onReady);
	return true;
}

/** The changed lines with those around them; null if the tool did not compare, or the call has not run. */
function drawnChanges(call: ToolCallState, width: number, style: ViewStyle): string[] | null {
	const diff = detail(call, "diff");
	if (typeof diff !== "string") return null;
	const lines = diff === "" ? [] : parseDiff(diff);
	const kept = lines.filter(({ kind }) => kind === "added" || kind === "removed").length;
	const lost = (numberDetail(call, "added") ?? 0) + (numberDetail(call, "removed") ?? 0) - kept;
	// The details of a large change hold its beginning.
	const end = lost > 0 && style.expanded ? [style.theme.dim(`… ${plural(lost, "more changed line")}`)] : [];
	return [...drawn(lines, width, style, call), ...end];
}

/** @param total number of lines of the file, when `lines` contains only its beginning */
function drawn(
	lines: readonly DiffLine[],
	width: number,
	style: ViewStyle,
	call: ToolCallState,
	total?: number,
): string[] {
	const { shown, rest } = shareOf(
		total ?? lines.length,
		style,
		total === undefined ? PREVIEW_DIFF_LINES : PREVIEW_LINES,
	);
	const rows = style.expanded ? Number.POSITIVE_INFINITY : total === undefined ? PREVIEW_ROWS : 1;
	const colors = { theme: style.theme, words: wordDiff(), language: languageOf(textArg(call, "path")) };
	const drawnLines = drawDiff(lines, { width, lines: shown, rows }, colors);
	return rest > 0 ? [...drawnLines, more(rest, "below", width, style)] : drawnLines;
}

function proposed(call: ToolCallState): DiffLine[] {
	const edits: unknown = call.args.edits;
	const pairs: unknown[] = Array.isArray(edits) ? edits : [call.args];
	return pairs.flatMap((pair, index) => {
		const lines = proposedDiff(textOf(pair, "oldText"), textOf(pair, "newText"));
		return index > 0 ? [{ kind: "gap", number: "", text: "" } as const, ...lines] : lines;
	});
}

function textOf(value: unknown, name: string): string {
	const found = field(value, name);
	return typeof found === "string" ? found : "";
}

function countLines(text: string): number {
	return text.replace(/\n$/, "").split("\n").length;
}
