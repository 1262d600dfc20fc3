import type { ParsedArguments } from "./options.js";
import { usage } from "./parser.js";
import { parseSessionArgs } from "./session-args.js";
import { parseSubcommand } from "./subcommand-args.js";
import { isSubcommandName, SUBCOMMAND_ACTIONS } from "./subcommand-names.js";

/**
 * Parses a command line (without program and script). Pure: reads no files and no environment.
 * @throws PiError `bad_arguments` that names the argument and suggests the nearest valid one
 */
export function parseArgs(argv: readonly string[]): ParsedArguments {
	const [first, ...rest] = argv;
	if (first === "acp") return parseAcp(rest);
	if (first === "help" && isHelpTopic(rest))
		return rest.length === 0 ? parseSessionArgs(["--help"]) : { kind: "help", topic: rest };
	if (first !== undefined && isSubcommandName(first)) return parseSubcommand(first, rest);
	return parseSessionArgs(argv);
}

/** Whether the words after `help` ask for the help of pi or of a subcommand; otherwise the line is a prompt. */
function isHelpTopic([name, action, ...more]: readonly string[]): boolean {
	if (name === undefined) return true;
	const isName = name === "acp" || isSubcommandName(name);
	return isName && more.length === 0 && (action === undefined || SUBCOMMAND_ACTIONS[name]?.includes(action) === true);
}

/** Parses the arguments of `pi acp`: those of a session, except the ones that choose a session, a prompt or an output. */
function parseAcp(argv: readonly string[]): ParsedArguments {
	const isLogin = argv.includes("--login");
	const line = parseSessionArgs(argv.filter((word) => word !== "--login"));
	if (line.kind === "help") return { kind: "help", topic: ["acp"] };
	if (line.kind === "version") return line;
	if (line.kind !== "session") throw usage("pi acp: expected only options", "pi acp --help lists them");
	const { options } = line;
	const refused = [
		options.mode !== undefined && "--mode",
		options.print && "--print",
		options.plain && "--plain",
		options.continue && "--continue",
		options.resume && "--resume",
		options.resumeOrNew !== undefined && "--resume-or-new",
		options.session !== undefined && "--session",
		options.export !== undefined && "--export",
		options.listModels !== undefined && "--list-models",
		options.demo && "--demo",
	].find((name) => name !== false);
	if (refused !== undefined)
		throw usage(`pi acp does not accept ${refused}`, "the client chooses sessions and prompts");
	const word = options.messages[0] ?? options.files.map((file) => `@${file}`)[0];
	if (word !== undefined)
		throw usage(`pi acp: unexpected argument ${JSON.stringify(word)}`, "the client sends prompts");
	return { kind: "session", options: { ...options, mode: "acp", ...(isLogin ? { login: true as const } : {}) } };
}
