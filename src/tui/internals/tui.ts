import type { TUI } from "@mariozechner/pi-tui";
import { assertMembers } from "./members.js";

/** The private members of `TUI`. */
interface TuiMembers {
	doRender(): void;
	handleInput(data: string): void;
	renderRequested: boolean;
	compositeOverlays(lines: string[], width: number, height: number): string[];
}

/** How pi-tui's screen schedules and composes frames. */
export interface TuiFrames {
	/** Whether a requested frame has not been drawn yet. */
	readonly isRequested: boolean;
	/** Cancels the requested frame. */
	cancelRequest(): void;
	/** Handles a key as if it had been typed. */
	handleInput(data: string): void;
	/** @returns the lines with pi-tui's own overlays drawn over them */
	compositeOverlays(lines: string[], width: number, height: number): string[];
}

/** Replaces the function that draws the screen's frames. @throws TypeError in another version of pi-tui */
export function takeOverFrames(screen: TUI, draw: () => void): TuiFrames {
	const target: object = screen;
	assertMembers<TuiMembers>(target, "TUI", {
		doRender: "function",
		handleInput: "function",
		renderRequested: "boolean",
		compositeOverlays: "function",
	});
	target.doRender = draw;
	return {
		get isRequested() {
			return target.renderRequested;
		},
		cancelRequest: () => {
			target.renderRequested = false;
		},
		handleInput: (data) => target.handleInput(data),
		compositeOverlays: (lines, width, height) => target.compositeOverlays(lines, width, height),
	};
}
