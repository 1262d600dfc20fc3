import { nearest } from "../util/nearest.js";
import { isSubcommandName, SUBCOMMAND_ACTIONS, SUBCOMMAND_NAMES } from "./subcommand-args.js";

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
