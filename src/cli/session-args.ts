import { Command } from "commander";
import { PiError } from "../errors.js";
import type { FlagDeclaration } from "../hooks/flags.js";
import { THINKING_LEVELS } from "../log/entry.js";
import type { RunLimits } from "../modes/run-limits.js";
import type { CliOptions, HookFlags, HookOptions, ParsedArguments } from "./options.js";
import { addFlags, addList, addOne, choiceOption, nonEmpty, type ParsedOptions, runParser, usage } from "./parser.js";

const MODES = ["text", "json", "rpc"] as const;

/**
 * Parses a command line that begins with no subcommand. Pure: reads no files and no environment.
 * @throws PiError `bad_arguments` that names the argument and suggests the nearest valid one
 */
export function parseSessionArgs(argv: readonly string[]): ParsedArguments {
	const { options, operands, literal, unknown } = parseSession(argv, []);
	if (options.flag("version") && !options.flag("help")) return { kind: "version" };
	if (options.flag("help")) return { kind: "help", hooks: hookOptions(options) };
	const isSession = ["export", "listModels"].every((name) => !options.flag(name) && options.text(name) === undefined);
	const refused = unknown.find(({ name }) => name === null || !isSession);
	if (refused) throw refused.problem;
	if (unknown.length === 0) return { kind: "session", options: sessionOptions(options, operands, literal) };
	return { kind: "session", options: { ...sessionOptions(options, [], []), hookFlags: hookFlags(argv) } };
}

/** Parses an unknown option once the hooks that may declare it have loaded. */
function hookFlags(argv: readonly string[]): HookFlags {
	let words: Pick<CliOptions, "files" | "messages"> = { files: [], messages: [] };
	return {
		words: () => words,
		read(declared) {
			const { options, operands, literal, unknown, values, problem } = parseSession(argv, declared);
			try {
				words = sessionOptions(options, operands, literal);
				return { values, problem: unknown[0]?.problem ?? problem };
			} catch (error) {
				if (!(error instanceof PiError)) throw error;
				return { values, problem: unknown[0]?.problem ?? problem ?? error };
			}
		},
	};
}

/** Parses the options of a session, along with flags of hooks. */
function parseSession(argv: readonly string[], declared: readonly FlagDeclaration[]) {
	const command = sessionCommand();
	const flags = addFlags(command, declared);
	return { ...runParser(command, argv, { allowUnknown: true }), ...flags.read() };
}

function sessionCommand(): Command {
	return new Command("pi")
		.option("--provider <name>")
		.option("--model <name>")
		.option("--models <names>", "", addList)
		.option("--api-key <key>")
		.addOption(choiceOption("--thinking <level>", THINKING_LEVELS))
		.option("--list-models [search]")
		.option("-c, --continue")
		.option("-r, --resume")
		.option("--resume-or-new <name>")
		.option("--session <path>")
		.option("--session-dir <dir>")
		.option("--no-session")
		.option("--export <file>")
		.option("-p, --print")
		.option("--max-turns <n>")
		.option("--max-cost <usd>")
		.option("--max-time <duration>")
		.option("--output-schema <schema>")
		.option("--plain")
		.addOption(choiceOption("--mode <mode>", MODES))
		.option("--verbose")
		.option("--system-prompt <text>")
		.option("--append-system-prompt <text>", "", addOne)
		.option("--tools <names>", "", addList)
		.option("--no-tools")
		.option("--tool <file>", "", addOne)
		.option("--hook <file>", "", addOne)
		.option("-e, --extension <file>", "", addOne)
		.option("--no-hooks")
		.option("--skill <path>", "", addOne)
		.option("--no-skills")
		.option("--no-context-files")
		.option("--mcp <file>", "", addOne)
		.option("--no-mcp")
		.option("--trust")
		.option("--demo")
		.option("--on <spec>")
		.option("--offline")
		.option("-h, --help")
		.option("-v, --version");
}

/** A name that looks like an option is the next option: the name was forgotten. @throws PiError `bad_arguments` */
function sessionName(name: string | undefined): string | undefined {
	if (name === undefined || (name.trim() !== "" && !name.startsWith("-"))) return name;
	throw usage(`--resume-or-new ${JSON.stringify(name)}: the name is missing`);
}

