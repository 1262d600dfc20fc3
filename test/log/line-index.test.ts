import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineIndex } from "../../src/log/line-index.js";
import { fileOf } from "./support.js";

const AT = "2026-01-02T03:04:05.000Z";
const message = (role: string, text = "") =>
	JSON.stringify({ type: "message", timestamp: AT, message: { role, content: text } });
const USER = message("user");

function scan(text: string, most?: number, from = 0) {
	const index = new LineIndex();
	const isEnded = index.scan(fileOf(text, most), from, Buffer.byteLength(text));
	return { index, isEnded };
}

function linesOf(index: LineIndex) {
	return Array.from({ length: index.length }, (_, at) => ({
		...{ start: index.start(at), length: index.byteLength(at), type: index.typeHint(at), role: index.roleHint(at) },
	}));
}

describe("the index of a file", () => {
	test("has the position, type and role of each line, and none for blank lines", () => {
		const { index, isEnded } = scan(`{"type":"note"}\n\n \t\r\n${USER}\n  ${USER}\n`);
		expect(linesOf(index)).toEqual([
			{ start: 0, length: 15, type: "note", role: undefined },
			{ start: 21, length: USER.length, type: "message", role: "user" },
			{ start: 22 + USER.length, length: USER.length + 2, type: undefined, role: undefined },
		]);
		expect(isEnded).toBe(true);
	});

	test("knows which types no line has, unless a line must be parsed", () => {
		const { index } = scan(`{"type":"note"}\n${USER}\n`);
		expect(["note", "message", "other"].map((type) => index.mayContain(type))).toEqual([true, true, false]);
		expect(scan(`{"type":"note"}\n {"type":"odd"}\n`).index.mayContain("other")).toBe(true);
	});

	test("has a last line without line end, and reports it", () => {
		const { index, isEnded } = scan(`{"type":"note"}\n${USER}`);
		expect(linesOf(index)[1]).toEqual({ start: 16, length: USER.length, type: "message", role: "user" });
		expect(isEnded).toBe(false);
	});

	test("is the same after it was kept as columns, and takes further lines", () => {
		const lines = fc.array(
			fc.constantFrom('{"type":"note"}', "", " \t", USER, message("assistant"), "{", '{"type":"a"}'),
		);
		fc.assert(
			fc.property(lines, lines, (before, after) => {
				const texts = [before, after].map((part) => part.map((line) => `${line}\n`).join(""));
				const text = texts.join("");
				const { index } = scan(text);
				const kept = scan(texts[0] ?? "").index.toColumns();
				const restored = LineIndex.fromColumns(kept.lines, kept.types, Buffer.concat(kept.bytes));
				restored.scan(fileOf(text), Buffer.byteLength(texts[0] ?? ""), Buffer.byteLength(text));
				expect(linesOf(restored)).toEqual(linesOf(index));
				expect(restored.countTypes()).toEqual(index.countTypes());
				expect(["note", "other"].map((type) => restored.mayContain(type))).toEqual(
					["note", "other"].map((type) => index.mayContain(type)),
				);
			}),
		);
	});

	test("of an empty range has no lines and no open line", () => {
		expect([scan("").isEnded, scan(`${USER}\n`, 9, USER.length + 1).isEnded]).toEqual([true, true]);
	});

	test("of a part of the file has offsets of the file", () => {
		const { index } = scan(`{"type":"note"}\n${USER}\n`, 7, 16);
		expect(linesOf(index)).toEqual([{ start: 16, length: USER.length, type: "message", role: "user" }]);
	});

	test("ends at the end of the range, even if the file has grown", () => {
		const index = new LineIndex();
		const text = `{"type":"note"}\n${USER}\n`;
		expect(index.scan(fileOf(text), 0, 16)).toBe(true);
		expect(index.length).toBe(1);
		expect(index.scan(fileOf(text), 16, 20)).toBe(false);
		expect([index.start(1), index.byteLength(1)]).toEqual([16, 4]);
	});

	test("ends where the file ends, if it has shrunk", () => {
		const index = new LineIndex();
		expect(index.scan(fileOf('{"type":"a"}\n'), 0, 50)).toBe(false);
		expect(linesOf(index)).toEqual([{ start: 0, length: 12, type: "a", role: undefined }]);
	});

	test("has room for any number of lines, also appended ones", () => {
		const { index } = scan(`${USER}\n`.repeat(200));
		for (let at = 0; at < 100; at++) index.add(1000 + at, at, at === 0 ? undefined : "note");
		const lines = linesOf(index);
		expect(lines).toHaveLength(300);
		expect(lines.slice(0, 200)).toEqual(
			Array.from({ length: 200 }, (_, at) => ({
				...{ start: at * (USER.length + 1), length: USER.length, type: "message", role: "user" },
			})),
		);
		expect(lines[200]).toEqual({ start: 1000, length: 0, type: undefined, role: undefined });
		expect(lines[299]).toEqual({ start: 1099, length: 99, type: "note", role: undefined });
		expect(index.countTypes()).toEqual(
			new Map([
				["", 1],
				["message", 200],
				["note", 99],
			]),
		);
	});

	test("counts no type of which it has no line", () => {
		expect(new LineIndex().countTypes()).toEqual(new Map());
		expect(scan('{"type":"a"}\n{"type":"a"}\n').index.countTypes()).toEqual(new Map([["a", 2]]));
	});

	test("has nothing at other positions", () => {
		const { index } = scan(`${USER}\n`);
		expect([index.start(64), index.byteLength(64), index.typeHint(64), index.roleHint(64)]).toEqual([
			...[0, 0, undefined, undefined],
		]);
	});
});

test("the index does not depend on the number of bytes that each read returns", () => {
	const line = fc.oneof(
		fc.constantFrom(USER, message("assistant", "x".repeat(200)), message("toolResult", "é"), message("odd")),
		fc.constantFrom(
			"",
			" ",
			" \t".repeat(100),
			`${" ".repeat(150)}${USER}`,
			" {}",
			"x",
			'{"type":"note"}',
			'{"type":"',
		),
	);
	fc.assert(
		fc.property(
			fc.array(line, { maxLength: 8 }),
			fc.boolean(),
			fc.integer({ min: 1, max: 250 }),
			(lines, open, most) => {
				const text = `${lines.join("\n")}${open ? "" : "\n"}`;
				const [parts, full] = [scan(text, most), scan(text)];
				expect({ ...parts, index: linesOf(parts.index) }).toEqual({ ...full, index: linesOf(full.index) });
				const written = lines.filter((item) => item.trim() !== "").map((item) => Buffer.byteLength(item));
				expect(linesOf(full.index).map(({ length }) => length)).toEqual(written);
			},
		),
		{ numRuns: 200 },
	);
});
