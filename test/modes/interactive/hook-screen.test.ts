import { expect, test, vi } from "vitest";
import { skipTime } from "../../helpers/skip-time.js";
import { type App, startApp } from "./app.js";
import { belowEditor, start } from "./hook-board.js";

/** The rows from the last message to the editor's upper border. */
async function aboveEditor({ terminal }: App, from: string): Promise<string[]> {
	const rows = await terminal.screen();
	const end = rows.findIndex((row) => row.startsWith("────"));
	return rows.slice(
		rows.findIndex((row) => row.includes(from)),
		end,
	);
}

const STATUSES = (name: string, text: string) =>
	`export default (pi) => pi.on("session", (event, ctx) => { if (event.reason === "start") ctx.ui.setStatus("${name}", ${text}); });`;

test.each([
	[40, ["budget $1.20 … · 3 todos · the last hoo…"]],
	[80, ["budget $1.20 of $5 · 3 todos · the last hook says something longer"]],
	[120, ["budget $1.20 of $5 · 3 todos · the last hook says something longer"]],
])("at %d columns statuses share a line of the footer in load order", async (columns, lines) => {
	const app = await startApp({
		columns,
		hooks: {
			"a.ts": STATUSES("cost", '"budget $1.20 of $5"'),
			"b.ts": STATUSES("todos", '"3\\ntodos"'),
			"c.ts": STATUSES("last", '"the last hook says something longer"'),
		},
	});
	await app.terminal.waitFor("budget");
	expect((await belowEditor(app)).slice(columns < 50 ? 1 : 2)).toEqual(lines);
});

test("a status is replaced and removed by its key, and control sequences in it are shown", async () => {
	const app = await start({
		on: 'ctx.ui.setStatus("a", ctx.ui.theme.success("one\\x1b[2J")); ctx.ui.setStatus("b", "two")',
		change: 'ctx.ui.setStatus("a", "three")',
		off: 'ctx.ui.setStatus("a", undefined); ctx.ui.setStatus("b", undefined)',
	});
	await app.submit("/on");
	await app.terminal.waitFor("one␛[2J · two");
	await app.submit("/change");
	await app.terminal.waitFor("three · two");
	await app.submit("/off");
	await app.terminal.waitFor((rows) => !rows.join("\n").includes("two"));
	expect(await belowEditor(app)).toHaveLength(2);
});

test.each([40, 80, 120])("at %d columns widgets stand above and below the editor", async (columns) => {
	const app = await start(
		{
			show: `
				ctx.ui.setWidget("todo", ["todo", "  write the test", "x".repeat(130)]);
				ctx.ui.setWidget("clock", (tui, theme) => ({ render: (width) => [theme.dim("width " + width)], invalidate() {} }),
					{ placement: "belowEditor" });`,
			hide: 'ctx.ui.setWidget("todo", undefined); ctx.ui.setWidget("clock", undefined)',
		},
		{ columns },
	);
	await app.submit("/show");
	await app.terminal.waitFor(`width ${columns}`);
	expect(await aboveEditor(app, "todo")).toEqual([
		"todo",
		"  write the test",
		columns === 120 ? `${"x".repeat(119)}…` : `${"x".repeat(columns - 1)}…`,
	]);
	expect((await belowEditor(app))[0]).toBe(`width ${columns}`);
	await app.submit("/hide");
	await app.terminal.waitFor((rows) => !rows.join("\n").includes("width"));
});

test("all widgets together use at most a third of the screen", async () => {
	const app = await start({
		show: `
			for (const name of ["a", "b", "c"]) ctx.ui.setWidget(name, Array.from({ length: 10 }, (_, i) => name + i));
			ctx.ui.setWidget("short", ["one line"]);`,
	});
	await app.submit("/show");
	await app.terminal.waitFor("one line");
	expect(await aboveEditor(app, "a0")).toEqual([
		"a0",
		"a1",
		"… 8 more lines",
		"b0",
		"… 9 more lines",
		"c0",
		"… 9 more lines",
		"one line",
	]);
});

const COUNTER = `await ctx.ui.custom((tui, theme, keys, done) => {
	let count = 0;
	return {
		render: () => [theme.accent("count " + count), "space adds, enter ends"],
		handleInput(data) {
			if (data === " ") count++;
			if (keys.matches(data, "dialog.accept")) done(count);
		},
		invalidate() {},
		dispose() { globalThis.disposals = (globalThis.disposals ?? 0) + 1; },
	};
}, OPTIONS)`;