function hookOptions(options: ParsedOptions): HookOptions {
	const extensions = nonEmpty(options.texts("extension"));
	return {
		hooks: options.texts("hook"),
		...(extensions ? { extensions } : {}),
		findHooks: options.notNegated("hooks"),
		trust: options.flag("trust"),
	};
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
		...limitOptions(options),
		outputSchema: options.text("outputSchema"),
		plain: options.flag("plain"),
		mode: options.oneOf("mode", MODES),
		continue: options.flag("continue"),
		resume: options.flag("resume"),
		session: options.text("session"),
		resumeOrNew: sessionName(options.text("resumeOrNew")),
		keepSession: options.notNegated("session"),
		sessionDir: options.text("sessionDir"),
		systemPrompt: options.text("systemPrompt"),
		appendSystemPrompt: options.texts("appendSystemPrompt"),
		tools: options.notNegated("tools") ? nonEmpty(options.texts("tools")) : [],
		customTools: options.texts("tool"),
		...hookOptions(options),
		skills: options.texts("skill"),
		findSkills: options.notNegated("skills"),
		contextFiles: options.notNegated("contextFiles"),
		mcpFiles: options.texts("mcp"),
		mcp: options.notNegated("mcp"),
		on: options.text("on"),
		offline: options.flag("offline"),
		export: exported === undefined ? undefined : { file: exported, out: operands[0] },
		listModels: options.flag("listModels") ? "" : options.text("listModels"),
		demo: options.flag("demo"),
		verbose: options.flag("verbose"),
		files: words.filter(isFileArgument).map((word) => word.slice(1)),
		messages: joinWords([...words.filter((word) => !isFileArgument(word)), ...literal]),
	};
	checkTogether(parsed);
	return parsed;
}

/** @throws PiError `bad_arguments` for a limit that is not a positive amount */
function limitOptions(options: ParsedOptions): Pick<CliOptions, "limits"> {
	const limits: RunLimits = {};
	const read = (option: keyof RunLimits, name: string, toNumber: (text: string) => number | null, example: string) => {
		const text = options.text(name);
		if (text === undefined) return;
		const value = toNumber(text);
		if (value === null || !(value > 0 && Number.isFinite(value)))
			throw usage(`--max-${option}: ${JSON.stringify(text)} is no limit`, `use ${example}`);
		limits[option] = value;
	};
	read("turns", "maxTurns", (text) => (/^\d{1,9}$/.test(text) ? Number(text) : null), "a number such as 20");
	read(
		"cost",
		"maxCost",
		(text) => (/^\$?\d{1,9}(\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : null),
		"USD such as 0.50",
	);
	read("time", "maxTime", readDuration, "30s, 5m or 1h");
	return Object.keys(limits).length > 0 ? { limits } : {};
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** A duration such as `30s`, `5m` or `1.5h` in ms; null for another text, and for 0. */
function readDuration(text: string): number | null {
	const [, amount = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)([smh])$/.exec(text) ?? [];
	const ms = Number(amount) * (UNITS[unit] ?? 0);
	// Longer timers of Node fire at once.
	return ms > 0 && ms < 2 ** 31 ? ms : null;
}

/** Rejects options that contradict each other. */
function checkTogether(options: CliOptions): void {
	const sources = [
		options.continue && "--continue",
		options.resume && "--resume",
		options.resumeOrNew !== undefined && "--resume-or-new",
		options.session !== undefined && "--session",
		!options.keepSession && "--no-session",
	].filter((name) => name !== false);
	if (sources.length > 1) throw usage(`${sources.join(" and ")} cannot be combined`);
	if (options.resume && (options.print || options.mode !== undefined)) {
		throw usage("--resume requires an interactive session", "use --continue, or --session with a path or id");
	}
	const isHeadlessMode = options.print ? options.mode !== "rpc" : options.mode === "text" || options.mode === "json";
	if (options.outputSchema !== undefined && !isHeadlessMode)
		throw usage("--output-schema needs --print or --mode json", "in RPC mode, prompt has outputSchema");
	if (options.limits && !(options.print || options.mode === "text" || options.mode === "json"))
		throw usage(
			"--max-turns, --max-cost and --max-time need --print or --mode json",
			"Escape stops a run on the screen",
		);
	if (options.plain && (options.mode === "json" || options.mode === "rpc")) {
		throw usage(`--plain and --mode ${options.mode} cannot be combined`);
	}
	if (options.export !== undefined) {
		const other = options.print ? "--print" : options.mode !== undefined && "--mode";
		if (other) throw usage(`--export and ${other} cannot be combined`);
		const [extra] = [...options.messages, ...options.files];
		if (extra !== undefined)
			throw usage(`--export: unexpected argument ${JSON.stringify(extra)}`, "use --export <session> [<file>]");
	}
	if (options.mode === "rpc" && options.files.length + options.messages.length > 0) {
		throw usage("--mode rpc reads prompts from stdin, not from arguments", "send a prompt command");
	}
}

/**
 * The messages of a command line: words without quotes are one, as in `pi fix the tests`. Texts with blanks are messages of
 * their own, and so are slash commands between them, if there is no other word.
 */
function joinWords(words: readonly string[]): string[] {
	const isMessage = (word: string) => /\s/.test(word) || /^\/[\w:-]+$/.test(word);
	return words.length < 2 || words.every(isMessage) ? [...words] : [words.join(" ")];
}

/** `@server:scheme:…`, which the session reads. */
const MCP_RESOURCE = /^@[\w-]+:[A-Za-z][\w+.-]*:/;

function isFileArgument(word: string): boolean {
	return word.startsWith("@") && word.length > 1 && !MCP_RESOURCE.test(word);
}
