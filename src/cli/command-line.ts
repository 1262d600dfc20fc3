import { isatty } from "node:tty";
import { parseArgs } from "./args.js";
import { nearSubcommand } from "./near-subcommand.js";
import type { ParsedArguments } from "./options.js";
import { usage } from "./parser.js";

/**
 * Parses a command line. Asks on a terminal, in line mode, whether nearly a subcommand is one: a prompt costs money.
 * @throws PiError `bad_arguments` that names the argument and suggests the nearest valid one
 */
export async function readCommandLine(argv: readonly string[]): Promise<ParsedArguments> {
	const meant = nearSubcommand(argv);
	if (meant === null) return parseArgs(argv);
	const [word = ""] = argv;
	const command = `pi ${meant.join(" ")}`;
	const problem = usage(`${JSON.stringify(word)} is not a command`, `did you mean ${command}? Quotes make it a prompt`);
	if (!isatty(0) || !isatty(1)) throw problem;
	process.stderr.write(`pi: ${JSON.stringify(word)} is not a command. Run "${command}" instead?\n`);
	process.stderr.write("y runs it · p sends the words as a prompt · Enter ends pi: ");
	const answer = (await readLine()).trim().toLowerCase();
	if (answer === "y" || answer === "yes") return parseArgs(meant);
	if (answer === "p") return parseArgs(argv);
	throw problem;
}

/** Reads a line from the terminal, whose line editing is still on: Ctrl+C ends pi. */
function readLine(): Promise<string> {
	const { stdin } = process;
	return new Promise((resolve) => {
		const settle = (line: string) => {
			stdin.off("data", onData).off("end", onEnd).pause();
			resolve(line);
		};
		const onData = (data: Buffer) => settle(data.toString());
		const onEnd = () => settle("");
		stdin.on("data", onData).on("end", onEnd);
	});
}
