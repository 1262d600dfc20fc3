import { expect, onTestFinished, test, vi } from "vitest";
import type { ScreenOwner } from "../../../src/hooks/session-ui.js";
import { HookCompletion } from "../../../src/modes/interactive/hook-screen/hook-completion.js";
import type { Completion, CompletionSource } from "../../../src/tui/completion.js";
import { createTheme } from "../../../src/tui/theme.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";
import { belowEditor, start } from "./hook-board.js";

test("the working message replaces what the model is doing, while it works", async () => {
	const app = await start({
		say: 'ctx.ui.setWorkingMessage("asking the oracle")',
		stop: "ctx.ui.setWorkingMessage(undefined)",
	});
	let release = () => {};
	app.provider.on(async () => {
		await new Promise<void>((resolve) => {
			release = resolve;
		});
		return "42";
	});
	await app.submit("/say");
	await app.submit("hello");
	await expect.poll(() => app.provider.requests.length).toBe(1);
	await app.terminal.waitFor(/asking the oracle · \d+ s/);
	await app.submit("/stop");
	await app.terminal.waitFor(/thinking · \d+ s/);
	release();
	await app.terminal.waitFor("42");
});

test("the line about work has the frames of a hook, or is not shown", async () => {
	const app = await start({
		dots: 'ctx.ui.setLook("indicator", { frames: ["\x1b[31m(o)\x1b[39m\x1b[2J"], intervalMs: 1 })',
		bare: 'ctx.ui.setLook("indicator", { frames: [] })',
		hide: 'ctx.ui.setLook("working", false)',
		restore: 'ctx.ui.setLook("working", undefined); ctx.ui.setLook("indicator", undefined)',
	});
	let release = () => {};
	app.provider.on(async () => {
		await new Promise<void>((resolve) => {
			release = resolve;
		});
		return "42";
	});
	await app.submit("/dots");
	await app.submit("hello");
	await expect.poll(() => app.provider.requests.length).toBe(1);
	await app.terminal.waitFor(/^ *\(o\)␛\[2J thinking · \d+ s/m);
	await app.submit("/bare");
	await app.terminal.waitFor(/^ *thinking · \d+ s/m);
	await app.submit("/hide");
	await expect.poll(async () => (await app.terminal.screen()).join("\n")).not.toContain("thinking ·");
	await app.submit("/restore");
	await app.terminal.waitFor(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking · \d+ s/);
	release();
	await app.terminal.waitFor("42");
});

test("collapsed thinking has the label of a hook", async () => {
	const app = await start({
		label: 'ctx.ui.setLook("thinkingLabel", "pondering\\nhard")',
		restore: 'ctx.ui.setLook("thinkingLabel", undefined)',
	});
	app.provider.reply([
		{ type: "thinking", thinking: "Six times seven." },
		{ type: "text", text: "42" },
	]);
	await app.submit("/label");
	await app.submit("hello");
	await app.terminal.waitFor("42");
	await app.terminal.waitFor("∴ pondering hard · ctrl+t");
	await app.terminal.press("ctrl+t");
	await app.terminal.waitFor("Six times seven.");
	await app.terminal.press("ctrl+t");
	await app.submit("/restore");
	await app.terminal.waitFor("∴ Six times seven. · ctrl+t");
});

test("tool calls are shown in full once they have ended, while a hook wants it", async () => {
	const app = await start(
		{
			open: 'ctx.ui.setLook("expanded", true)',
			close: 'ctx.ui.setLook("expanded", undefined)',
		},
		{ rows: 60 },
	);
	app.provider.reply([toolCall("bash", { command: "seq 101 120" })]).reply("counted");
	await app.submit("go");
	await app.terminal.waitFor("counted");
	expect((await app.terminal.screen()).join("\n")).not.toContain("103");
	await app.submit("/open");
	await app.terminal.waitFor(/101\n.*102\n.*103/);
	await app.submit("/close");
	await expect.poll(async () => (await app.terminal.screen()).join("\n")).not.toContain("103");
});

test("a hook shows a theme until the user chooses another one, and saves none", async () => {
	const app = await start({
		light: 'ctx.ui.setLook("theme", "light")',
		restore: 'ctx.ui.setLook("theme", undefined)',
		accent: "return { status: JSON.stringify(ctx.ui.theme.accent(ctx.argsRaw)) }",
		list: `return { status: ctx.ui.themes.map(({ name, path, styles }) => name + path + styles.accent("!").length).join(" ") }`,
		wrong: 'ctx.ui.setLook("theme", "nowhere")',
	});
	const accentIn = async (which: string, colors: Parameters<typeof createTheme>[0]) => {
		await app.submit(`/accent ${which}`);
		await app.terminal.waitFor(JSON.stringify(createTheme(colors).accent(which)));
	};
	await app.submit("/list");
	await app.terminal.waitFor(/darknull\d+ high-contrastnull\d+ lightnull\d+ plainnull1/);
	await app.submit("/light");
	await accentIn("first", "light");
	await app.submit("/restore");
	await accentIn("second", "dark");
	await app.submit("/light");
	await app.submit("/theme plain");
	await accentIn("third", "plain");
	await app.submit("/wrong");
	await app.terminal.waitFor("ctx.ui.setLook: theme must be the name");
});

test("header and footer are replaced and restored, with warnings and statuses kept", async () => {
	const app = await start({
		show: `ctx.ui.setHeader((tui, theme) => ({ render: (width) => [theme.bold("MY HEADER " + width)], invalidate() {} }));
			ctx.ui.setFooter(() => ({ render: () => ["MY FOOTER"], invalidate() {} })); ctx.ui.setStatus("s", "a status")`,
		hide: "ctx.ui.setHeader(undefined); ctx.ui.setFooter(undefined)",
	});
	await app.submit("/show");
	const rows = await app.terminal.waitFor("MY FOOTER");
	expect(rows[0]).toBe("MY HEADER 80");
	expect(await belowEditor(app)).toEqual(["MY FOOTER", "a status"]);
	await app.submit("/hide");
	const restored = await app.terminal.waitFor(/context ▱+ 0%/);
	expect(restored[0]).toMatch(/^pi 0\.1/);
});

test("header and footer are disposed of once, when they are replaced or removed", async () => {
	const disposed: string[] = [];
	Reflect.set(globalThis, "disposedParts", disposed);
	const part = (name: string) =>
		`() => ({ render: () => ["${name}"], invalidate() {}, dispose() { disposedParts.push("${name}"); } })`;
	const app = await start({
		first: `ctx.ui.setHeader(${part("header 1")}); ctx.ui.setFooter(${part("footer 1")})`,
		second: `ctx.ui.setHeader(${part("header 2")}); ctx.ui.setFooter(${part("footer 2")})`,
		hide: "ctx.ui.setHeader(undefined); ctx.ui.setFooter(undefined)",
	});
	await app.submit("/first");
	await app.terminal.waitFor("footer 1");
	expect(disposed).toEqual([]);
	await app.submit("/second");
	await app.terminal.waitFor("footer 2");
	expect(disposed).toEqual(["header 1", "footer 1"]);
	await app.submit("/hide");
	await app.terminal.waitFor(/context ▱+ 0%/);
	expect(disposed).toEqual(["header 1", "footer 1", "header 2", "footer 2"]);
});

test("text of the editor is read, replaced and inserted", async () => {
	const app = await start({
		set: 'ctx.ui.setEditorText("replaced")',
		paste: 'ctx.ui.setEditorText("ab"); ctx.ui.pasteToEditor("c\\x1b[2J")',
	});
	await app.submit("/set");
	await app.terminal.waitFor("replaced");
	await app.terminal.press("ctrl+c");
	await app.submit("/paste");
	await app.terminal.waitFor("abc␛[2J");
});

test("a provider completes after its own sign, delegates the rest, and is gone after /reload", async () => {
	const app = await start(
		{
			issues: `ctx.ui.addAutocompleteProvider((current) => ({
				async getSuggestions(lines, line, col, options) {
					const typed = /#(\\w*)$/.exec(lines[line].slice(0, col));
					if (!typed) return current.getSuggestions(lines, line, col, options);
					const items = ["12 rounding", "13 coupons"].filter((text) => text.startsWith(typed[1]));
					return { prefix: typed[0], items: items.map((label) => ({ value: "#" + label.slice(0, 2) + " ", label })) };
				},
				applyCompletion: (...args) => current.applyCompletion(...args),
			}))`,
		},
		{ files: { "src/price.ts": "" } },
	);
	await app.submit("/issues");
	await app.terminal.settle();
	await app.terminal.type("fix #");
	await app.terminal.waitFor("13 coupons");
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("fix #13");
	await app.terminal.press("ctrl+c");
	await app.terminal.type("@pri");
	await app.terminal.waitFor("src/price.ts");
	await app.terminal.press("escape", "ctrl+c");
	await app.terminal.type("/relo");
	await app.terminal.waitFor("/reload");
	await app.terminal.press("enter");
	await vi.waitFor(() => expect(app.session().activity.state).toBe("idle"), 10_000);
	await app.terminal.type("fix #");
	await app.terminal.settle();
	expect((await app.terminal.screen()).join("\n")).not.toContain("coupons");
});

test("a provider that fails is reported, and pi's own completions are used", async () => {
	const app = await start({
		broken: `ctx.ui.addAutocompleteProvider(() => ({ getSuggestions() { throw new Error("no index") }, applyCompletion() {} }))`,
	});
	await app.submit("/broken");
	await app.terminal.settle();
	await app.terminal.type("/reloa");
	await app.terminal.waitFor("/reload");
	await app.terminal.waitFor("no index");
});

test("the time of pi's own search does not count as that of a provider, and its partial results are shown", async () => {
	vi.useFakeTimers();
	onTestFinished(() => void vi.useRealTimers());
	const completion = (label: string) => ({
		rows: [{ insert: label, label, enter: "insert" as const }],
		prefix: "@pri",
	});
	let find: (found: Completion) => void = () => {};
	const base: CompletionSource = {
		complete(request) {
			request.onPartial?.(completion("first"));
			return new Promise((resolve) => {
				find = resolve;
			});
		},
		cancel() {},
	};
	const failures: string[] = [];
	const shown: unknown[] = [];
	const owner: ScreenOwner = {
		name: "a",
		path: "/a.ts",
		rank: 0,
		drew() {},
		failed: (_, error) => failures.push(String(error)),
	};
	const completions = new HookCompletion(base, { getLines: () => ["@pri"], getCursor: () => ({ line: 0, col: 4 }) });
	let isStuck = false;
	completions.add(owner, (current) => ({
		async getSuggestions(...args) {
			const found = await current.getSuggestions(...args);
			return isStuck ? new Promise(() => {}) : found;
		},
		applyCompletion: (...args) => current.applyCompletion(...args),
	}));
	const complete = () => {
		const { signal } = new AbortController();
		const onPartial = (partial: Completion) => shown.push(partial);
		return completions.source.complete({ before: "@pri", firstLine: true, forced: false, signal, onPartial });
	};
	const found = complete();
	await vi.advanceTimersByTimeAsync(10_000);
	find(completion("all"));
	expect(await found).toEqual(completion("all"));
	expect([shown, failures]).toEqual([[completion("first")], []]);
	isStuck = true;
	const skipped = complete();
	find(completion("all"));
	await vi.advanceTimersByTimeAsync(1_000);
	find(completion("own"));
	expect(await skipped).toEqual(completion("own"));
	expect(failures).toEqual(["Error: getSuggestions took more than 1000 ms"]);
});

test.each([40, 120])(
	"what was typed before a provider was ready is completed without another key, at %d",
	async (columns) => {
		const provider = `(current) => ({
		async getSuggestions(lines, line, col) {
			const typed = /#(\\w*)$/.exec(lines[line].slice(0, col));
			return typed && { prefix: typed[0], items: [{ value: "#12", label: "12 rounding" }] };
		},
		applyCompletion: (...args) => current.applyCompletion(...args),
	})`;
		// A shortcut registers it while text is in the editor.
		const app = await startApp({
			columns,
			hooks: {
				"late.ts": `export default (pi) => pi.shortcut("f6", { handler: (ctx) => { ctx.ui.addAutocompleteProvider(${provider}); } });`,
			},
		});
		await app.terminal.waitFor("0%");
		await app.terminal.type("fix #");
		await app.terminal.settle();
		expect(await app.terminal.text()).not.toContain("12 rounding");
		app.terminal.send("\x1b[17~");
		await app.terminal.waitFor("→ 12 rounding");
		// Escape closes the list, and another provider does not open it again.
		await app.terminal.press("escape");
		app.terminal.send("\x1b[17~");
		await app.terminal.settle();
		expect(await app.terminal.text()).not.toContain("12 rounding");
	},
);
