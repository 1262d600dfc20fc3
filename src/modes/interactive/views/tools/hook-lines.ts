import { type Drawing, drawCall, drawResult, readDrawn, type ToolRenderer } from "../../../../hooks/tool-drawing.js";
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
	const call = isComplete ? accept(drawCall(renderer, args, theme, (drawn) => safeLines(drawn, widths.call))) : null;
	const shown = result
		? accept(drawResult(renderer, result, options, theme, (drawn) => safeLines(drawn, widths.result)))
		: null;
	// A block that still grows must fit on the screen.
	return { call, result: phase === "running" ? (shown?.slice(-style.liveRows()) ?? null) : shown, errors };
}

/** Wraps text, and cuts lines of a component that are too wide. @throws TypeError */
function safeLines(drawn: unknown, width: number): string[] {
	const read = readDrawn(drawn, width);
	if ("text" in read) {
		const text = read.text.trimEnd();
		return text === "" ? [] : wrapLines(cleanLines(text, MAX_LINE_LENGTH), width).slice(0, MAX_LINES);
	}
	const lines = read.lines.slice(0, MAX_LINES).flatMap((line) => cleanLines(line, MAX_LINE_LENGTH));
	return lines.slice(0, MAX_LINES).map((line) => clipLine(line, width));
}
