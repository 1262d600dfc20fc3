import type { ModeIO } from "../../src/modes/mode.js";

/** A `ModeIO` that records its calls. */
export function recordIO(outIsTerminal = false, columns?: number): ModeIO & { stdout(): string; stderr(): string } {
	let stdout = "";
	let stderr = "";
	return {
		out: async (text) => {
			stdout += text;
		},
		err: (text) => {
			stderr += text;
		},
		outIsTerminal,
		...(columns !== undefined && { columns }),
		stdout: () => stdout,
		stderr: () => stderr,
	};
}
