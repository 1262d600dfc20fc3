import { isatty } from "node:tty";
import { nearest } from "../util/nearest.js";
import type { ParsedArguments } from "./options.js";
import { usage } from "./parser.js";
import { parseSessionArgs } from "./session-args.js";
import { isSubcommandName, SUBCOMMAND_ACTIONS, SUBCOMMAND_NAMES } from "./subcommand-names.js";
import { readLine } from "./terminal-answer.js";

/**
 * Parses a command line. Asks on a terminal, in line mode, whether nearly a subcommand is one: a prompt costs money.
 * @throws PiError `bad_arguments` that names the argument and suggests the nearest valid one
 */
export async function readCommandLine(argv: readonly string[]): Promise<ParsedArguments> {
	const meant = nearSubcommand(argv);
	if (meant === null) return parse(argv);
	const [word = ""] = argv;
	const command = `pi ${meant.join(" ")}`;
	const problem = usage(`${JSON.stringify(word)} is not a command`, `did you mean ${command}? Quotes make it a prompt`);
	if (!isatty(0) || !isatty(1)) throw problem;
	process.stderr.write(`pi: ${JSON.stringify(word)} is not a command. Run "${command}" instead?\n`);
	process.stderr.write("y runs it · p sends the words as a prompt · Enter ends pi: ");
	const answer = (await readLine()).trim().toLowerCase();
	if (answer === "y" || answer === "yes") return parse(meant);
	if (answer === "p") return parse(argv);
	throw problem;
}

/** The parser of subcommands is not needed for the first paint. */
async function parse(argv: readonly string[]): Promise<ParsedArguments> {
	const [first = ""] = argv;
	const isForSession = first !== "acp" && first !== "help" && !isSubcommandName(first);
	return isForSession ? parseSessionArgs(argv) : (await import("./args.js")).parseArgs(argv);
}

/** Options that say that the words are a prompt. */
const PROMPT_OPTIONS: ReadonlySet<string> = new Set(["-p", "--print", "--mode"]);
/** A typing error adds or drops at most this many letters. */
const MAX_LENGTH_DIFFERENCE = 2;
/** Subcommands with one operand. */
const WITH_OPERAND: ReadonlySet<string> = new Set(["install", "update", "remove"]);

/**
 * The command line that was probably meant by one that starts with nearly a subcommand, such as `session list`.
 * @returns null if the words are a prompt: with `--print`, or when the others are not what the subcommand accepts
 */
export function nearSubcommand(argv: readonly string[]): string[] | null {
	const [first = "", ...rest] = argv;
	if (!/^[a-z]+$/i.test(first) || isSubcommandName(first) || first === "acp" || first === "help") return null;
	if (argv.includes("--") || argv.some((word) => PROMPT_OPTIONS.has(word.split("=")[0] ?? ""))) return null;
	const words = rest.filter((word) => !word.startsWith("-"));
	const name = nearest(first, ["help", ...SUBCOMMAND_NAMES]).find((candidate) => isClose(first, candidate));
	if (name === undefined) return null;
	const [action] = words;
	const accepts =
		action === undefined ||
		SUBCOMMAND_ACTIONS[name]?.includes(action) === true ||
		(words.length === 1 && WITH_OPERAND.has(name));
	return accepts ? [name, ...rest] : null;
}

function isClose(word: string, name: string): boolean {
	return Math.abs(word.length - name.length) <= MAX_LENGTH_DIFFERENCE;
}
