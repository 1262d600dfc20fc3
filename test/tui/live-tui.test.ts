import { Editor } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import { type Block, BlockList, LiveTUI } from "../../src/tui/live-tui.js";
import { StreamingMarkdown } from "../../src/tui/streaming-markdown.js";
import { lendTerminal } from "../../src/tui/terminal-guard.js";
import { createTheme } from "../../src/tui/theme.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";
import { bothScreens, Lines, numbered } from "./live-stage.js";

const theme = createTheme("dark");

test("screen and scrollback equal those of pi-tui's TUI over 1 400 lines of streaming, typing and resizing", async () => {
	const { stock, live, list, add, render, send, same } = bothScreens();
	let line = 0;
	for (let round = 0; round < 20; round += 1) {
		const block = new Lines([]);
		block.done = false;
		add(block);
		for (let piece = 0; piece < 5; piece += 1) {
			block.text = [...block.text, ...numbered(line, 14)];
			line += 14;
			render();
			await live.settle(17);
			block.settledLines = block.text.length;
		}
		block.done = true;
		if (round % 10 === 3) send(..."one\ntwo\nthree\nfour\nfive");
		if (round % 10 === 6) send(...Array.from({ length: 30 }, () => "\x7f"));
		if (round % 10 === 7) await same();
	}
	await same();
	expect(list.hasLifted).toBe(true);
	expect(line).toBe(1_400);
	expect(live.output).not.toMatch(/\x1b\[[23]?J/);
	for (const [columns, rows, isFilled] of [
		[50, 16, true],
		[50, 9, true],
		// Filling it would draw lines again that are in the scrollback twice.
		[72, 20, false],
	] as const) {
		const before = await live.scrollback();
		stock.resize(columns, rows);
		live.resize(columns, rows);
		await live.waitFor((screen) => screen.some((row) => /^─+$/.test(row) && row.length === columns));
		const shown = await live.screen();
		expect(shown).toEqual((await stock.screen()).slice(isFilled ? 0 : -shown.length));
		const after = await live.scrollback();
		const above = before.length - Math.max(rows, 16) - 10;
		expect(after.slice(0, above)).toEqual(before.slice(0, above));
		expect(after.length - before.length).toBeLessThan(40);
		for (const text of numbered(0, 1_400)) if (!after.includes(text)) expect(after).toContain(text);
	}
	expect(live.output).not.toMatch(/\x1b\[[23]J/);
}, 60_000);

test("a streaming block taller than the screen ends up complete, whichever lines change", async () => {
	const { add, render, same, sameFrom, live } = bothScreens(40, 10);
	add(new Lines(numbered(0, 30)));
	const tall = new Lines(numbered(100, 25));
	tall.done = false;
	add(tall);
	await same();
	tall.text = ["changed at the top", ...numbered(101, 28)];
	render();
	await sameFrom("changed at the top");
	tall.text = [...tall.text, "changed at the end"];
	tall.done = true;
	render();
	await sameFrom("changed at the top");
	add(new Lines(numbered(200, 12)));
	await sameFrom("changed at the top");
	expect((await live.scrollback()).slice(0, 30)).toEqual(numbered(0, 30));
});

test("a keystroke renders only visible lines, however long the session is", async () => {
	const { liveTui, list, live } = bothScreens(60, 16);
	const blocks = Array.from({ length: 1_000 }, (_, index) => new Lines(numbered(index * 4, 4)));
	for (const block of blocks) list.append(block);
	liveTui.requestRender();
	await live.settle();
	for (const block of blocks) block.rendered = 0;
	live.send("x");
	await live.settle();
	expect(blocks.reduce((sum, block) => sum + block.rendered, 0)).toBeLessThan(60);
});

test("a redraw brings back the last lines and shows how many it omits", async () => {
	const terminal = new VirtualTerminal(60, 8);
	const list = new BlockList((lines) => `${lines} before`, 20);
	const tui = new LiveTUI(terminal, { blocks: list });
	tui.start();
	onTestFinished(() => tui.stop());
	for (let index = 0; index < 30; index += 1) {
		list.append(new Lines(numbered(index * 4, 4)));
		tui.requestRender();
		await terminal.settle(17);
	}
	expect(await terminal.scrollback()).toHaveLength(120);
	list.redraw();
	const scrolledOff = numbered(0, 112);
	expect(await terminal.scrollback()).toEqual([...scrolledOff, "100 before", ...numbered(100, 20)]);
	expect(tui.fullRedraws).toBe(2);
	list.append(new Lines(["new"]));
	tui.requestRender();
	expect(await terminal.scrollback()).toEqual([...scrolledOff, "100 before", ...numbered(100, 20), "new"]);
});

test("replaceAll shows only the new blocks", async () => {
	const { liveTui, live, list, add } = bothScreens(40, 8);
	add(new Lines(numbered(0, 30)));
	await live.settle();
	list.replaceAll([new Lines(["only this"])]);
	expect((await live.screen()).slice(0, 2)).toEqual(["only this", "─".repeat(40)]);
	expect(liveTui.fullRedraws).toBe(2);
});

/** A LiveTUI on a terminal that already shows other output. */
async function belowOthers({ columns = 40, rows = 12, lines = 3 } = {}) {
	const terminal = new VirtualTerminal(columns, rows);
	const others = Array.from({ length: lines }, (_, index) => `other ${index}`);
	terminal.write(others.map((line) => `${line}\r\n`).join(""));
	const list = new BlockList();
	const tui = new LiveTUI(terminal, { blocks: list, resizeDelayMs: 10 });
	const editor = new Editor(tui, theme.editor);
	tui.addChild(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	await terminal.settle();
	return { terminal, others, list, tui };
}

test.each([
	["a redraw", 40, 12],
	["a smaller width", 20, 12],
	["a larger width", 60, 12],
	["fewer rows", 40, 9],
	["more rows", 40, 16],
])("%s of a short screen starts at its own first row", async (_, columns, rows) => {
	const { terminal, others, list } = await belowOthers();
	list.append(new Lines(["first", "second"]));
	if (columns === 40 && rows === 12) list.redraw();
	else terminal.resize(columns, rows);
	const rule = "─".repeat(columns);
	await terminal.waitFor((screen) => screen.includes(rule) && screen.includes("second"));
	const lines = (await terminal.scrollback()).map((line) => line.trimEnd());
	expect(lines).toEqual([...others, "first", "second", rule, "", rule]);
});

test("start draws the first frame at once, and a frame requested before it does not block later ones", async () => {
	const terminal = new VirtualTerminal(40, 6);
	const list = new BlockList();
	const tui = new LiveTUI(terminal, { blocks: list });
	onTestFinished(() => tui.stop());
	list.append(new Lines(["first"]));
	tui.requestRender();
	await terminal.settle();
	expect(terminal.output).toBe("");
	tui.start();
	expect(terminal.output).toContain("first");
	list.append(new Lines(["second"]));
	tui.requestRender();
	await terminal.waitFor("second");
});

test("a forced frame of a hook redraws the transcript", async () => {
	const { list, tui } = await belowOthers();
	list.append(new Lines(["first"]));
	tui.renderNow();
	const before = tui.fullRedraws;
	tui.renderNow(true);
	expect(tui.fullRedraws).toBe(before + 1);
});

test("the output of another program remains in the scrollback after the screen is full", async () => {
	const { terminal, others, list, tui } = await belowOthers({ lines: 20 });
	list.append(new Lines(numbered(0, 50).map((line) => line.slice(0, 20))));
	tui.requestRender();
	await terminal.settle();
	terminal.resize(30, 14);
	await terminal.waitFor((screen) => screen.includes("─".repeat(30)));
	list.redraw();
	expect((await terminal.scrollback()).slice(0, 20)).toEqual(others);
	expect(terminal.output).not.toMatch(/\x1b\[[23]J/);
});

test("after another program used the terminal, the screen continues below it with all new lines", async () => {
	const { terminal, list, tui } = await belowOthers();
	list.append(new Lines(numbered(0, 30).map((line) => line.slice(0, 20))));
	tui.requestRender();
	await terminal.settle();
	tui.stop();
	terminal.write("shell> fg\r\n");
	for (let index = 100; index < 130; index += 1) list.append(new Lines([`meanwhile ${index}`]));
	tui.start();
	const lines = await terminal.scrollback();
	const fg = lines.indexOf("shell> fg");
	expect(lines.slice(0, fg)).toContain("line 0 ");
	expect(lines.slice(fg).filter((line) => line.startsWith("meanwhile"))).toHaveLength(30);
	expect(terminal.output).not.toMatch(/\x1b\[[23]?J/);
});

test.each([
	["draws on the alternate screen itself", "\x1b[?1049hfull screen\x1b[?1049l"],
	["writes lines", "one\r\ntwo\r\n".repeat(20)],
])("after a program to which the terminal is lent, and that %s, the main screen is as before", async (_, output) => {
	const { live, liveTui, add, send } = bothScreens(40, 10);
	add(new Lines(numbered(0, 30)));
	send("a", " ", "d", "r", "a", "f", "t");
	const before = { screen: await live.screen(), scrollback: await live.scrollback() };
	await lendTerminal(liveTui, async () => live.write(output));
	expect({ screen: await live.screen(), scrollback: await live.scrollback() }).toEqual(before);
	expect(live.running).toBe(true);
	await live.type("x");
	expect((await live.screen()).at(-2)).toContain("a draftx");
});

test("a screen that is closed while the terminal is lent returns to the main screen", async () => {
	const { live, liveTui, add } = bothScreens(40, 10);
	add(new Lines(["one", "two", "three"]));
	const before = await live.screen();
	liveTui.stop({ lends: true });
	expect(await live.screen()).toEqual([]);
	liveTui.stop();
	expect(await live.screen()).toEqual(before);
});

test("the screen begins on a row of its own", async () => {
	const terminal = new VirtualTerminal(40, 12);
	terminal.write("a prompt without end> ");
	const tui = new LiveTUI(terminal);
	tui.blocks.append(new Lines(["x".repeat(40), "end"]));
	tui.start();
	onTestFinished(() => tui.stop());
	const lines = (await terminal.screen()).map((line) => line.trimEnd());
	expect(lines).toEqual(["a prompt without end>", "x".repeat(40), "end"]);
});

test("control sequences of a component are removed, except styles, links and the cursor's mark", async () => {
	const { terminal, list, tui } = await belowOthers({ columns: 60 });
	const link = "\x1b]8;;https://example.org\x07link\x1b]8;;\x07";
	const before = terminal.output.length;
	list.append(new Lines([`\x1b]0;title\x07 \x1b[31mred\x1b[0m \x9b2J\x1b_Gi=1\x1b\\ \x1b[?1l`, link]));
	tui.requestRender();
	expect((await terminal.screen())[3]).toBe("␛]0;title^G red ‹U+009B›2J␛_Gi=1␛\\ ␛[?1l");
	const written = terminal.output.slice(before);
	expect(written).toContain("\x1b[31mred\x1b[m");
	expect(written).toContain(link);
	expect(written).not.toMatch(/\x1b\]0|\x9b|\x1b_|\x1b\[\?1l|\x1b\\/);
});

test("streamed Markdown is complete in the scrollback without a clear, and scrolled-off lines cost nothing", async () => {
	const { live, liveTui, list, stockTui } = bothScreens(60, 16);
	stockTui.stop();
	const text = Array.from(
		{ length: 60 },
		(_, index) =>
			`## Part ${index}\n\nSome *text* in it.\n\n- one\n- two\n\n\`\`\`\n${"code\n".repeat(index % 30)}\`\`\`\n\n`,
	).join("");
	const view = new StreamingMarkdown(theme, { tailRows: () => 6 });
	list.append(view);
	let longest = 0;
	for (let at = 0; at < text.length; at += 97) {
		view.append(text.slice(at, at + 97));
		liveTui.requestRender();
		await live.settle(2);
		longest = Math.max(longest, list.render(60).length);
	}
	view.finish(text);
	liveTui.requestRender();
	const lines = view.render(60).map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
	expect((await live.scrollback()).slice(0, lines.length)).toEqual(lines);
	expect(live.output).not.toMatch(/\x1b\[[23]?J/);
	expect(lines.length).toBeGreaterThan(1_200);
	expect(longest).toBeLessThan(150);
}, 30_000);

test("many resizes cause one redraw", async () => {
	const { liveTui, live, add } = bothScreens(60, 16);
	add(new Lines(numbered(0, 100)));
	await live.settle();
	for (let width = 59; width > 40; width -= 1) live.resize(width, 16);
	await live.settle();
	await live.waitFor((screen) => screen.some((row) => row.length === 41));
	expect(liveTui.fullRedraws).toBe(2);
});

test("a hundred random sizes leave the screen alive and no line too wide", async () => {
	const { liveTui, live, list, render } = bothScreens(60, 16);
	let seed = 7;
	const random = (limit: number) => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed % limit;
	};
	for (let round = 0; round < 100; round += 1) {
		list.append(new Lines(numbered(round * 3, 3)));
		live.resize(1 + random(120), 1 + random(40));
		if (round % 3 === 0) live.send(String.fromCharCode(97 + random(26)));
		render();
		if (round % 5 === 0) await live.settle();
	}
	live.resize(50, 12);
	await live.waitFor((screen) => screen.some((row) => row.startsWith("line 299")));
	expect(liveTui.terminal.columns).toBe(50);
}, 30_000);

test("a line that is too wide or contains a line end is truncated, and a block that throws becomes one line", async () => {
	const { live, add, stockTui } = bothScreens(20, 8);
	stockTui.stop();
	const wide: Block = { done: true, render: () => ["x".repeat(50), "two\nlines"], invalidate() {} };
	const broken: Block = {
		done: true,
		render: () => {
			throw new Error("no way");
		},
		invalidate() {},
	};
	add(wide);
	add(broken);
	expect((await live.screen()).slice(0, 3)).toEqual([`${"x".repeat(19)}…`, "two lines", "(cannot be drawn: n…"]);
});

test("a redraw does not clear from the first cell, because tmux would push the cleared text into the scrollback", async () => {
	const terminal = new VirtualTerminal(40, 10);
	const screen = new LiveTUI(terminal);
	onTestFinished(() => screen.stop());
	screen.addChild(new Lines(["one", "two", "three"]));
	screen.start();
	await terminal.settle();
	terminal.writes.length = 0;
	screen.requestRender(true);
	await terminal.settle();
	expect(terminal.output).toContain("\x1b[C\x1b[J");
	expect(terminal.output.replaceAll("\x1b[C\x1b[J", "")).not.toContain("\x1b[J");
	expect((await terminal.screen()).slice(0, 4)).toEqual(["one", "two", "three"]);
});