test.each([40, 120])(
	"at %d columns a component takes the editor's place, receives keys and answers once",
	async (columns) => {
		const app = await start(
			{ count: `return { status: "counted " + ${COUNTER.replace("OPTIONS", "{}")} };` },
			{ columns },
		);
		Reflect.set(globalThis, "disposals", 0);
		await app.submit("/count");
		await app.terminal.waitFor("count 0");
		await app.terminal.type("  ");
		const rows = await app.terminal.waitFor("count 2");
		const at = rows.findIndex((row) => row.startsWith("── board"));
		expect(rows.slice(at, at + 3)).toEqual([
			`── board ${"─".repeat(columns - 9)}`,
			"count 2",
			"space adds, enter ends",
		]);
		await app.terminal.press("enter");
		await app.terminal.waitFor("counted 2");
		expect(Reflect.get(globalThis, "disposals")).toBe(1);
		await app.terminal.type("typed");
		await app.terminal.waitFor("typed");
	},
);

test.each([40, 120])("at %d columns an overlay covers the transcript and leaves it as it was", async (columns) => {
	const app = await start(
		{ count: `return { status: "counted " + ${COUNTER.replace("OPTIONS", "{ overlay: true }")} };` },
		{ columns },
	);
	app.provider.on(() => "an answer");
	await app.submit("hello");
	await app.terminal.waitFor("an answer");
	const before = await app.terminal.screen();
	await app.submit("/count");
	const rows = await app.terminal.waitFor("count 0");
	const at = rows.findIndex((row) => row.startsWith("── board"));
	expect(rows.slice(at, at + 4)).toEqual([
		`── board ${"─".repeat(columns - 9)}`,
		"count 0",
		"space adds, enter ends",
		"─".repeat(columns),
	]);
	expect(rows[1]).toBe(before[1]);
	await app.terminal.press("space", "enter");
	await app.terminal.waitFor("counted 1");
	expect((await app.terminal.scrollback()).filter((row) => row.includes("count 0"))).toEqual([]);
});

test("an overlay next to a prompt is in its column, over the band of the prompt", async () => {
	const place = `{ overlay: true, placement: { anchor: "top-right", width: 12 } }`;
	const app = await start({
		open: `await ctx.ui.custom(() => ({ render: () => Array(6).fill("[" + "x".repeat(10) + "]"), invalidate() {} }), ${place});`,
	});
	app.provider.on(() => "an answer");
	await app.submit("hello");
	await app.terminal.waitFor("an answer");
	await app.submit("/open");
	const rows = await app.terminal.waitFor("[xxxxxxxxxx]");
	const prompt = rows.find((row) => row.includes("› hello"));
	expect(prompt).toMatch(/^. › hello {20,}\[x{10}\]$/);
	expect(prompt).toHaveLength(80);
	expect(new Set(rows.filter((row) => row.includes("[x")).map((row) => row.indexOf("[x"))).size).toBe(1);
});

test.each([
	["ignores Escape", "handleInput() {}", ["escape"]],
	["has no handleInput", "", ["escape"]],
	["ignores Ctrl+C", "handleInput() { n++; }", ["ctrl+c", "ctrl+c"]],
] as const)("a component that %s is closed with null", async (_, handler, keys) => {
	const app = await start({
		open: `let n = 0; const result = await ctx.ui.custom(() => ({ render: () => ["open " + n], invalidate() {}, ${handler} }));
			return { status: "result " + result };`,
	});
	await app.submit("/open");
	await app.terminal.waitFor("open 0");
	await app.terminal.press(...keys);
	await app.terminal.waitFor("result null");
});

test("Escape belongs to a component that reacts to it", async () => {
	const app = await start({
		open: `let mode = "menu"; const result = await ctx.ui.custom((tui, theme, keys, done) => ({
			render: () => ["mode " + mode],
			handleInput() { if (mode === "menu") mode = "game"; else done("ended"); },
			invalidate() {},
		})); return { status: "result " + result };`,
	});
	await app.submit("/open");
	await app.terminal.waitFor("mode menu");
	await app.terminal.press("escape");
	await app.terminal.waitFor("mode game");
	await app.terminal.press("escape");
	await app.terminal.waitFor("result ended");
});

