import { type Command, CommanderError } from "commander";
import { PiError } from "../errors.js";
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

/**
 * Parses with commander.
 * @param allowUnknown returns unknown options instead of throwing the first
 * @throws PiError `bad_arguments` instead of commander's errors
 */
export function runParser(
	command: Command,
	argv: readonly string[],
	{ allowUnknown = false } = {},
): { options: ParsedOptions; operands: readonly string[]; unknown: UnknownOption[] } {
	command
		.helpOption(false)
		.allowExcessArguments(true)
		.allowUnknownOption(allowUnknown)
		.showSuggestionAfterError(false)
		.exitOverride()
		.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
	try {
		command.parse([...argv], { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) throw badArguments(error, command, argv);
		throw error;
	}
	refuseEmpty(command);
	const isOption = (argument: string) => argument.length > 1 && argument.startsWith("-");
	return {
		options: new ParsedOptions(command.opts()),
		operands: command.args.filter((argument) => !isOption(argument)),
		unknown: command.args.filter(isOption).map((argument) => ({
			name: /^--([a-z][a-z0-9-]*)(?:=|$)/.exec(argument)?.[1] ?? null,
			problem: unknownOption(argument, command),
		})),
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

function badArguments(error: CommanderError, command: Command, argv: readonly string[]): PiError {
	const message = error.message
		.replace(/^error: /, "")
		.replaceAll("'", '"')
		.replace(/\.$/, "");
	const unknown = /unknown option "([^"]*)"/.exec(message)?.[1];
	if (unknown !== undefined) return unknownOption(unknown, command);
	const invalid = /option "(--[\w-]+)[^"]*" argument "([^"]*)" is invalid. Allowed choices are (.*)$/.exec(message);
	if (invalid) {
		const [, option, value = "", list = ""] = invalid;
		const suggestion = didYouMean(value, list.split(", "));
		return usage(`${option} ${JSON.stringify(value)}: must be one of ${list}`, suggestion);
	}
	const missing = /option "(?:-\w, )?(--[\w-]+ <[^>]*>)" argument missing/.exec(message)?.[1];
	if (missing !== undefined) return usage(`${missing}: the value is missing`);
	return usage(message || `cannot read ${argv.join(" ")}`);
}

/** An empty value is mostly an unset variable of a script; without its option, a run would do more than the script meant. */
function refuseEmpty(command: Command): void {
	const values = command.opts<Record<string, unknown>>();
	for (const option of command.options) {
		const value = values[option.attributeName()];
		const isEmpty = Array.isArray(value) ? value.length === 0 || value.includes("") : value === "";
		if (option.required && isEmpty) throw usage(`${option.flags.replace(/^-\w, /, "")}: the value is empty`);
	}
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
