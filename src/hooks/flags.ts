import type { PiError } from "../errors.js";
import { stripAll } from "../util/sanitize.js";
import type { FlagOptions } from "./types.js";

/** A hook that declares flags. */
interface FlagOwner {
	readonly path: string;
	readonly flags: ReadonlyMap<string, FlagOptions>;
}

/** A flag that a loaded hook declares. */
export interface FlagDeclaration {
	/** Without the dashes. */
	readonly name: string;
	readonly type: "boolean" | "string";
	/** On one line, without control characters. */
	readonly description: string;
	/** The value without the flag. */
	readonly default: boolean | string | undefined;
	/** Path of the hook. */
	readonly hook: string;
}

/** Values of flags by name. */
export type FlagValues = Readonly<Record<string, boolean | string | undefined>>;

/**
 * Reads the flags on the command line that hooks declare.
 * @returns their values, without defaults; `problem`: a flag that is unknown or has no value
 */
export type ReadFlags = (declared: readonly FlagDeclaration[]) => { values: FlagValues; problem: PiError | null };

/** The flags of pi itself, which hooks cannot declare. */
export const BUILTIN_FLAGS: ReadonlySet<string> = new Set(
	(
		"provider model models api-key thinking list-models continue resume session session-dir export print plain mode max-turns max-cost max-time " +
		"output-schema resume-or-new verbose system-prompt append-system-prompt tools tool mcp hook hooks extension skill skills context-files trust demo on offline " +
		"help version"
	).split(" "),
);

const FLAG_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Checks the arguments of `pi.flag`. @throws TypeError that names hook and flag */
export function checkFlag(name: unknown, options: unknown, { path }: Pick<FlagOwner, "path">): FlagOptions {
	if (typeof name !== "string" || !FLAG_NAME.test(name)) {
		const given = JSON.stringify(name) ?? String(name);
		throw new TypeError(
			`${given} is not a valid flag name: use lowercase letters, digits and "-", without leading dashes`,
		);
	}
	if (name.startsWith("no-")) throw new TypeError(`the flag --${name} starts with --no-, which turns off a flag`);
	if (BUILTIN_FLAGS.has(name)) throw new TypeError(`--${name} is a flag of pi, so ${path} cannot declare it`);
	const { type, default: value, description }: Record<string, unknown> = Object(options);
	if (type !== "boolean" && type !== "string") {
		throw new TypeError(`the type of the flag --${name} must be "boolean" or "string"`);
	}
	if (value !== undefined && typeof value !== type) {
		throw new TypeError(`the default of the flag --${name} must be a ${type}`);
	}
	if (description !== undefined && typeof description !== "string") {
		throw new TypeError(`the description of the flag --${name} must be a string`);
	}
	return {
		type,
		...(value === undefined ? {} : { default: value as boolean | string }),
		description: description ?? "",
	};
}

/** The flags of hooks in load order; a later declaration replaces an earlier one, with a warning. */
export function listFlags(hooks: readonly FlagOwner[]): { flags: FlagDeclaration[]; warnings: string[] } {
	const flags = new Map<string, FlagDeclaration>();
	const warnings: string[] = [];
	for (const { path, flags: own } of hooks) {
		for (const [name, { type, description = "", default: value }] of own) {
			const taken = flags.get(name);
			if (taken) warnings.push(`--${name} is declared by ${taken.hook} and ${path}; the latter is used`);
			flags.set(name, {
				name,
				type,
				description: stripAll(description).replace(/\s+/g, " ").trim(),
				default: value ?? (type === "boolean" ? false : undefined),
				hook: path,
			});
		}
	}
	return { flags: [...flags.values()], warnings };
}

/** The values of all declared flags, frozen: those given on the command line, else the defaults. */
export function flagValues(flags: readonly FlagDeclaration[], given: FlagValues): FlagValues {
	return Object.freeze(
		Object.fromEntries(
			flags.map(({ name, default: value }) => [name, Object.hasOwn(given, name) ? given[name] : value]),
		),
	);
}
