import { expect, test } from "vitest";
import { StreamingMarkdown } from "../../src/tui/streaming-markdown.js";
import { createTheme } from "../../src/tui/theme.js";
import { bothScreens, Lines } from "./live-stage.js";

const theme = createTheme("dark");

/** A screen with a streaming block that has the line "one". */
async function streamingBlock() {
	const { live, liveTui, list, stockTui } = bothScreens(60, 16);
	stockTui.stop();
	const block = new Lines(["one"]);
	block.done = false;
	list.append(block);
	liveTui.requestStreamFrame();
	await live.waitFor("one");
	return { live, liveTui, block };
}

test("streaming draws at most one frame every 33 ms", async () => {
	const { live, liveTui, list, stockTui } = bothScreens(60, 16);
	stockTui.stop();
	const view = new StreamingMarkdown(theme);
	list.append(view);
	await live.settle();
	const before = live.writes.length;
	const start = performance.now();
	while (performance.now() - start < 200) {
		view.append("word ");
		liveTui.requestStreamFrame();
		await new Promise((resolve) => setImmediate(resolve));
	}
	await live.settle();
	expect(live.writes.length - before).toBeLessThanOrEqual(2 + (performance.now() - start) / 33);
	expect((await live.screen())[0]).toContain("word word");
});

test("a key is drawn at once, and streaming text waits for its own frame", async () => {
	const { live, liveTui, block } = await streamingBlock();
	block.text = ["one", "two"];
	liveTui.requestStreamFrame();
	const before = { rendered: block.rendered, writes: live.writes.length };
	for (const key of "key") live.send(key);
	await new Promise((resolve) => process.nextTick(resolve));
	const written = live.writes.slice(before.writes);
	expect(block.rendered).toBe(before.rendered);
	expect(written).toEqual([expect.stringContaining("key")]);
	expect(written[0]).not.toContain("two");
	await live.waitFor("two");
});

test("a finished block is drawn in the next frame during streaming", async () => {
	const { live, liveTui, block } = await streamingBlock();
	block.text = ["all of it"];
	block.done = true;
	liveTui.requestStreamFrame();
	live.send("x");
	await new Promise((resolve) => process.nextTick(resolve));
	expect(await live.rowsNow()).toContain("all of it");
});

test("fast streaming text is complete in the scrollback while keys are typed and the draft grows", async () => {
	const { live, liveTui, list, stockTui } = bothScreens(60, 16);
	stockTui.stop();
	const text = Array.from({ length: 300 }, (_, index) => `## Part ${index}\n\nSome *text*\nin it.\n\n- one\n\n`).join(
		"",
	);
	const view = new StreamingMarkdown(theme, { tailRows: () => 6 });
	list.append(view);
	for (let at = 0; at < text.length; at += 1_300) {
		view.append(text.slice(at, at + 1_300));
		liveTui.requestStreamFrame();
		live.send(["x", "\n", "\x7f", "\n"][(at / 1_300) % 4] ?? "");
		if (at % 3 === 0) await live.settle(15);
		else await new Promise((resolve) => process.nextTick(resolve));
	}
	view.finish(text);
	liveTui.requestRender();
	const lines = view.render(60).map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
	expect((await live.scrollback()).slice(0, lines.length)).toEqual(lines);
	expect(live.output).not.toMatch(/\x1b\[[23]?J/);
});
