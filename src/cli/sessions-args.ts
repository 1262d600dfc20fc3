import type { SessionsSubcommand } from "./options.js";
import { choose, type ParsedOptions, takeAtMost, usage } from "./parser.js";

/** The actions of `pi sessions`. */
export const SESSION_ACTIONS = ["list", "show", "search", "check", "repair", "import"] as const;

/** Reads the operands of `pi sessions`. @throws PiError `bad_arguments` */
export function readSessions(operands: readonly string[], options: ParsedOptions): SessionsSubcommand {
	const [word = "list", ...rest] = operands;
	const action = choose("sessions", word, SESSION_ACTIONS);
	const all = options.flag("all") ? ({ all: true } as const) : {};
	if (options.flag("all") && action === "import") throw usage("--all does not work with pi sessions import");
	if (options.flag("all") && options.text("sessionDir") !== undefined)
		throw usage("--all and --session-dir cannot be combined");
	if (action === "search") return { name: "sessions", action, text: searchedText(rest), ...all };
	takeAtMost(`sessions ${action}`, rest, 1);
	const [target] = rest;
	switch (action) {
		case "list":
			return { name: "sessions", action, ...(target !== undefined && { search: target }), ...all };
		case "check":
			return { name: "sessions", action, ...(target !== undefined && { target }), ...all };
		case "import":
			if (target === undefined)
				throw usage("pi sessions import <file>: missing file", "pi sessions --help explains it");
			return { name: "sessions", action, file: target };
		default:
			if (target === undefined)
				throw usage(`pi sessions ${action} <id>: missing id`, "pi sessions list prints the ids");
			return { name: "sessions", action, target, ...all };
	}
}

/** Several words are one text, so that it needs no quotes. */
function searchedText(words: readonly string[]): string {
	const text = words.join(" ");
	if (text.trim() === "") throw usage("pi sessions search <text>: missing text", "pi sessions --help explains it");
	return text;
}