test.each([
	["its factory throws", '() => { throw new Error("no board") }', "no board"],
	["its factory rejects", 'async () => { throw new Error("no board") }', "no board"],
	["its factory returns no component", "() => 7", "the factory did not return a"],
	["its factory throws null", "() => { throw null }", "null was thrown"],
	["render throws", '() => ({ render() { throw new Error("no board") }, invalidate() {} })', "no board"],
	[
		"handleInput throws",
		'() => ({ render: () => ["press a key"], handleInput() { throw new Error("no board") }, invalidate() {} })',
		"no board",
	],
])("custom returns null and reports the error when %s", async (_, factory, error) => {
	const app = await start({ open: `return { status: "result " + await ctx.ui.custom(${factory}) };` });
	await app.submit("/open");
	await app.terminal.waitFor(/press a key|result/);
	await app.terminal.type("x");
	const rows = await app.terminal.waitFor("result null");
	expect(rows.join("\n")).toContain(error);
	expect(rows.filter((row) => row.includes(error))).toHaveLength(1);
	expect(rows.join("\n")).toMatch(/Hook board\.ts:\d+:\d+ failed on ui\.custom:/);
	expect(
		app
			.session()
			.inspector.hookStatuses()
			.find(({ name }) => name === "board")?.figures.lastError,
	).toContain(error);
});

test.each([
	["throws", 'render() { throw new Error("no data") }', "✗ board: no data"],
	["returns no list", 'render: () => "text"', "✗ board: render did not return an array of lines"],
	["returns numbers", "render: () => [7]", "✗ board: line 1 of render is not a string"],
	["throws null", "render() { throw null }", "✗ board: null was thrown"],
])("a widget that %s shows its hook and the error on one line", async (_, render, line) => {
	const app = await start({ show: `ctx.ui.setWidget("w", () => ({ ${render}, invalidate() {} }))` });
	const failed: unknown[] = [];
	app.session().subscribe((event) => {
		if (event.type === "hook_error") failed.push([event.event, event.file, typeof event.line]);
	});
	await app.submit("/show");
	const rows = await app.terminal.waitFor(line);
	expect(rows).toContain(line);
	expect(failed).toEqual([["ui.setWidget", expect.stringMatching(/board\.ts$/), "number"]]);
	await app.terminal.type("still works");
	await app.terminal.waitFor("still works");
});

test("a component's line that is too wide is cut, in a widget and in a component with focus", async () => {
	const app = await start({
		show: `ctx.ui.setWidget("w", () => ({ render: () => ["x".repeat(81)], invalidate() {} }))`,
		open: `await ctx.ui.custom(() => ({ render: (width) => ["y".repeat(200) + width], invalidate() {} }));`,
	});
	await app.submit("/show");
	await app.terminal.waitFor(`${"x".repeat(79)}…`);
	await app.submit("/open");
	const rows = await app.terminal.waitFor(`${"y".repeat(79)}…`);
	expect(rows.join("\n")).not.toContain("✗");
	expect(
		app
			.session()
			.inspector.hookStatuses()
			.find(({ name }) => name === "board")?.figures.lastError,
	).toBeFalsy();
});

test("control sequences of a component are shown, except styles", async () => {
	const app = await start({
		show: String.raw`ctx.ui.setWidget("w", () => ({ render: () => ["\x1b[31mred\x1b[0m \x1b[2J\x1b]0;title\x07\ttab"], invalidate() {} }))`,
	});
	await app.submit("/show");
	await app.terminal.waitFor("red ␛[2J␛]0;title^G   tab");
	expect(app.terminal.writes.join("")).not.toContain("\x1b]0;title");
	expect(app.terminal.writes.join("")).toContain("\x1b[31mred");
});

test("a component that draws slowly is named in /hooks with its p95, and keys are echoed in between", async () => {
	const app = await start({
		show: `ctx.ui.setWidget("w", () => ({
			render() { const end = performance.now() + 30; while (performance.now() < end); return ["slow one"]; }, invalidate() {},
		}))`,
	});
	await app.submit("/show");
	await app.terminal.waitFor("slow one");
	await app.terminal.type("abc");
	const status = app
		.session()
		.inspector.hookStatuses()
		.find(({ name }) => name === "board");
	expect(status?.figures.slowDrawMs).toBeGreaterThan(29);
	await app.terminal.press("ctrl+c");
	await app.submit("/hooks");
	await app.terminal.waitFor(/board.*slow/);
	await app.terminal.press("down", "down", "down", "enter");
	await app.terminal.waitFor(/drawing +slow: p95 \d+ ms/);
});

