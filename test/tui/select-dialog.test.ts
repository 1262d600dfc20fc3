import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeymap } from "../../src/tui/keymap.js";
import { SelectDialog, type SelectDialogOptions } from "../../src/tui/select-dialog.js";
import { listWindow } from "../../src/tui/select-row.js";
import { createTheme } from "../../src/tui/theme.js";
import { anyText } from "../helpers/any-text.js";

const keymap = createKeymap();
const plain = { theme: createTheme("plain"), keymap, rows: () => 24 };
const colored = {
	...plain,
	theme: {
		...plain.theme,
		accent: (text: string) => `\x1b[36m${text}\x1b[39m`,
		dim: (text: string) => `\x1b[2m${text}\x1b[22m`,
	},
};

/** A line with `<accented>` and `(dim)` text. */
function styles(line = ""): string {
	return line.replace(/\x1b\[36m([^\x1b]*)\x1b\[39m/g, "<$1>").replace(/\x1b\[2m([^\x1b]*)\x1b\[22m/g, "($1)");
}

const PAGE_DOWN = "\x1b[6~";
const PAGE_UP = "\x1b[5~";

function open<T>(options: Partial<SelectDialogOptions<T>> & Pick<SelectDialogOptions<T>, "items">, look = plain) {
	const chosen: unknown[] = [];
	const dialog = new SelectDialog<T>(look, {
		title: "Which?",
		onSelect: (value, filter) => chosen.push([value, filter]),
		onCancel: () => chosen.push(null),
		...options,
	});
	const send = (...keys: string[]) => {
		for (const key of keys) dialog.handleInput(key);
	};
	return { dialog, chosen, send };
}

const MODELS = [
	{ label: "anthropic/claude-sonnet-4-5", value: 1, fields: ["200k", "3 / 15", "key"] },
	{ label: "ollama/qwen3", value: 2, fields: ["33k", "free", "local"] },
	{ label: "openai/gpt-5.5", value: 3, fields: ["1M", "1.25 / 10", "no key"], isDimmed: true },
];
const COLUMNS = [
	{ align: "right", rank: 2 },
	{ align: "right", rank: 3 },
	{ align: "left", rank: 1 },
] as const;

describe("columns", () => {
	test.each([80, 48, 36])("are aligned at %d columns, and the least important is omitted first", (width) => {
		const rows = open({ items: MODELS, columns: COLUMNS }).dialog.render(width).slice(2, 5);
		const expected: Record<number, string[]> = {
			80: [
				" → anthropic/claude-sonnet-4-5                          200k     3 / 15  key",
				"   ollama/qwen3                                          33k       free  local",
				"   openai/gpt-5.5                                         1M  1.25 / 10  no key",
			],
			48: [
				" → anthropic/claude-sonnet-4-5     200k  key",
				"   ollama/qwen3                     33k  local",
				"   openai/gpt-5.5                    1M  no key",
			],
			36: [
				" → anthropic/claude-sonnet…  key",
				"   ollama/qwen3              local",
				"   openai/gpt-5.5            no key",
			],
		};
		expect(rows).toEqual(expected[width]);
	});

	test("are searched by the filter", () => {
		const { chosen, send } = open({ items: MODELS, columns: COLUMNS });
		send(..."local", "\r");
		expect(chosen).toEqual([[2, "local"]]);
	});
});

describe("rows", () => {
	test("of unusable items are dimmed, and signs come before labels", () => {
		const { dialog } = open(
			{
				items: [
					{ label: "seen", value: 1, sign: "▎" },
					{ label: "popped", value: 2, sign: "┆", isDimmed: true },
				],
			},
			colored,
		);
		expect(dialog.render(30).slice(2, 4).map(styles)).toEqual(["< → >▎ seen", "   ┆ (popped)"]);
	});

	test("highlight the letters that match each typed word", () => {
		const { dialog, send } = open({ items: MODELS }, colored);
		send(..."son cla");
		expect(styles(dialog.render(60)[2])).toBe("< → >anthropic/<cla>ude-<son>net-4-5");
	});

	test("never highlight half of a wide character or the ellipsis of a truncated label", () => {
		const items = [{ label: `🎉 party m ${"宽".repeat(40)}`, value: 1 }];
		const { dialog, send } = open({ items }, colored);
		send("🎉", " ", "m");
		const row = dialog.render(30)[2];
		expect(styles(row)).toBe("< → ><🎉> party <m> 宽宽宽宽宽宽宽…");
		expect(row?.isWellFormed()).toBe(true);
	});

	test("are scrolled by a screen with the page keys", () => {
		const items = Array.from({ length: 50 }, (_, index) => ({ label: `item ${index}`, value: index }));
		const { dialog, chosen, send } = open({ items });
		const rows = dialog.render(40).length - 3;
		send(PAGE_DOWN, "\r", PAGE_DOWN, PAGE_UP, "\r", "\x1b[F", "\r", "\x1b[H", "\r");
		expect(chosen.map((answer) => (Array.isArray(answer) ? answer[0] : answer))).toEqual([rows - 1, rows - 1, 49, 0]);
	});

	test("are drawn only if they are visible", () => {
		let drawn = 0;
		const items = Array.from({ length: 5000 }, (_, value) => ({
			label: `item ${value}`,
			value,
			get sign() {
				drawn++;
				return "▎";
			},
		}));
		const { dialog } = open({ items, isTall: true });
		const lines = dialog.render(80);
		expect(lines).toHaveLength(11 + 3);
		expect(drawn).toBeLessThanOrEqual(2 * 11);
	});
});

test("a long filter shows its end, and the title is truncated or has its own row", () => {
	const { dialog, send } = open({ items: MODELS, title: "Which of all these models do you mean?" });
	send(..."a long text that somebody types here");
	expect(dialog.render(46)[1]).toBe(" Which of al…  …that somebody types here  0/0 ");
	expect(dialog.render(40).slice(1, 3)).toEqual([
		" Which of all these models do you mean?",
		"   … text that somebody types here  0/0 ",
	]);
});

test("items can arrive later: the selection is kept, and a note shows the progress", () => {
	const found = [{ label: "beta", value: "b" }];
	const { dialog, chosen, send } = open<string>({ items: () => [...found] });
	dialog.note = { text: "looking for more", isProblem: false };
	expect(dialog.render(40).slice(2)).toEqual([" → beta", " looking for more", " enter select · esc cancel"]);
	found.unshift({ label: "alpha", value: "a" });
	dialog.refresh();
	send("\r");
	found.length = 0;
	dialog.refresh();
	send("\r");
	expect(chosen).toEqual([["b", ""]]);
	expect(dialog.render(40)[2]).toBe("   nothing to choose from");
});

test("additional keys are listed and act on the selected item", () => {
	const seen: unknown[] = [];
	const { dialog, send } = open({
		items: MODELS,
		verb: "",
		actions: [{ key: "dialog.toggle", label: "switch", run: (item) => seen.push(item?.value) }],
	});
	send("\x1b[B", " ", "zzz", " ");
	expect(seen).toEqual([2, undefined]);
	expect(dialog.render(60).at(-1)).toBe(" space switch · esc close");
});

test("no line is wider than the screen or contains a control character, whatever the items are", () => {
	const text = anyText({ maxLength: 60 });
	const item = fc.record({ label: text, description: text, fields: fc.tuple(text, text, text), value: fc.nat() });
	fc.assert(
		fc.property(fc.array(item, { maxLength: 6 }), text, fc.integer({ min: 1, max: 120 }), (items, filter, width) => {
			const { dialog, send } = open({ items, columns: COLUMNS });
			send(...filter);
			for (const line of dialog.render(width)) {
				expect(visibleWidth(line)).toBeLessThanOrEqual(width);
				expect(line.replaceAll("\x1b[0m", "")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
			}
		}),
		{ numRuns: 300 },
	);
});

test("a long paste into the filter is truncated", () => {
	let asked = "";
	const { send } = open({
		items: (filter) => {
			asked = filter;
			return [];
		},
	});
	send(`\x1b[200~${"word ".repeat(50_000)}\x1b[201~`);
	expect(asked).toBe("word ".repeat(40));
});

describe("descriptions", () => {
	const WAYS = [
		{ label: "Log in", value: 1, description: "with a subscription, in the browser" },
		{ label: "Local server", value: 2, description: "Ollama or vLLM on this machine" },
	];

	test("that are sentences are left-aligned", () => {
		expect(open({ items: WAYS }).dialog.render(80).slice(2)).toEqual([
			" → Log in        with a subscription, in the browser",
			"   Local server  Ollama or vLLM on this machine",
			" enter select · esc cancel",
		]);
	});

	test("that are figures are right-aligned", () => {
		const items = [{ label: "why does checkout round down?", value: 1, description: "9 messages · 14.2k" }];
		expect(open({ items }).dialog.render(60)[2]).toBe(
			` → why does checkout round down?${" ".repeat(9)}9 messages · 14.2k`,
		);
	});

	test("that do not fit on their row are shown in full for the selected row", () => {
		const { dialog, send } = open({ items: WAYS });
		expect(dialog.render(40).slice(2)).toEqual([
			" → Log in        with a subscription, …",
			"   Local server  Ollama or vLLM on thi…",
			" with a subscription, in the browser",
			" enter select · esc cancel",
		]);
		send("\x1b[B");
		expect(dialog.render(40)[4]).toBe(" Ollama or vLLM on this machine");
	});
});

test("on a narrow screen a value is truncated rather than omitted for a description", () => {
	const items = [
		{ label: "compaction.keepRecentTokens", value: 1, fields: ["one-at-a-time", "default", "what stays"] },
	];
	const columns = [
		{ align: "left", rank: 1 },
		{ align: "left", rank: 2 },
		{ align: "left", rank: 3, grows: true },
	] as const;
	expect(open({ items, columns }).dialog.render(40)[2]).toBe(" → compaction.keepRecentT…  one-at-a-t…");
});

test.each([0, 3, 4, 9])("headings are drawn above their items and count as rows, with item %d selected", (selected) => {
	const items = Array.from({ length: 10 }, (_, at) => ({
		label: `item ${at}`,
		value: at,
		heading: at < 4 ? "Low" : "High",
	}));
	const all = [
		"Low",
		...items.slice(0, 4).map(({ label }) => label),
		"High",
		...items.slice(4).map(({ label }) => label),
	];
	for (const rows of [1, 2, 3, 5, 12, 20]) {
		const shown = listWindow(items, selected, rows).map((row) => (typeof row === "string" ? row : items[row]?.label));
		expect(shown).toHaveLength(Math.min(rows, all.length));
		expect(shown).toContain(`item ${selected}`);
		expect(all.join("\n")).toContain(shown.join("\n"));
	}
	const { dialog } = open({ items, selected });
	const lines = dialog.render(40);
	expect(lines.filter((line) => line.startsWith(" → "))).toEqual([` → item ${selected}`]);
	expect(lines).toContain(selected < 4 ? " Low" : " High");
});
