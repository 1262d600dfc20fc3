import { Command } from "commander";
import { PiError } from "../errors.js";
import type { ExportFormat } from "../export/formats.js";
import type { ReadFlags } from "../hooks/flags.js";
import type { UsageGrouping } from "../usage/usage-report.js";
import { didYouMean } from "../util/nearest.js";
import { mcpParser, readMcp } from "./mcp-args.js";
import type { ParsedArguments, SessionsSubcommand, Subcommand, SubcommandOptions } from "./options.js";
import {
	addFlags,
	addList,
	addOne,
	choiceOption,
	choose,
	nonEmpty,
	type ParsedOptions,
	runParser,
	takeAtMost,
	usage,
} from "./parser.js";
import {
	HOOK_ACTIONS,
	MODEL_ACTIONS,
	PACKAGE_COMMANDS,
	SESSION_ACTIONS,
	SETUP_NAMES,
	type SubcommandName,
} from "./subcommand-names.js";

/** A copy: the original is loaded with the sessions. */
const GROUPINGS = ["day", "model", "project", "session"] as const satisfies readonly UsageGrouping[];

/** A copy: the originals are loaded with the export. */
const EXPORT_FORMATS = ["html", "markdown", "claude", "atif"] as const satisfies readonly ExportFormat[];

/** Parses the arguments after the name of a subcommand. @throws PiError `bad_arguments` */
export function parseSubcommand(name: SubcommandName, argv: readonly string[]): ParsedArguments {
	const line = runParser(parser(name), argv, { allowUnknown: true });
	const { options, operands: words, literal, unknown } = line;
	const operands = [...words, ...literal];
	if (options.flag("help")) return { kind: "help", topic: [name, ...operands] };
	if (name === "mcp") return { kind: "subcommand", command: readMcp(line), options: commonOptions(options) };
	if (unknown.length === 0)
		return { kind: "subcommand", command: readCommand(name, options, operands), options: commonOptions(options) };
	const [action, target] = operands;
	const runsHooks = name === "context" || (name === "hooks" && action === "test" && target !== undefined);
	const refused = unknown.find((option) => option.name === null || !runsHooks);
	if (refused) throw refused.problem;
	// Other words may be values of the flags, which are known when the hooks have loaded.
	const isBench = name === "context" && action === "bench";
	const command = readCommand(name, options, isBench ? operands : name === "hooks" ? operands.slice(0, 2) : []);
	return { kind: "subcommand", command, options: { ...commonOptions(options), readFlags: flagReader(name, argv) } };
}

/** A subcommand with the options that choose hooks. */
type HookSubcommand = Exclude<SubcommandName, "mcp">;

/** Reads the flags of hooks on the command line of a subcommand. */
function flagReader(name: HookSubcommand, argv: readonly string[]): ReadFlags {
	return (declared) => {
		const command = parser(name);
		const flags = addFlags(command, declared);
		const { options, operands, literal, unknown } = runParser(command, argv, { allowUnknown: true });
		const { values, problem } = flags.read();
		try {
			readCommand(name, options, [...operands, ...literal]);
			return { values, problem: unknown[0]?.problem ?? problem };
		} catch (error) {
			if (!(error instanceof PiError)) throw error;
			return { values, problem: unknown[0]?.problem ?? problem ?? error };
		}
	};
}

function parser(name: SubcommandName): Command {
	if (name === "mcp") return mcpParser();
	const command = new Command(name)
		.option("--session <path>")
		.option("--session-dir <dir>")
		.option("--hook <file>", "", addOne)
		.option("-e, --extension <file>", "", addOne)
		.option("--no-hooks")
		.option("--trust")
		.option("--offline")
		.option("--verbose")
		.option("--json")
		.option("-h, --help");
	if (name === "hooks")
		return command.option("--project").option("--package").option("--types").option("--run <command>", "", addOne);
	if (name === "sessions")
		return command
			.option("--all")
			.option("--from <program>")
			.option("--list")
			.option("--again")
			.addOption(choiceOption("--format <format>", EXPORT_FORMATS));
	if (isPackageCommand(name)) return name === "list" ? command : command.option("-l, --local");
	if (name === "import") return command.option("-y, --yes");
	if (name === "usage") return command.option("--by <key>").option("--days <count>");
	return name === "context"
		? command
				.option("--at <index>")
				.option("--without <hook>", "", addOne)
				.option("--verify")
				.option("--sessions <which>", "", addList)
				.option("--model <name>")
				.option("--html <file>")
				.option("--fail-if <limit>", "", addOne)
				.option("--ask")
				.option("--show <entry>")
		: command;
}

