import type { SourceImage } from "../images/sent-image.js";
import type { RunLimits } from "./run-limits.js";

/** Output streams of a mode. */
export interface ModeIO {
	/** Writes answers. Resolves when the reader accepts more. Never rejects. */
	out(text: string): Promise<void>;
	/** Writes progress and problems. */
	err(text: string): void;
	/**
	 * Sets what happens when no more answers can be written, such as after their reader has closed the output. Default: the
	 * program exits immediately.
	 * @param end receives the exit code
	 */
	onOutputLost?(end: (code: number) => void): void;
	/** True when answers go to a terminal, for which control sequences are stripped. */
	outIsTerminal: boolean;
	/** Columns of that terminal; absent if unknown. */
	columns?: number;
}

/** Prompts of the command line. */
export interface ModePrompts {
	first?: { text: string; images: readonly SourceImage[] };
	rest: readonly string[];
	/** What the prompts may take together. */
	limits?: RunLimits;
	/** JSON Schema that the answer to the last prompt must match. It is then all that goes to stdout. */
	outputSchema?: Readonly<Record<string, unknown>>;
}

/** 0 success, 1 error, 2 invalid usage, 3 a limit was reached, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** True for errors of a command or shortcut: its caller reports them, so the mode must not report them again. */
export function isOfCommand({ event }: { event: string }): boolean {
	return /^(?:\/|shortcut )\S+$/.test(event);
}
