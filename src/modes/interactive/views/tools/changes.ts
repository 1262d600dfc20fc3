import { type DiffLine, parseDiff, proposedDiff } from "../../../../util/read-diff.js";
import { loadWordDiff, wordDiff } from "../../../../util/word-diff.js";
import { plural } from "../../../format.js";
import type { ViewStyle } from "../view.js";
import { drawDiff } from "./diff-lines.js";
import { shownPath } from "./lookups.js";
import { more, PREVIEW_LINES, shareOf } from "./output.js";
import { detail, field, numberDetail, type ToolCallState, type ToolPresenter, textArg } from "./presenter.js";

/** Lines of a diff in a preview: room for a few changes with the lines around them. */
const PREVIEW_DIFF_LINES = 16;
/** Maximum rows of one changed line in a preview. */
const PREVIEW_ROWS = 3;

/** `edit src/price.ts … +1 −1`, then the changed lines with the lines around them; before the tool has run, the requested change. */
export const editPresenter: ToolPresenter = {
	subject: shownPath,
	status(call) {
		if (call.phase !== "finished" || call.isError) return undefined;
		const added = numberDetail(call, "added");
		const removed = numberDetail(call, "removed");
		return added === undefined || removed === undefined ? "" : `+${added} −${removed}`;
	},
	body(call, width, style) {
		if (call.phase === "finished" && call.isError) return [];
		const diff = detail(call, "diff");
		const lines = typeof diff === "string" ? parseDiff(diff) : proposed(call);
		return drawn(lines, width, style);
	},
	pending(_call, onReady) {
		if (wordDiff()) return false;
		loadWordDiff().then(onReady, onReady);
		return true;
	},
};

/** `write src/tax.ts … created · 40 lines`, then the beginning of the file. */
export const writePresenter: ToolPresenter = {
	subject: shownPath,
	status(call) {
		if (call.phase !== "finished" || call.isError) return undefined;
		const lines = numberDetail(call, "lines");
		const how = detail(call, "created") === true ? "created" : "replaced";
		return lines === undefined ? how : `${how} · ${plural(lines, "line")}`;
	},
	body(call, width, style) {
		const content = textArg(call, "content");
		if (!content || (call.phase === "finished" && call.isError)) return [];
		// A large file streams in: wrap only the visible part in each frame.
		const start = style.expanded ? content : content.slice(0, (PREVIEW_LINES + 1) * 1000);
		const total = style.expanded ? undefined : countLines(content);
		return drawn(
			proposedDiff("", start).map((line, row) => ({ ...line, number: String(row + 1) })),
			width,
			style,
			total,
		);
	},
};

/** @param total number of lines of the file, when `lines` contains only its beginning */
function drawn(lines: readonly DiffLine[], width: number, style: ViewStyle, total?: number): string[] {
	const { shown, rest } = shareOf(
		total ?? lines.length,
		style,
		total === undefined ? PREVIEW_DIFF_LINES : PREVIEW_LINES,
	);
	const rows = style.expanded ? Number.POSITIVE_INFINITY : total === undefined ? PREVIEW_ROWS : 1;
	const drawnLines = drawDiff(lines, { width, lines: shown, rows }, style.theme, wordDiff());
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
