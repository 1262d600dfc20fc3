import { isJsonObject } from "./json-file.js";

/** A kind of value: what it is called in a warning, how it is recognised, and how a person gives one. */
export interface Kind<T> {
	name: string;
	read(value: unknown): T | undefined;
	/** All values, where there are few. */
	options?: readonly T[];
	/** The value that a person means who types this; absent where a line is no way to write one. */
	parse?(typed: string): T | undefined;
}

export const flag: Kind<boolean> = {
	name: "true or false",
	read: (value) => (typeof value === "boolean" ? value : undefined),
	options: [true, false],
	parse: (typed) => ({ true: true, on: true, false: false, off: false })[typed.trim()],
};

export const text: Kind<string> = {
	name: "a text",
	read: (value) => (typeof value === "string" && value !== "" ? value : undefined),
	parse: (typed) => typed.trim() || undefined,
};

export const textList: Kind<string[]> = { name: "a list of texts", read: readTextList };

export const textMap: Kind<Record<string, string>> = {
	name: "an object of texts",
	read: (value) => readMap(value, text.read),
};

export const textListMap: Kind<Record<string, string[]>> = {
	name: "an object of lists of texts",
	read: (value) => readMap(value, readTextList),
};

export function wholeNumber(max: number): Kind<number> {
	const read = (value: unknown) =>
		typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max ? value : undefined;
	return {
		name: `a whole number from 0 to ${max}`,
		read,
		parse: (typed) => (/^\d+$/.test(typed.trim()) ? read(Number(typed)) : undefined),
	};
}

export function oneOf<T extends string>(options: readonly T[]): Kind<T> {
	const read = (value: unknown) => options.find((option) => option === value);
	return { name: `one of ${options.join(", ")}`, read, options, parse: (typed) => read(typed.trim()) };
}

function readTextList(value: unknown): string[] | undefined {
	return Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : undefined;
}

function readMap<T>(value: unknown, read: (item: unknown) => T | undefined): Record<string, T> | undefined {
	if (!isJsonObject(value)) return undefined;
	const entries: [string, T][] = [];
	for (const [key, item] of Object.entries(value)) {
		const accepted = read(item);
		if (accepted === undefined) return undefined;
		entries.push([key, accepted]);
	}
	return Object.fromEntries(entries);
}
