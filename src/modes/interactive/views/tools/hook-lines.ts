import { type Drawing, drawCall, drawResult, readDrawn, type ToolRenderer } from "../../../../hooks/tool-drawing.js";
import { moreLines } from "../../../../tui/contained.js";
import type { Theme } from "../../../../tui/theme.js";
import { hookTheme } from "../../hook-theme.js";
import { cleanLine, cleanLines, clipLine, styled, wrapLines } from "../../lines.js";
import type { ViewStyle } from "../view.js";
import type { ToolCallState } from "./presenter.js";

/** Limits of a drawn call or result: lines, and characters of each. */
const MAX_LINES = 500;
const MAX_LINE_LENGTH = 2000;

/** What a hook drew of a call of its tool. */
export interface HookLines {
	/** null: shown as the call of any tool. */
	call: string[] | null;
	/** null: shown as the result of any tool. */
	result: string[] | null;
	/** Lines that name each failure of the hook. */
	errors: string[];
}

/**
 * Draws a call with the functions of its hook: lines without control sequences except styles.
 * @param widths columns of the call and of its result
 */
export function hookLines(
	renderer: ToolRenderer,
	{ args, result, phase, isError }: ToolCallState,
	widths: { call: number; result: number },
	style: ViewStyle,
): HookLines {
	const theme = hookTheme(style.theme);
	const isComplete = phase !== "writing";
	const options = { expanded: style.expanded !== false, isPartial: phase !== "finished", isError };
	const errors: string[] = [];
	const accept = (drawing: Drawing<string[]> | null): string[] | null => {
		if (drawing === null || "drawn" in drawing) return drawing?.drawn ?? null;
		errors.push(...styled(wrapLines([`✗ ${cleanLine(drawing.error)}`], widths.result), theme.error));
		return null;
	};
	const call = isComplete
		? accept(drawCall(renderer, args, theme, (drawn) => safeRows(drawn, widths.call, style.theme)))
		: null;
	const shown = result
		? accept(drawResult(renderer, result, options, theme, (drawn) => safeRows(drawn, widths.result, style.theme)))
		: null;
	// A block that still grows must fit on the screen.
	return { call, result: phase === "running" ? (shown?.slice(-style.liveRows()) ?? null) : shown, errors };
}

/**
 * Rows of what a hook draws: text is wrapped, and rows of a component that are too wide are cut. If there are more than
 * `MAX_LINES`, the last one says how many are missing.
 * @throws TypeError for anything else
 */
export function safeRows(
	drawn: unknown,
	width: number,
	theme: Theme,
	wrap: (lines: string[], width: number) => string[] = wrapLines,
): string[] {
	const { rows, others } = rowsOf(readDrawn(drawn, width), width, wrap);
	const missing = rows.length + others - MAX_LINES;
	return missing > 0 ? [...rows.slice(0, MAX_LINES - 1), theme.dim(clipLine(moreLines(missing + 1), width))] : rows;
}

/** `others`: the number of rows that were not read. */
function rowsOf(
	read: ReturnType<typeof readDrawn>,
	width: number,
	wrap: (lines: string[], width: number) => string[],
): { rows: string[]; others: number } {
	if ("text" in read) {
		const text = read.text.trimEnd();
		return { rows: text === "" ? [] : wrap(cleanLines(text, MAX_LINE_LENGTH), width), others: 0 };
	}
	const lines = read.lines.slice(0, MAX_LINES).flatMap((line) => cleanLines(line, MAX_LINE_LENGTH));
	return { rows: lines.map((line) => clipLine(line, width)), others: Math.max(0, read.lines.length - MAX_LINES) };
}
