/** Submitted user input. */
export type Submission =
	| { kind: "prompt"; text: string }
	| { kind: "follow_up"; text: string }
	| { kind: "bash"; command: string; excludeFromContext: boolean };

/** What people type to leave a program. */
const QUIT = /^(?:exit|quit|:q!?|:wq)$/;

/**
 * Parses submitted text: `!command`, `!!command` (excluded from the context) or a prompt. A lone `exit` quits.
 * @returns null when empty
 */
export function parseSubmission(text: string): Submission | null {
	const trimmed = text.trim();
	if (!trimmed) return null;
	if (QUIT.test(trimmed)) return { kind: "prompt", text: "/quit" };
	const bash = /^(!!?)\s*([\s\S]*)$/.exec(trimmed);
	if (!bash) return { kind: "prompt", text: trimmed };
	const command = bash[2] ?? "";
	return command ? { kind: "bash", command, excludeFromContext: bash[1] === "!!" } : null;
}
