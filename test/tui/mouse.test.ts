import { type Component, Container } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import { SHOWN_MS } from "../../src/tui/answer-guard.js";
import { clickable, clickedRow } from "../../src/tui/clicks.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { addressLink, showLinks } from "../../src/tui/links.js";
import { LiveTUI } from "../../src/tui/live-tui.js";
import { linkAt, Mouse } from "../../src/tui/mouse.js";
import { OverlayStack } from "../../src/tui/overlay-stack.js";
import { ScrollList, ScrollText } from "../../src/tui/scroll.js";
import { SelectDialog } from "../../src/tui/select-dialog.js";
import { createTheme } from "../../src/tui/theme.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const REPORTS = { on: "\x1b[?1000h\x1b[?1006h", off: "\x1b[?1006l\x1b[?1000l" };
const theme = createTheme("plain");

/** A screen below three rows of another program, with an editor and dialogs. */
function start({ mouse: isWanted = true } = {}) {
	const terminal = new VirtualTerminal(60, 20);
	terminal.write("another\r\nprogram\r\nwas here\r\n");
	const clock = { now: 0 };
	const opened: string[] = [];
	const host = {
		write: (data: string) => terminal.write(data),
		type: (data: string) => tui.type(data),
		askCursor: (onRow: (row: number) => void) => tui.cursor.ask(onRow),
		openLink: (address: string) => void opened.push(address),
		columns: () => terminal.columns,
	};
	const mouse = new Mouse(host, () => clock.now);
	const tui: LiveTUI = new LiveTUI(terminal, { onStart: () => mouse.start(), onStop: () => mouse.stop() });
	tui.mouse = mouse;
	mouse.use(isWanted);
	const typed: string[] = [];
	const editor: Component = { render: () => ["editor"], invalidate() {}, handleInput: (data) => void typed.push(data) };
	const slot = new Container();
	tui.addChild(slot);
	const overlays = new OverlayStack(tui, slot, editor, (shown) => mouse.follow(shown !== "editor"));
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	const style = { theme, keymap: createKeymap(), rows: () => terminal.rows, marksRows: () => isWanted };
	const choose = (title: string, labels: readonly string[]) =>
		overlays.open<string | null>(
			(settle) =>
				new SelectDialog(style, {
					title,
					items: labels.map((label) => ({ label, value: label })),
					onSelect: settle,
					onCancel: () => settle(null),
				}),
			{ canceled: null },
		);
	/** The row of the screen that contains a text, from 0. */
	const rowOf = async (text: string) => (await terminal.screen()).findIndex((line) => line.includes(text));
	const send = async (button: number, row: number, column = 4, isRelease = false) => {
		terminal.send(`\x1b[<${button};${column + 1};${row + 1}${isRelease ? "m" : "M"}`);
		await terminal.settle();
	};
	const click = async (row: number, column = 4) => {
		await send(0, row, column);
		await send(0, row, column, true);
	};
	const reports = () =>
		terminal.writes
			.join("")
			.match(/\x1b\[\?100[06][hl]/g)
			?.join("") ?? "";
	const wait = (ms = SHOWN_MS) => {
		clock.now += ms;
	};
	return { terminal, tui, mouse, overlays, style, choose, rowOf, send, click, wait, reports, opened, typed };
}

test("reports of the mouse are on only while a dialog is open, and only if the user wants them", async () => {
	const { terminal, tui, choose, reports } = start();
	expect(reports()).toBe("");
	const chosen = choose("Fruit", ["apple"]);
	await terminal.settle();
	expect(reports()).toBe(REPORTS.on);
	tui.stop();
	expect(reports()).toBe(REPORTS.on + REPORTS.off);
	tui.start();
	await terminal.press("escape");
	await chosen;
	expect(reports()).toBe(REPORTS.on + REPORTS.off + REPORTS.on + REPORTS.off);
	const other = start({ mouse: false });
	void other.choose("Fruit", ["apple"]);
	await other.terminal.settle();
	expect(other.reports()).toBe("");
});

test("a click chooses the row under the pointer, below the rows of another program", async () => {
	const { choose, click, rowOf, wait } = start();
	const chosen = choose("Fruit", ["apple", "banana", "cherry"]);
	const row = await rowOf("banana");
	expect(row).toBeGreaterThan(3);
	wait();
	await click(row);
	expect(await chosen).toBe("banana");
});

test("a click right after the dialog opened or its rows moved chooses nothing", async () => {
	const { terminal, choose, click, rowOf, wait } = start();
	let answer: string | null | undefined;
	void choose("Fruit", ["apple", "banana", "cherry", "blueberry"]).then((chosen) => {
		answer = chosen;
	});
	await click(await rowOf("banana"));
	expect(answer).toBeUndefined();
	wait();
	await terminal.type("berry");
	await click(await rowOf("blueberry"));
	expect(answer).toBeUndefined();
	wait();
	await click(await rowOf("blueberry"));
	expect(answer).toBe("blueberry");
});

test("a press before the row has been there for a while chooses nothing, however late the release is", async () => {
	const { terminal, choose, send, rowOf, wait } = start();
	let answer: string | null | undefined;
	void choose("Fruit", ["apple", "banana", "cherry"]).then((chosen) => {
		answer = chosen;
	});
	const row = await rowOf("banana");
	await send(0, row);
	wait(2000);
	await send(0, row, 4, true);
	expect(answer).toBeUndefined();
	await send(0, row);
	await terminal.type("rr");
	wait(2000);
	await send(0, row, 4, true);
	expect(answer).toBeUndefined();
});

test("neither a drag, nor another button, nor a click beside the rows chooses", async () => {
	const { choose, click, send, rowOf, wait } = start();
	let isClosed = false;
	void choose("Fruit", ["apple", "banana"]).then(() => {
		isClosed = true;
	});
	const row = await rowOf("apple");
	wait();
	await send(0, row);
	await send(0, row + 1, 4, true);
	await send(2, row);
	await send(2, row, 4, true);
	await click(0);
	await click(await rowOf("Fruit"));
	await click(19);
	expect(isClosed).toBe(false);
});

test("the wheel moves the selection and does not go around", async () => {
	const { choose, send, terminal } = start();
	void choose("Fruit", ["apple", "banana"]);
	const selected = async () => (await terminal.screen()).find((line) => line.includes("→"))?.trim();
	await send(64, 5);
	expect(await selected()).toBe("→ apple");
	await send(65, 5);
	await send(65, 5);
	expect(await selected()).toBe("→ banana");
});

test("what terminals and labels send as a mark is no click", async () => {
	const { terminal, choose, style, typed } = start();
	const mark = clickable("", 1, style);
	expect(clickedRow(mark)).toBe(1);
	let isClosed = false;
	void choose("Fruit", [`${mark}apple`, "banana"]).then(() => {
		isClosed = true;
	});
	terminal.send(mark);
	await terminal.settle();
	expect(isClosed).toBe(false);
	expect((await terminal.text()).match(/_pi:row:1/g)).toHaveLength(1);
	await terminal.press("escape");
	terminal.send(mark);
	terminal.send("\x1b[<0;1;1M");
	await terminal.settle();
	expect(typed).toEqual([]);
});

test("on the alternate screen a click hits the row that is drawn there", async () => {
	const { terminal, overlays, style, click, wait } = start();
	const clicked: (number | null)[] = [];
	void overlays.open<null>(
		() => ({
			render: () => ["title", clickable("first", 7, style), clickable("second", 8, style)],
			invalidate() {},
			handleInput: (data: string) => void clicked.push(clickedRow(data)),
		}),
		{ canceled: null, isFullScreen: true },
	);
	expect(await terminal.screen()).toEqual(["title", "first", "second"]);
	wait();
	await click(2);
	await click(0);
	expect(clicked).toEqual([8]);
});

test("a click on a link opens its address", async () => {
	showLinks(true);
	onTestFinished(() => showLinks(false));
	const { overlays, click, wait, opened, terminal } = start();
	const line = `see ${addressLink("the page", "https://example.com/a?b=c")} or http://localhost:3000/x.`;
	void overlays.open<null>(() => ({ render: () => [line], invalidate() {} }), { canceled: null });
	const row = (await terminal.screen()).findIndex((text) => text.includes("the page"));
	wait();
	for (const column of [1, 6, 13, 20, 45]) await click(row, column);
	expect(opened).toEqual(["https://example.com/a?b=c", "http://localhost:3000/x"]);
});

test.each([
	["https://example.com/", 3, "https://example.com/"],
	["a https://example.com/x", 1, null],
	["(https://example.com/x)", 22, null],
	["日本 https://example.com/x", 6, "https://example.com/x"],
	["file:///etc/passwd", 3, null],
	["\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07", 2, null],
	["\x1b]8;;file:///bin/sh\x07click\x1b]8;;\x07", 2, null],
	["\x1b]8;id=1;https://example.com/\x1b\\click\x1b]8;;\x1b\\ after", 7, null],
	["\x1b]8;id=1;https://example.com/\x1b\\click\x1b]8;;\x1b\\", 2, "https://example.com/"],
])("in %j the address at column %i is %j", (line, column, address) => {
	expect(linkAt(line, column, 80)).toBe(address);
});

test("an address that ends at the edge of the screen may go on below, so it is not opened", () => {
	expect(linkAt("https://example.com/", 3, 20)).toBeNull();
});

test("in lists a click selects a row, in texts the wheel scrolls by three", () => {
	const keymap = createKeymap();
	const list = new ScrollList(() => 5);
	const style = { marksRows: () => true };
	expect(list.handle(clickable("", 3, style), keymap, 10)).toBe(true);
	expect(list.selected).toBe(3);
	// The second click is for the panel, for which it is Enter.
	expect(list.handle(clickable("", 3, style), keymap, 10)).toBe(false);
	expect(keymap.matches(clickable("", 3, style), "dialog.accept")).toBe(true);
	const text = new ScrollText(() => 5);
	text.window(40);
	text.handle("\x1b_pi:wheel:down\x07", keymap);
	expect(text.window(40).from).toBe(3);
	text.handle("\x1b_pi:wheel:up\x07", keymap);
	expect(text.window(40).from).toBe(0);
});
