import { type Drawing, drawCall, drawResult, type ToolRenderer } from "../../../../hooks/tool-drawing.js";
import { hookTheme } from "../../hook-theme.js";
import { cleanLine, styled, wrapLines } from "../../lines.js";
import { safeRows } from "../custom-entry-view.js";
import type { ViewStyle } from "../view.js";
import type { ToolCallState } from "./presenter.js";

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