function readCommand(name: HookSubcommand, options: ParsedOptions, operands: readonly string[]): Subcommand {
	switch (name) {
		case "hooks":
			return readHooks(operands, options);
		case "sessions":
			return readSessions(operands, options);
		case "context":
			if (operands[0] === "bench") return readBench(operands.slice(1), options);
			refuseBenchOptions(options);
			takeAtMost(name, operands, 0);
			return {
				name,
				at: readIndex(options.text("at")),
				verify: options.flag("verify"),
				without: nonEmpty(options.texts("without")),
			};
		case "usage":
			takeAtMost(name, operands, 0);
			return { name, by: readGrouping(options.text("by")), days: readDays(options.text("days")) };
		case "models":
			return readModels(operands);
		case "install":
		case "list":
		case "update":
		case "remove":
			return readPackages(name, operands, options.flag("local"));
		case "import":
			return readImport(operands, options.flag("yes"));
		case "doctor":
			takeAtMost(name, operands, 0);
			return { name };
	}
}

function readImport(operands: readonly string[], yes: boolean): Subcommand {
	const [program] = operands;
	if (program === undefined) throw usage("pi import <program>: missing program", `use ${SETUP_NAMES.join(", ")}`);
	const chosen = choose("import", program, SETUP_NAMES);
	takeAtMost(`import ${chosen}`, operands, 1);
	return { name: "import", program: chosen, yes };
}

function readHooks([word = "list", target, ...more]: readonly string[], options: ParsedOptions): Subcommand {
	const action = choose("hooks", word, HOOK_ACTIONS);
	const inProject = options.flag("project");
	const asPackage = options.flag("package");
	if (inProject && action !== "new") throw usage(`--project works only with pi hooks new, not with ${action}`);
	if (asPackage && action !== "new") throw usage(`--package works only with pi hooks new, not with ${action}`);
	if (asPackage && inProject) throw usage("--package and --project exclude each other");
	if (action === "list" || action === "trust" || action === "untrust") {
		takeAtMost(`hooks ${action}`, target === undefined ? more : [target, ...more], 0);
		return { name: "hooks", action };
	}
	if (options.flag("types") && action !== "check")
		throw usage(`--types works only with pi hooks check, not with ${action}`);
	const runs = nonEmpty(options.texts("run"));
	if (runs && action !== "test") throw usage(`--run works only with pi hooks test, not with ${action}`);
	if (action !== "check") takeAtMost(`hooks ${action}`, more, 0);
	if (target === undefined) {
		const operand = action === "new" ? "name" : "file";
		throw usage(`pi hooks ${action} <${operand}>: missing ${operand}`);
	}
	if (action === "new") return { name: "hooks", action, target, inProject, ...(asPackage && { asPackage }) };
	if (action === "test") return { name: "hooks", action, target, ...(runs && { runs }) };
	const types = options.flag("types") ? { types: true } : {};
	return { name: "hooks", action, target, ...(more.length > 0 && { more }), ...types };
}

function readBench(strategies: readonly string[], options: ParsedOptions): Subcommand {
	const refused = ["at", "without", "verify", "session"].find(
		(name) => options.flag(name) || options.text(name) !== undefined || options.texts(name).length > 0,
	);
	if (refused) throw usage(`--${refused} does not work with pi context bench`, "pi context bench --help explains it");
	const [model, html] = [options.text("model"), options.text("html")];
	const show = readIndex(options.text("show"), "--show");
	const withShow = ["html", "failIf"].find(
		(name) => show !== undefined && (options.text(name) !== undefined || options.texts(name).length > 0),
	);
	if (withShow) throw usage(`--${withShow === "failIf" ? "fail-if" : withShow} and --show exclude each other`);
	return {
		...{ name: "bench", strategies, sessions: options.texts("sessions"), failIf: options.texts("failIf") },
		...(model === undefined ? {} : { model }),
		...(html === undefined ? {} : { html }),
		...(options.flag("ask") && { ask: true }),
		...(show !== undefined && { show }),
	};
}

function refuseBenchOptions(options: ParsedOptions): void {
	const given = ["sessions", "model", "html", "failIf", "ask", "show"].find(
		(name) => options.flag(name) || options.text(name) !== undefined || options.texts(name).length > 0,
	);
	if (given) throw usage(`--${given === "failIf" ? "fail-if" : given} works only with pi context bench`);
}

function readModels([word = "list", ...more]: readonly string[]): Subcommand {
	const action = choose("models", word, MODEL_ACTIONS);
	if (action === "list") return { name: "models", action, search: more.join(" ") };
	if (action === "update") return { name: "models", action, ...(more.length > 0 && { providers: more }) };
	const [model, ...extra] = more;
	takeAtMost("models show", extra, 0);
	if (model === undefined) throw usage("pi models show <model>: missing model", "list them with pi models list");
	return { name: "models", action, model };
}

