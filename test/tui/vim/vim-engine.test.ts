import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { play, press, startEngine, type VimResult, type VimRow } from "./play-keys.js";

/** A row of recorded.json; `pi` holds what differs from vim on purpose. */
type RecordedRow = VimRow & { vim: VimResult; pi?: Partial<VimResult>; why?: string };

const rows: RecordedRow[] = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8"));

test("the table has rows for all commands, and a reason for each difference", () => {
	expect(rows.length).toBeGreaterThan(400);
	expect(rows.filter(({ pi, why }) => (pi === undefined) !== (why === undefined))).toEqual([]);
});

test.each(rows)("$keys in $text at $line:$col does what vim does", ({ vim, pi, ...row }) => {
	expect(play(row)).toEqual({ ...vim, ...pi });
});

const KEY = fc.constantFrom(
	...('hjklwWbBeE0^$gG{}()%;,nN*#xXsSdDcCyYpPJr~u.iaIAoORvV<lt>"123af"'.match(/<lt>|./g) ?? []),
	...[
		"<esc>",
		"<c-r>",
		"<c-w>",
		"<c-u>",
		"<c-o>",
		"<bs>",
		"<cr>",
		"gv",
		"gi",
		"gU",
		"/a<cr>",
		"?b<cr>",
		"iw",
		"a(",
		"ip",
		"it",
		" ",
	],
);
const KEYS = fc.array(KEY, { maxLength: 40 }).map((keys) => keys.join(""));
const TEXT = fc.array(
	fc.constantFrom("a", "b", "foo", " ", "\n", "(", ")", ".", '"', "😀", "日", "\t", "<a>", "</a>"),
	{ maxLength: 25 },
);

test("random keys keep the cursor in the text, and undo brings back the first text", () => {
	fc.assert(
		fc.property(TEXT, KEYS, (parts, keys) => {
			const text = parts.join("");
			const engine = startEngine(text);
			press(engine, keys);
			const { lines, cursor, mode } = engine.state;
			const { length } = lines[cursor.line] ?? [];
			expect([cursor.line >= 0 && cursor.line < lines.length, cursor.col >= 0]).toEqual([true, true]);
			expect(cursor.col).toBeLessThanOrEqual(
				mode === "normal" && !engine.isBusy ? Math.max(0, (length ?? 0) - 1) : (length ?? 0),
			);
			press(engine, "<esc><esc><esc>999u");
			expect(engine.state.lines.map((cells) => cells.join("")).join("\n")).toBe(text);
		}),
		{ numRuns: 2000 },
	);
});

test("motions, yanks, searches and selections never change the text", () => {
	const harmless = fc.constantFrom(
		"w",
		"b",
		"e",
		"ge",
		"j",
		"k",
		"3l",
		"fa",
		"t(",
		";",
		",",
		"%",
		"{",
		")",
		"gg",
		"G",
		"/a<cr>",
		"n",
		"N",
		"*",
		"viw<esc>",
		"Vj<esc>",
		"<esc>",
		"yy",
		"yiw",
		"y$",
		"<esc>gv<esc>",
		"o<esc>u",
	);
	fc.assert(
		fc.property(TEXT, fc.array(harmless, { maxLength: 20 }), (parts, keys) => {
			const engine = startEngine(parts.join(""));
			press(engine, keys.join(""));
			press(engine, "<esc><esc>");
			expect(engine.state.lines.map((cells) => cells.join("")).join("\n")).toBe(parts.join(""));
		}),
		{ numRuns: 500 },
	);
});
