import type { ImageContent } from "@mariozechner/pi-ai";

/** Where a mode writes. */
export interface ModeIO {
	/** Answers. Resolves when the reader has room again; never rejects: a reader that is gone ends the program quietly. */
	out(text: string): Promise<void>;
	/** Progress and problems. */
	err(text: string): void;
	/** Says what is done when the reader of answers is gone; without it the program then ends at once. */
	onReaderGone?(end: () => void): void;
	/** True when answers go to a terminal: then they are stripped of control sequences. */
	outIsTerminal: boolean;
}

/** What the command line asks the agent. */
export interface ModePrompts {
	first?: { text: string; images: readonly ImageContent[] };
	rest: readonly string[];
}

/** How a program ends: 0 done, 1 failed, 2 bad usage, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** True for the failure of a command: whoever ran it is told, and need not be told twice. */
export function isOfCommand({ event }: { event: string }): boolean {
	return /^\/\S+$/.test(event);
}
