import { expect, test } from "vitest";
import { startApp } from "./app.js";

/** A hook whose command `/open` runs this code, with boxes to show. */
const hook = (code: string) => `
const box = (name, keys = () => {}) => ({
	focused: false,
	render(width) { return [name + (this.focused ? "*" : "") + " " + width, ...Array.from({ length: 3 }, () => name.repeat(width + 5))]; },
	invalidate() {},
	handleInput(data) { keys(data); },
});
export default (pi) => pi.command("open", { async handler(ctx) { ${code} } });`;

async function open(code: string, size: { columns?: number; rows?: number } = {}) {
	const app = await startApp({ columns: 60, rows: 16, ...size, hooks: { "board.ts": hook(code) } });
	await app.submit("/open");
	return app;
}

/** The rows that show a text, with their positions. */
function found(rows: readonly string[], text: string): [row: number, column: number][] {
	return rows.flatMap((row, at) => (row.includes(text) ? [[at, row.indexOf(text)] as [number, number]] : []));
}

test.each([
	[{ anchor: "top-left", width: 20 }, [1, 0]],
	[{ anchor: "bottom-right", width: 20 }, [12, 40]],
	[{ anchor: "center", width: "50%", offsetX: 4, offsetY: -2 }, [4, 19]],
	[{ row: "100%", col: "0%", width: 10, margin: { bottom: 1, left: 2 } }, [11, 2]],
	[{ row: 3, col: 7, width: 1, minWidth: 12 }, [4, 7]],
	[{ anchor: "right-center", width: 20, margin: 1 }, [6, 39]],
	[{ anchor: "top-right", width: 500 }, [1, 0]],
])("an overlay with %j is at row and column %j", async (placement, [row, column]) => {
	const app = await open(
		`await ctx.ui.custom(() => box("A"), { overlay: true, placement: ${JSON.stringify(placement)} });`,
	);
	const rows = await app.terminal.waitFor("A* ");
	expect(found(rows, "A* ")).toEqual([[row, column]]);
	expect(found(rows, "── board")).toEqual([[(row ?? 0) - 1, column]]);
});

test("rows and columns beyond the placement are cut, and the screen beside an overlay is seen", async () => {
	const app = await open(
		`await ctx.ui.custom(() => box("A"), { overlay: true, placement: { anchor: "bottom-left", width: 10, maxHeight: 3 } });`,
	);
	const rows = await app.terminal.waitFor("A* 10");
	expect(rows.slice(13).map((row) => row.slice(0, 10))).toEqual(["── board ─", "A* 10     ", "… 3 more …"]);
	expect(rows.join("\n")).toContain("/open · ");
});

test("overlays of one hook lie over each other; the one opened last has the focus, and closing it gives it to the other", async () => {
	const app = await open(`
		const results = [];
		const show = (name, placement) => ctx.ui.custom((tui, theme, keys, done) =>
			box(name, (data) => { if (data === "x") done(name); }), { overlay: true, placement }).then((result) => results.push(result));
		const shown = [show("A", { row: 1, col: 0, width: 20 }), show("B", { row: 2, col: 10, width: 20 })];
		await Promise.all(shown);
		return { status: "closed " + results.join() };`);
	const both = await app.terminal.waitFor("B* 20");
	expect(both[3]).toMatch(/^A{10}B\* 20/);
	await app.terminal.type("x");
	await app.terminal.waitFor("A* 20");
	await app.terminal.type("x");
	await app.terminal.waitFor("closed B,A");
});

test("a component shows others next to itself, which get the focus only when they ask for it", async () => {
	const app = await open(`
		await ctx.ui.custom((tui, theme, keys, done) => {
			let handle;
			const side = box("S", (data) => { if (data === "u") handle.unfocus(); if (data === "h") handle.hide(); });
			handle = tui.showOverlay(side, { nonCapturing: true, anchor: "top-right", width: 12 });
			return box("A", (data) => { if (data === "f") handle.focus(); if (data === "x") done(null); });
		}, { overlay: true, placement: { anchor: "top-left", width: 12 } });
		return { status: "closed" };`);
	const rows = await app.terminal.waitFor("A* 12");
	expect(found(rows, "S 12")).toEqual([[0, 48]]);
	await app.terminal.type("f");
	await app.terminal.waitFor("S* 12");
	await app.terminal.type("u");
	await app.terminal.waitFor("A* 12");
	await app.terminal.type("fh");
	await expect.poll(async () => (await app.terminal.screen()).join("\n")).not.toContain("S 12");
	await app.terminal.type("x");
	await app.terminal.waitFor("closed");
});

test("a handle hides and shows an overlay; meanwhile the editor has the keys", async () => {
	const app = await open(`
		const onHandle = (handle) => { globalThis.__handle = handle; };
		await ctx.ui.custom(() => box("A"), { overlay: true, placement: { width: 20 }, onHandle });
		return { status: "closed" };`);
	await app.terminal.waitFor("A* 20");
	const handle = Reflect.get(globalThis, "__handle");
	handle.setHidden(true);
	await app.terminal.type("typed");
	const rows = await app.terminal.waitFor("typed");
	expect(rows.join("\n")).not.toContain("A* 20");
	handle.setHidden(false);
	await app.terminal.waitFor("A* 20");
	handle.hide();
	await app.terminal.waitFor("closed");
	Reflect.deleteProperty(globalThis, "__handle");
});

test("an overlay that does not want a small screen leaves the editor to the user until it is large enough", async () => {
	const app = await open(
		`await ctx.ui.custom(() => box("A"), { overlay: true, placement: () => ({ width: 20, visible: (columns) => columns >= 70 }) });`,
	);
	await app.terminal.type("typed");
	await app.terminal.waitFor("typed");
	app.terminal.resize(80, 16);
	await app.terminal.waitFor("A* 20");
	app.terminal.resize(60, 16);
	await app.terminal.type(" more");
	await app.terminal.waitFor("typed more");
});

test.each([
	["placement: () => { throw new Error('no place'); }", "no place"],
	["placement: { visible() { throw new Error('no eyes'); } }", "no eyes"],
	["onHandle() { throw new Error('no hands'); }", "no hands"],
])("an overlay with %s is shown, and the error reported", async (option, error) => {
	const app = await open(`await ctx.ui.custom(() => box("A"), { overlay: true, ${option} });`);
	await app.terminal.waitFor("A* ");
	await app.terminal.press("escape");
	const rows = await app.terminal.waitFor(error);
	expect(rows.join("\n")).toContain("failed on ui.custom");
});

test.each([
	["placement: 7", "placement must be an object, a function or undefined"],
	["onHandle: 7", "onHandle must be a function or undefined"],
])("custom refuses %s", async (option, problem) => {
	const app = await open(`await ctx.ui.custom(() => box("A"), { overlay: true, ${option} });`);
	await app.terminal.waitFor(problem);
});
