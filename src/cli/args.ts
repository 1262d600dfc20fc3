import { Command, Option } from "commander";
import { THINKING_LEVELS } from "../log/entry.js";
import type { CliOptions, ParsedArguments } from "./options.js";
import { addList, addOne, nonEmpty, type ParsedOptions, runParser, usage } from "./parser.js";
import { isSubcommandName, parseSubcommand } from "./subcommand-args.js";

const MODES = ["text", "json", "rpc"] as const;

/**
 * Parses a command line (without program and script). Pure: reads no files and no environment.
 * @throws PiError `bad_arguments` that names the argument and suggests the nearest valid one
 */
export function parseArgs(argv: readonly string[]): ParsedArguments {
	const [first, ...rest] = argv;
	if (first !== undefined && isSubcommandName(first)) return parseSubcommand(first, rest);
	const separator = argv.indexOf("--");
	const literal = separator === -1 ? [] : argv.slice(separator + 1);
	const command = sessionCommand();
	const { options, operands } = runParser(command, separator === -1 ? argv : argv.slice(0, separator));
	if (options.flag("help")) return { kind: "help" };
	if (options.flag("version")) return { kind: "version" };
	return { kind: "session", options: sessionOptions(options, operands, literal) };
}

function sessionCommand(): Command {
	return new Command("pi")
		.option("--provider <name>")
		.option("--model <name>")
		.option("--models <names>", "", addList)
		.option("--api-key <key>")
		.addOption(new Option("--thinking <level>").choices(THINKING_LEVELS))
		.option("--list-models [search]")
		.option("-c, --continue")
		.option("-r, --resume")
		.option("--session <path>")
		.option("--session-dir <dir>")
		.option("--no-session")
		.option("--export <file>")
		.option("-p, --print")
		.option("--plain")
		.addOption(new Option("--mode <mode>").choices(MODES))
		.option("--verbose")
		.option("--system-prompt <text>")
		.option("--append-system-prompt <text>", "", addOne)
		.option("--tools <names>", "", addList)
		.option("--no-tools")
		.option("--tool <file>", "", addOne)
		.option("--hook <file>", "", addOne)
		.option("--no-hooks")
		.option("--skill <path>", "", addOne)
		.option("--no-skills")
		.option("--no-context-files")
		.option("--trust")
		.option("--demo")
		.option("--offline")
		.option("-h, --help")
		.option("-v, --version");
}

function sessionOptions(options: ParsedOptions, operands: readonly string[], literal: readonly string[]): CliOptions {
	const exported = options.text("export");
	// `--export <file> [<out>]`: the word after the file is the output file, not a message.
	const words = exported === undefined ? operands : operands.slice(1);
	const parsed: CliOptions = {
		provider: options.text("provider"),
		model: options.text("model"),
		models: nonEmpty(options.texts("models")),
		apiKey: options.text("apiKey"),
		thinking: options.oneOf("thinking", THINKING_LEVELS),
		print: options.flag("print"),
		plain: options.flag("plain"),
		mode: options.oneOf("mode", MODES),
		continue: options.flag("continue"),
		resume: options.flag("resume"),
		session: options.text("session"),
		keepSession: options.notNegated("session"),
		sessionDir: options.text("sessionDir"),
		systemPrompt: options.text("systemPrompt"),
		appendSystemPrompt: options.texts("appendSystemPrompt"),
		tools: options.notNegated("tools") ? nonEmpty(options.texts("tools")) : [],
		customTools: options.texts("tool"),
		hooks: options.texts("hook"),
		findHooks: options.notNegated("hooks"),
		skills: options.texts("skill"),
		findSkills: options.notNegated("skills"),
		contextFiles: options.notNegated("contextFiles"),
		trust: options.flag("trust"),
		offline: options.flag("offline"),
		export: exported === undefined ? undefined : { file: exported, out: operands[0] },
		listModels: options.flag("listModels") ? "" : options.text("listModels"),
		demo: options.flag("demo"),
		verbose: options.flag("verbose"),
		files: words.filter(isFileArgument).map((word) => word.slice(1)),
		messages: [...words.filter((word) => !isFileArgument(word)), ...literal],
	};
	checkTogether(parsed);
	return parsed;
}

/** Rejects options that contradict each other. */
function checkTogether(options: CliOptions): void {
	const sources = [
		options.continue && "--continue",
		options.resume && "--resume",
		options.session !== undefined && "--session",
		!options.keepSession && "--no-session",
	].filter((name) => name !== false);
	if (sources.length > 1) throw usage(`${sources.join(" and ")} cannot be combined`);
	if (options.resume && (options.print || options.mode !== undefined)) {
		throw usage("--resume requires an interactive session", "use --continue, or --session with a path or id");
	}
	if (options.plain && (options.mode === "json" || options.mode === "rpc")) {
		throw usage(`--plain and --mode ${options.mode} cannot be combined`);
	}
	if (options.mode === "rpc" && options.files.length + options.messages.length > 0) {
		throw usage("--mode rpc reads prompts from stdin, not from arguments", "send a prompt command");
	}
}

function isFileArgument(word: string): boolean {
	return word.startsWith("@") && word.length > 1;
}
