import { type Command, CommanderError, Option } from "commander";
import { PiError } from "../errors.js";
import type { FlagDeclaration, FlagValues } from "../hooks/flags.js";
import { didYouMean } from "../util/nearest.js";

/** Typed access to the options parsed by commander. */
export class ParsedOptions {
	constructor(private readonly values: Readonly<Record<string, unknown>>) {}

	flag(name: string): boolean {
		return this.values[name] === true;
	}

	/** False only after the `--no-` form of the option. */
	notNegated(name: string): boolean {
		return this.values[name] !== false;
	}

	text(name: string): string | undefined {
		const value = this.values[name];
		return typeof value === "string" ? value : undefined;
	}

	texts(name: string): string[] {
		const value = this.values[name];
		return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
	}

	oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
		return choices.find((choice) => choice === this.values[name]);
	}
}

/** An argument that looks like an option but is none. */
export interface UnknownOption {
	/** Without dashes and value; null if the argument is not of the form `--name`. */
	name: string | null;
	problem: PiError;
}

/** A parsed command line. */
export interface ParsedLine {
	options: ParsedOptions;
	/** Words that are no options, before a `--`. */
	operands: readonly string[];
	/** Words after a `--`. */
	literal: readonly string[];
	unknown: UnknownOption[];
}

/**
 * Parses with commander.
 * @param allowUnknown returns unknown options instead of throwing the first
 * @throws PiError `bad_arguments` instead of commander's errors
 */
export function runParser(command: Command, argv: readonly string[], { allowUnknown = false } = {}): ParsedLine {
	const separator = argv.indexOf("--");
	const words = separator === -1 ? [...argv] : argv.slice(0, separator);
	command
		.helpOption(false)
		.allowExcessArguments(true)
		.allowUnknownOption(true)
		.exitOverride()
		.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
	try {
		command.parse(words, { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) throw badArguments(error, command, words);
		throw error;
	}
	const isOption = (argument: string) => argument.length > 1 && argument.startsWith("-");
	const unknown = command.args.filter(isOption).map((argument) => ({
		name: /^--([a-z][a-z0-9-]*)(?:=|$)/.exec(argument)?.[1] ?? null,
		problem: unknownOption(argument, command),
	}));
	if (unknown[0] && !allowUnknown) throw unknown[0].problem;
	refuseEmpty(command);
	return {
		options: new ParsedOptions(command.opts()),
		operands: command.args.filter((argument) => !isOption(argument)),
		literal: separator === -1 ? [] : argv.slice(separator + 1),
		unknown,
	};
}

function unknownOption(argument: string, command: Command): PiError {
	const name = argument.split("=")[0] ?? argument;
	if (/\s/.test(name))
		return usage(`unknown option ${JSON.stringify(name)}`, "put a message that starts with - after --");
	if (!name.startsWith("--")) return usage(`unknown option ${name}`);
	const names = command.options.flatMap(({ long }) => long ?? []);
	if (names.includes(name)) return usage(`${name} accepts no value`);
	return usage(`unknown option ${name}`, didYouMean(name, names) ?? "pi --help lists all options");
}

function badArguments({ code, message }: CommanderError, command: Command, words: readonly string[]): PiError {
	if (code !== "commander.optionMissingArgument") return usage(message);
	// Only the last word can lack its value. It may be a group of short options.
	const last = words.at(-1) ?? "";
	const option = command.options.find(({ long, short }) => long === last || short === `-${last.at(-1)}`);
	return usage(`${option ? longForm(option) : last}: the value is missing`);
}

/** The option and its value, such as `--hook <file>`. */
function longForm({ flags }: Option): string {
	return flags.replace(/^-\w, /, "");
}

/** An option with one of several values. */
export function choiceOption(flags: string, choices: readonly string[]): Option {
	const [name = flags] = flags.split(" ");
	return new Option(flags).argParser((value) => {
		if (choices.includes(value)) return value;
		const problem = `${name} ${JSON.stringify(value)}: must be one of ${choices.join(", ")}`;
		throw usage(problem, didYouMean(value, choices));
	});
}

/** An empty value is mostly an unset variable of a script; without its option, a run would do more than the script meant. */
function refuseEmpty(command: Command): void {
	const values = command.opts<Record<string, unknown>>();
	for (const option of command.options) {
		const value = values[option.attributeName()];
		const isEmpty = Array.isArray(value) ? value.length === 0 || value.includes("") : value === "";
		if (option.required && isEmpty) throw usage(`${longForm(option)}: the value is empty`);
	}
}

/**
 * Adds the flags of hooks to a parser, except those that it has itself. @returns reads them once the parser has run
 */
export function addFlags(command: Command, declared: readonly FlagDeclaration[]) {
	const own = new Set(command.options.map(({ long }) => long?.replace(/^--(?:no-)?/, "")));
	const free = declared.filter(({ name }) => !own.has(name));
	const options = free.map(({ name, type }) => {
		// A word that starts with a dash is the next option, so that a flag without a value does not consume it.
		const option = new Option(type === "boolean" ? `--${name}` : `--${name} [value]`);
		command.addOption(option);
		if (type === "boolean") command.option(`--no-${name}`);
		return { name, type, key: option.attributeName() };
	});
	return {
		read(): { values: FlagValues; problem: PiError | null } {
			const given: Record<string, unknown> = command.opts();
			const values = options.flatMap(({ name, type, key }): [string, boolean | string][] => {
				const value = Object.hasOwn(given, key) ? given[key] : undefined;
				return typeof value === type && (typeof value === "string" || typeof value === "boolean")
					? [[name, value]]
					: [];
			});
			const empty = options.find(({ type, key }) => type === "string" && given[key] === true);
			return {
				values: Object.fromEntries(values),
				problem: empty ? usage(`--${empty.name} <value>: the value is missing`) : null,
			};
		},
	};
}

/** A usage error. */
export function usage(message: string, hint = "pi --help lists all options"): PiError {
	return new PiError("bad_arguments", message, { hint });
}

/** The array, or undefined when it is empty. */
export function nonEmpty(values: string[]): string[] | undefined {
	return values.length > 0 ? values : undefined;
}

/** Collects a repeatable option. */
export function addOne(value: string, before: unknown): unknown {
	return [...listSoFar(before), value];
}

/** Collects a repeatable option with comma-separated values. */
export function addList(value: string, before: unknown): unknown {
	const names = value.split(",").map((name) => name.trim());
	return [...listSoFar(before), ...names.filter(Boolean)];
}

/** The values so far; the `--no-` form sets the option to `false`. */
function listSoFar(before: unknown): string[] {
	return Array.isArray(before) ? before.filter((item): item is string => typeof item === "string") : [];
}

/** The action of a subcommand that a word names. @throws PiError `bad_arguments` */
export function choose<T extends string>(name: string, word: string, actions: readonly T[]): T {
	const action = actions.find((candidate) => candidate === word);
	if (action !== undefined) return action;
	const hint =
		didYouMean(word, actions) ??
		`use ${actions.join(", ")}; to send a message that starts with "${name}", put it in quotes`;
	throw usage(`pi ${name}: unknown action ${JSON.stringify(word)}`, hint);
}

/** @throws PiError `bad_arguments` for an operand beyond the first `count` */
export function takeAtMost(name: string, operands: readonly string[], count: number): void {
	const extra = operands[count];
	if (extra !== undefined) throw usage(`pi ${name}: unexpected argument ${JSON.stringify(extra)}`);
}
