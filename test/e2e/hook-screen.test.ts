import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

const BOARD = `
import { Text } from "@mariozechner/pi-tui";
export default function (pi) {
	pi.command("show", { handler(ctx) {
		ctx.ui.setStatus("todos", ctx.ui.theme.accent("2 todos"));
		ctx.ui.setWidget("list", (tui, theme) => new Text(theme.dim("widget of board"), 0, 0));
		ctx.ui.setWidget("width", (tui) => ({ render: (width) => ["wide " + width], invalidate() {} }), { placement: "belowEditor" });
		ctx.ui.setTitle("board title");
	} });
	pi.command("play", { async handler(ctx) {
		const moves = await ctx.ui.custom((tui, theme, keys, done) => {
			let x = 0;
			return {
				render: (width) => [".".repeat(x) + "@" + ".".repeat(Math.max(0, Math.min(width, 60) - x - 1))],
				handleInput(data) {
					if (keys.matches(data, "tui.editor.cursorRight")) x++;
					if (keys.matches(data, "dialog.accept")) done(x);
				},
				invalidate() {},
			};
		}, { overlay: ctx.args[0] === "overlay" });
		return { status: "moves " + moves };
	} });
	pi.command("nest", { async handler(ctx) {
		const answer = await ctx.ui.custom((tui, theme, keys, done) => ({
			render: () => ["a component that asks"],
			handleInput(data) {
				if (data !== "?") return;
				void (async () => {
					const sure = await ctx.ui.confirm("Sure?", "really");
					done(sure ? await ctx.ui.input("Which name?") : null);
				})();
			},
			invalidate() {},
		}), { overlay: ctx.args[0] === "overlay" });
		return { status: "named " + answer };
	} });
	pi.command("ask", { async handler(ctx) {
		const colors = await ctx.ui.select("Which colors?", ["red", "green", "blue"], { multiple: true });
		const text = await ctx.ui.editor("Why?", "because");
		return { status: JSON.stringify({ colors, text }) };
	} });
}
`;

test("a hook shows a component, a status, a widget, an editor and a choice of several; reload leaves nothing", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "board.ts": BOARD } });
	const pi = await openPi({ agentDir, columns: 80, rows: 24 });
	await pi.waitForText("0% of");
	await submit(pi, "/show");
	await pi.waitForText("2 todos");
	await pi.waitForText("widget of board");
	await pi.waitForText("wide 80");
	expect(pi.output()).toContain("\x1b]2;board title\x07");

	await submit(pi, "/play");
	await pi.waitForText(/^── board ─+$/m);
	await pi.press("right", "right");
	await pi.waitForText("..@...");
	pi.resize(60, 20);
	await pi.waitForText("wide 60");
	await pi.waitForText(`..@${".".repeat(57)}`);
	await pi.press("enter");
	await pi.waitForText("moves 2");

	await submit(pi, "/play overlay");
	await pi.waitForText(`@${".".repeat(59)}`);
	await pi.press("escape");
	await pi.waitForText("moves null");
	await pi.waitForText("widget of board");

	await submit(pi, "/ask");
	await pi.waitForText("board asks: Which colors?");
	await pi.press("down", "space", "down", "space", "enter");
	await pi.waitForText("board asks: Why?");
	await pi.press("ctrl+j");
	pi.type("it fits");
	await pi.press("enter");
	await pi.waitForText('{"colors":["green","blue"],"text":"because\\nit fits"}');

	for (const line of ["/nest", "/nest overlay"]) {
		await submit(pi, line);
		await pi.waitForText("a component that asks");
		pi.type("?");
		await pi.waitForText("board asks: Sure?");
		await answer(pi, "y");
		await pi.waitForText("board asks: Which name?");
		pi.type(line.slice(1));
		await pi.press("enter");
		await pi.waitForText(`named ${line.slice(1)}`);
	}

	await submit(pi, "/reload");
	await pi.waitForText("1 hook loaded");
	await pi.waitForGone("widget of board");
	const screen = await pi.screen();
	expect(screen).not.toMatch(/2 todos|wide \d+/);
	const titles = pi
		.output()
		.split("\x1b]2;")
		.slice(1)
		.map((rest) => rest.split("\x07")[0]);
	expect(titles.at(-1)).not.toBe("board title");
});

test("open tasks stand above the editor, also after a resume", async () => {
	const provider = await startProvider();
	const tasks = ["done", "in_progress", "pending"].map((status, at) => ({ text: `part ${at}`, status }));
	provider.reply([toolCall("tasks", { tasks })], "Working.");
	const agentDir = agentDirFor(provider, { settings: { features: { tasks: true } } });
	const cwd = tempDir();
	const first = await openPi({ agentDir, cwd });
	await submit(first, "go");
	const board = /^Tasks 1\/3 · 1 in progress\n▸ part 1\n☐ part 2\n────/m;
	await first.waitForText(board);
	expect(await first.screen()).toMatch(/^▎ tasks {2}part 1 +1 of 3 done/m);
	await first.press("ctrl+d");
	await first.exited;
	const second = await openPi({ agentDir, cwd, args: ["-c"] });
	await second.waitForText(board);
});

test("a hook with mistakes: a name that comes twice, an import that does not exist, and an entry with too many rows", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, {
		hooks: {
			"long.ts": `export default (pi) => {
				pi.command("long", { handler: () => ({ status: "the first" }) });
				pi.command("long", { async handler(ctx) {
					if (await ctx.ui.confirm("Draw it?")) await ctx.saveEntry({ type: "long" });
				} });
				pi.entry("long", { render: () => Array(600).fill("a row").join("\\n") });
			};`,
			"pad.ts": `type Pad = (text: string) => string;\nimport pad from "no-such-pad";\nexport default () => pad as Pad;`,
		},
	});
	const pi = await openPi({ agentDir, cwd: tempDir(), columns: 120 });
	await pi.waitForText(/long\.ts:2:\d+ and\s+\S+long\.ts:3:\d+; the latter is used/);
	await pi.waitForText(/pad\.ts:2:1 did not load: Cannot find module 'no-such-pad'/);
	await submit(pi, "/long");
	await pi.waitForText("Draw it?");
	await answer(pi, "y");
	await pi.waitForText("… 101 more lines");
	await pi.press("ctrl+d");
	expect(await pi.exited).toMatchObject({ code: 0 });
});
