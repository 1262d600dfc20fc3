import { type Command, CommanderError } from "commander";
import { PiError } from "../errors.js";
import { didYouMean } from "../util/nearest.js";

/** Options as commander gives them, read one by one by what they must be. */
export class ParsedOptions {
	constructor(private readonly values: Readonly<Record<string, unknown>>) {}

	flag(name: string): boolean {
		return this.values[name] === true;
	}

	/** False only when its `--no-` form was given. */
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

/** Parses with commander; its complaints become ours. */
export function runParser(
	command: Command,
	argv: readonly string[],
): { options: ParsedOptions; operands: readonly string[] } {
	command
		.helpOption(false)
		.allowExcessArguments(true)
		.showSuggestionAfterError(false)
		.exitOverride()
		.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
	try {
		command.parse([...argv], { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) throw badArguments(error, command, argv);
		throw error;
	}
	return { options: new ParsedOptions(command.opts()), operands: command.args };
}

function badArguments(error: CommanderError, command: Command, argv: readonly string[]): PiError {
	const message = error.message
		.replace(/^error: /, "")
		.replaceAll("'", '"')
		.replace(/\.$/, "");
	const unknown = /unknown option "([^"]*)"/.exec(message)?.[1];
	if (unknown !== undefined) {
		const name = unknown.split("=")[0] ?? unknown;
		if (/\s/.test(name))
			return usage(`unknown option ${JSON.stringify(name)}`, "a message that begins with - goes behind --");
		if (!name.startsWith("--")) return usage(`unknown option ${name}`);
		const names = command.options.flatMap(({ long }) => long ?? []);
		return usage(`unknown option ${name}`, didYouMean(name, names) ?? "pi --help shows all");
	}
	const invalid = /option "(--[\w-]+)[^"]*" argument "([^"]*)" is invalid. Allowed choices are (.*)$/.exec(message);
	if (invalid) {
		const [, option, value = "", list = ""] = invalid;
		const meant = didYouMean(value, list.split(", "));
		return usage(`${option} ${JSON.stringify(value)}: must be one of ${list}`, meant);
	}
	const missing = /option "(?:-\w, )?(--[\w-]+ <[^>]*>)" argument missing/.exec(message)?.[1];
	if (missing !== undefined) return usage(`${missing}: the value is missing`);
	return usage(message || `cannot read ${argv.join(" ")}`);
}

/** An error in how pi was called. */
export function usage(message: string, hint = "pi --help shows all"): PiError {
	return new PiError("bad_arguments", message, { hint });
}

/** For options that may be given several times. */
export function addOne(value: string, before: unknown): unknown {
	return [...listSoFar(before), value];
}

/** For options with a comma-separated list, also given several times. */
export function addList(value: string, before: unknown): unknown {
	const names = value.split(",").map((name) => name.trim());
	return [...listSoFar(before), ...names.filter(Boolean)];
}

/** What was collected before; a `--no-` form leaves `false` there. */
function listSoFar(before: unknown): string[] {
	return Array.isArray(before) ? before.filter((item): item is string => typeof item === "string") : [];
}
