import { plural } from "../../format.js";
import { clipLine, wrapLines } from "../../lines.js";
import type { Look } from "../view.js";
import { changesOnly, type DiffLine, drawDiff, parseDiff, proposedDiff } from "./diff-lines.js";
import { shownPath } from "./lookups.js";
import { headOfLines, PREVIEW_LINES } from "./output.js";
import { detail, numberDetail, type ToolCallState, type ToolPresenter, textArg } from "./presenter.js";
import { loadWordDiff, wordDiff } from "./word-diff.js";

/** `edit src/price.ts … +1 −1`, then the lines that changed; before it has run, the change it asks for. */
export const editPresenter: ToolPresenter = {
	subject: shownPath,
	outcome(call) {
		if (call.phase !== "finished" || call.isError) return "";
		const added = numberDetail(call, "added");
		const removed = numberDetail(call, "removed");
		return added === undefined || removed === undefined ? "" : `+${added} −${removed}`;
	},
	body(call, width, look) {
		if (call.phase === "finished" && call.isError) return [];
		const diff = detail(call, "diff");
		const lines = typeof diff === "string" ? parseDiff(diff) : proposed(call);
		return drawn(lines, width, look);
	},
	pending(_call, onReady) {
		if (wordDiff()) return false;
		loadWordDiff().then(onReady, onReady);
		return true;
	},
};

/** `write src/tax.ts … created · 40 lines`, then how the file begins. */
export const writePresenter: ToolPresenter = {
	subject: shownPath,
	outcome(call) {
		if (call.phase !== "finished" || call.isError) return "";
		const lines = numberDetail(call, "lines");
		const how = detail(call, "created") === true ? "created" : "replaced";
		return lines === undefined ? how : `${how} · ${plural(lines, "line")}`;
	},
	body(call, width, look) {
		const content = textArg(call, "content");
		if (!content || (call.phase === "finished" && call.isError)) return [];
		// A large file arrives bit by bit: only what can be shown is laid out each time.
		const start = look.expanded ? content : content.slice(0, (PREVIEW_LINES + 1) * 1000);
		const total = look.expanded ? undefined : countLines(content);
		return drawn(
			proposedDiff("", start).map((line, row) => ({ ...line, number: String(row + 1) })),
			width,
			look,
			total,
		);
	},
};

function drawn(lines: readonly DiffLine[], width: number, look: Look, total?: number): string[] {
	if (look.expanded) {
		const all = wrapLines(drawDiff(lines, look.theme, wordDiff()), width);
		return headOfLines(all, all.length, width, look);
	}
	const changed = changesOnly(lines);
	const preview = drawDiff(changed.slice(0, PREVIEW_LINES + 1), look.theme, wordDiff());
	return headOfLines(
		preview.map((line) => clipLine(line, width)),
		total ?? changed.length,
		width,
		look,
	);
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
	if (typeof value !== "object" || value === null) return "";
	const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
	return typeof found === "string" ? found : "";
}

function countLines(text: string): number {
	return text.replace(/\n$/, "").split("\n").length;
}