test("reload, turning a hook off and quitting close its components, statuses and widgets", async () => {
	const hook = `export default (pi) => {
		pi.on("session", (event, ctx) => {
			if (event.reason !== "start") return;
			ctx.ui.setStatus("s", "status of it");
			ctx.ui.setWidget("w", ["widget of it"]);
			ctx.ui.setTitle("title of it");
			ctx.ui.setFooter(() => ({ render: () => ["footer of it"], invalidate() {} }));
			ctx.ui.setHeader(() => ({ render: () => ["header of it"], invalidate() {} }));
			globalThis.customResult = ctx.ui.custom(() => ({ render: () => ["component of it"], invalidate() {} }));
		});
	};`;
	const app = await startApp({ hooks: { "it.ts": hook } });
	const rows = await app.terminal.waitFor("component of it");
	for (const part of ["status", "widget", "footer", "header"]) expect(rows.join("\n")).toContain(`${part} of it`);
	const { inspector } = app.session();
	const path = inspector.hookStatuses().find(({ name }) => name === "it")?.path ?? "";
	const result: Promise<unknown> = Reflect.get(globalThis, "customResult");
	await inspector.setHookEnabled(path, false);
	expect(await result).toBeNull();
	await app.terminal.waitFor((screen) => !screen.join("\n").includes("of it"));
	expect(
		app.terminal.writes
			.join("")
			.match(/\x1b\]2;[^\x07]*/g)
			?.at(-1),
	).toBe("\x1b]2;pi · shop");
	await app.terminal.waitFor(/context ▱+ 0%/);
	await app.terminal.type("typed");
	await app.terminal.waitFor("typed");
});

test("an old version leaves nothing after /reload, and statuses stay after /new", async () => {
	const app = await start({
		show: 'ctx.ui.setStatus("s", "kept status"); ctx.ui.setWidget("w", ["kept widget"])',
	});
	await app.submit("/show");
	await app.terminal.waitFor("kept widget");
	await app.submit("/new");
	await app.terminal.waitFor("New session");
	await app.terminal.waitFor("kept status");
	await app.terminal.waitFor("kept widget");
	await app.submit("/reload");
	await app.terminal.waitFor((rows) => !rows.join("\n").includes("kept"));
});

test.each([
	["the run is aborted", (app: App) => app.session().abort()],
	["the session ends", async (app: App) => void app.session().dispose()],
])("a component closes once with null when %s", async (_, end) => {
	Reflect.set(globalThis, "answers", []);
	const app = await start({
		open: `globalThis.answers.push(await ctx.ui.custom(() => ({ render: () => ["open"], invalidate() {} })))`,
	});
	await app.submit("/open");
	await app.terminal.waitFor(/^open$/m);
	await end(app);
	await vi.waitFor(() => expect(Reflect.get(globalThis, "answers")).toEqual([null]), 10_000);
	await app.terminal.waitFor((rows) => !rows.includes("open"));
});

test("components of several calls queue, and dialogs of other hooks wait for them", async () => {
	const app = await start({
		// The first use of the screen loads its code, and dialogs do not wait for that.
		first: 'ctx.ui.setStatus("s", "loaded")',
		both: `const show = (name) => ctx.ui.custom((tui, theme, keys, done) => ({
				render: () => ["component " + name], handleInput: (data) => done(name + data), invalidate() {},
			}));
			return { status: (await Promise.all([show("one"), ctx.ui.confirm("Sure?", ""), show("two")])).join() };`,
	});
	await app.submit("/first");
	await app.terminal.waitFor("loaded");
	await app.submit("/both");
	await app.terminal.waitFor("component one");
	await app.terminal.type("x");
	await app.terminal.waitFor("board asks: Sure?");
	skipTime(1);
	await app.terminal.type("y");
	await app.terminal.waitFor("component two");
	await app.terminal.type("y");
	await app.terminal.waitFor("onex,true,twoy");
});