type PackageCommand = (typeof PACKAGE_COMMANDS)[number];

function isPackageCommand(name: SubcommandName): name is PackageCommand {
	return PACKAGE_COMMANDS.some((command) => command === name);
}

function readPackages(name: PackageCommand, [target, ...more]: readonly string[], local: boolean): Subcommand {
	const extra = name === "list" ? target : more[0];
	if (extra !== undefined) {
		const hint = `pi ${name} --help explains it; to send a message that starts with "${name}", put it in quotes`;
		throw usage(`pi ${name}: unexpected argument ${JSON.stringify(extra)}`, hint);
	}
	if (name === "list") return { name };
	if (name === "install") return { name, ...(target === undefined ? {} : { source: target }), local };
	if (name === "update") return { name, ...(target === undefined ? {} : { package: target }), local };
	if (target === undefined) throw usage("pi remove <name>: missing name", "pi list shows all packages");
	return { name, package: target, local };
}

function readIndex(text: string | undefined, option = "--at"): number | undefined {
	if (text === undefined) return undefined;
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw usage(`${option} ${JSON.stringify(text)}: expected the index of an entry, 0 or greater`);
}

function readGrouping(text = "day"): UsageGrouping {
	const by = GROUPINGS.find((grouping) => grouping === text);
	if (by !== undefined) return by;
	throw usage(`--by ${JSON.stringify(text)}: expected ${GROUPINGS.join(", ")}`, didYouMean(text, GROUPINGS));
}

function readDays(text: string | undefined): number | null {
	if (text === undefined) return null;
	if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
	throw usage(`--days ${JSON.stringify(text)}: expected a number of days, 1 or greater`);
}

function commonOptions(options: ParsedOptions): SubcommandOptions {
	const extensions = nonEmpty(options.texts("extension"));
	return {
		session: options.text("session"),
		sessionDir: options.text("sessionDir"),
		hooks: options.texts("hook"),
		...(extensions ? { extensions } : {}),
		findHooks: options.notNegated("hooks"),
		trust: options.flag("trust"),
		offline: options.flag("offline"),
		verbose: options.flag("verbose"),
		json: options.flag("json"),
	};
}

/** Reads the operands of `pi sessions`. @throws PiError `bad_arguments` */
function readSessions(operands: readonly string[], options: ParsedOptions): SessionsSubcommand {
	const [word = "list", ...rest] = operands;
	const action = choose("sessions", word, SESSION_ACTIONS);
	const all = options.flag("all") ? ({ all: true } as const) : {};
	if (options.flag("all") && action === "import") throw usage("--all does not work with pi sessions import");
	const from = options.text("from");
	const given = from !== undefined ? "from" : ["list", "again"].find((flag) => options.flag(flag));
	if (given !== undefined && action !== "import") throw usage(`--${given} works only with pi sessions import`);
	if (options.flag("all") && options.text("sessionDir") !== undefined)
		throw usage("--all and --session-dir cannot be combined");
	if (action === "search") return { name: "sessions", action, text: searchedText(rest), ...all };
	const format = options.oneOf("format", EXPORT_FORMATS);
	if (format !== undefined && action !== "export") throw usage("--format works only with pi sessions export");
	takeAtMost(`sessions ${action}`, rest, action === "export" ? 2 : 1);
	// An unset variable of a script must not become the current directory.
	if (rest.some((operand) => operand.trim() === ""))
		throw usage(`pi sessions ${action}: an argument is empty`, `pi sessions ${action} --help explains it`);
	const [target, out] = rest;
	switch (action) {
		case "list":
			return { name: "sessions", action, ...(target !== undefined && { search: target }), ...all };
		case "check":
			return { name: "sessions", action, ...(target !== undefined && { target }), ...all };
		case "import":
			return {
				...{ name: "sessions", action, list: options.flag("list"), again: options.flag("again") },
				...(target !== undefined && { target }),
				...(from !== undefined && { from }),
			};
		default:
			if (target === undefined)
				throw usage(`pi sessions ${action} <id>: missing id`, "pi sessions list prints the ids");
			if (action !== "export") return { name: "sessions", action, target, ...all };
			return { name: "sessions", action, target, ...(out !== undefined && { out }), ...(format && { format }), ...all };
	}
}

/** Several words are one text, so that it needs no quotes. */
function searchedText(words: readonly string[]): string {
	const text = words.join(" ");
	if (text.trim() === "") throw usage("pi sessions search <text>: missing text", "pi sessions --help explains it");
	return text;
}
