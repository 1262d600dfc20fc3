import type { Prompt } from "@modelcontextprotocol/client";
import { revealLine } from "../util/reveal.js";
import { assignArguments } from "./prompts.js";

/** An argument of a prompt that is being typed. */
export interface ArgumentQuestion {
	/** As the server calls it. */
	prompt: string;
	/** `value`: what is typed of it. */
	argument: { name: string; value: string };
	/** The other arguments so far. */
	given: Record<string, string>;
}

/** A completion of the arguments of a prompt. */
export interface ArgumentCompletion {
	/** Replaces all arguments that are typed. */
	value: string;
	description?: string;
}

/** The argument at the end of a text. */
export interface OpenArgument {
	/** For the server; null if no argument is left. */
	question: ArgumentQuestion | null;
	/** The text up to the value, with `name=` if that is typed. */
	before: string;
	/** Arguments that can be written as `name=`. */
	names: readonly { name: string; description?: string }[];
}

/** Maximum number of completions. */
const MAX_SHOWN = 100;
const MAX_DESCRIPTION = 100;
/** The word at the end, which may be in quotes that are still open. */
const LAST_WORD = /(?:^|\s)((?:[^\s="]+=)?"[^"]*|\S*)$/;

/** Finds the argument that is being typed. */
export function openArgument(prompt: Prompt, typed: string): OpenArgument {
	const declared = prompt.arguments ?? [];
	const word = LAST_WORD.exec(typed)?.[1] ?? "";
	const start = typed.slice(0, typed.length - word.length);
	const given = assignArguments(prompt, start);
	const left = declared.filter(({ name }) => !given.has(name));
	const named = left.find(({ name }) => word.startsWith(`${name}=`));
	const argument = named ?? left[0];
	const sign = named ? `${named.name}=` : "";
	const value = word.slice(sign.length).replace(/^"/, "");
	return {
		question: argument
			? { prompt: prompt.name, argument: { name: argument.name, value }, given: Object.fromEntries(given) }
			: null,
		before: start + sign,
		names: named ? [] : left.filter(({ name }) => `${name}=`.startsWith(word)),
	};
}

/** The values that a server suggests, or else the names of arguments. */
export function argumentCompletions({ before, names }: OpenArgument, values: readonly string[]): ArgumentCompletion[] {
	const usable = values.filter((value) => value !== "" && revealLine(value) === value);
	if (usable.length > 0)
		return usable
			.slice(0, MAX_SHOWN)
			.map((value) => ({ value: before + (/[\s"'\\]/.test(value) ? quote(value) : value) }));
	return names
		.filter(({ name }) => /^[^\s="']+$/.test(name))
		.map(({ name, description }) => ({
			value: `${before}${name}=`,
			...(description ? { description: revealLine(description, { maxLength: MAX_DESCRIPTION, lineEnd: " " }) } : {}),
		}));
}

function quote(value: string): string {
	return `"${value.replace(/["\\]/g, "\\$&")}"`;
}
