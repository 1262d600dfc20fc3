import { isObject, parseJson } from "../helpers/json.js";
import type { Random } from "./random.js";

/** Values that no field expects. */
const ODD_VALUES: readonly unknown[] = [
	null,
	true,
	-1,
	0.5,
	1e308,
	2 ** 53,
	"",
	"\u0000\u001b]0;title\u0007",
	"\ud800",
	"__proto__",
	[],
	[[]],
	[null, 7],
	{},
	{ type: "session" },
	{ role: "toolResult" },
	"x".repeat(100_000),
];

/** Lines that are no entries. */
const ODD_LINES: readonly string[] = [
	"",
	"null",
	"[]",
	"17",
	'"text"',
	"{",
	"}{",
	'{"type":"message"}',
	'{"type":"message","message":null}',
	'{"type":"compaction","firstKeptEntryIndex":-5,"summary":7}',
	'{"type":"session","version":1,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}',
	'{"type":"context_undo","entryIndex":1e9}',
	`${"[".repeat(5000)}`,
	"\u2028",
	"\ufeff{}",
];

/** A part of the file: a crash during a write, a full disk, a copy that was interrupted. */
export function truncated(file: Buffer, random: Random): Buffer {
	return file.subarray(0, random.below(file.length));
}

/** The file with one to six random changes to bytes, lines and fields. */
export function mutated(file: Buffer, random: Random): Buffer {
	let result = file;
	for (let changes = 1 + random.below(6); changes > 0; changes--) {
		result = random.pick([changeBytes, changeLines, changeField, changeField, changeField])(result, random);
	}
	return result;
}

function changeBytes(file: Buffer, random: Random): Buffer {
	const at = random.below(file.length + 1);
	const length = random.pick([1, 1, 2, 16, 200]);
	const odd = Buffer.from(Array.from({ length }, () => random.below(256)));
	const inserted = random.pick([odd, Buffer.alloc(length), Buffer.from("\n"), Buffer.from("\r\n"), Buffer.alloc(0)]);
	return Buffer.concat([file.subarray(0, at), inserted, file.subarray(at + random.pick([0, length]))]);
}

function changeLines(file: Buffer, random: Random): Buffer {
	const lines = file.toString("latin1").split("\n");
	const at = random.below(lines.length);
	const other = random.below(lines.length);
	const line = lines[at] ?? "";
	const change = random.pick(["remove", "repeat", "move", "insert", "replace", "join"] as const);
	if (change === "remove") lines.splice(at, 1);
	if (change === "repeat") lines.splice(other, 0, line);
	if (change === "move") lines.splice(other, 0, ...lines.splice(at, 1));
	if (change === "insert") lines.splice(at, 0, random.pick(ODD_LINES));
	if (change === "replace") lines[at] = random.pick(ODD_LINES);
	if (change === "join") lines.splice(at, 2, line + (lines[at + 1] ?? ""));
	return Buffer.from(lines.join("\n"), "latin1");
}

/** Changes a field somewhere in a line, which remains JSON. */
function changeField(file: Buffer, random: Random): Buffer {
	const lines = file.toString().split("\n");
	const at = random.below(lines.length);
	const entry = parseJson(lines[at] ?? "");
	if (!isObject(entry)) return file;
	const holders = holdersIn(entry);
	const holder = random.pick(holders);
	const key = random.pick([...Object.keys(holder), "type"]);
	const change = random.pick(["remove", "odd", "number", "copy"] as const);
	if (change === "remove") delete holder[key];
	if (change === "odd") holder[key] = random.pick(ODD_VALUES);
	if (change === "number") holder[key] = random.below(lines.length + 5) - 2;
	if (change === "copy") holder[key] = structuredClone(random.pick(Object.values(random.pick(holders))));
	lines[at] = JSON.stringify(entry);
	return Buffer.from(lines.join("\n"));
}

/** The objects and arrays in a value, itself first, that hold at least one value. */
function holdersIn(value: unknown): Record<string, unknown>[] {
	if (typeof value !== "object" || value === null) return [];
	const holder = value as Record<string, unknown>;
	return [...(Object.keys(holder).length > 0 ? [holder] : []), ...Object.values(holder).flatMap(holdersIn)];
}
