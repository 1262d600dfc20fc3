import { expect, onTestFinished, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { expectPlain, startPlain } from "./start-plain.js";

const SCREEN_HOOK = `export default (pi) => {
	const command = (name, run) => pi.command(name, { handler: async (ctx) => ({ status: "value " + JSON.stringify(await run(ctx.ui)) }) });
	command("many", (ui) => ui.select("Which colors?", ["red", "green", "blue"], { multiple: true, initial: ["red"] }));
	command("turn", (ui) => ui.select("Which turn?", ["3", "1"].map((value) => ({ label: value + "  turn " + value, value }))));
	command("write", (ui) => ui.editor("Commit message"));
	command("rewrite", (ui) => ui.editor("Commit message", "fix: round"));
	command("play", (ui) => ui.custom(() => ({ render: () => ["board"], invalidate() {} })));
	command("draft", (ui) => { ui.setEditorText("a draft"); ui.pasteToEditor("!"); return ui.getEditorText(); });
	command("show", (ui) => { ui.setWidget("w", ["a widget"]); ui.setStatus("s", "3 todos"); ui.setStatus("l", "x".repeat(90)); });
	pi.on("turn_start", (_, ctx) => { for (let i = 1; i <= 3; i++) ctx.ui.setStatus("turn", "step " + i); });
	pi.on("turn_end", (_, ctx) => ctx.ui.setStatus("turn", "done"));
};`;

test("hooks ask for several options and lines in plain mode", async () => {
	const { enter, until } = await startPlain({ hooks: { "board.ts": SCREEN_HOOK } });
	enter("/many");
	await until("Chosen now: red");
	await until("numbers or texts separated by commas, 0 for none, empty cancels: ");
	enter("3, gree");
	await until('value ["green","blue"]');
	enter("/many");
	await until("empty cancels: ");
	enter("1, purple");
	await until("purple:\nNo option matches.");
	await until("empty cancels: ");
	enter("0");
	await until("value []");
	enter("/many");
	await until("empty cancels: ");
	enter("");
	await until("value null");
	enter("/write");
	await until("line, empty ends the text: ");
	enter("one");
	await until("line, empty ends the text: ");
	enter("two", "");
	await until('value "one\\ntwo"');
	enter("/write");
	await until("line, empty ends the text: ");
	enter("");
	await until("value null");
	enter("/rewrite");
	await until("fix: round");
	enter("");
	await until('value "fix: round"');
});

test("a status is printed once the session is idle, and widgets and components are not", async () => {
	const { enter, until, text, provider } = await startPlain({ hooks: { "board.ts": SCREEN_HOOK } });
	enter("/show");
	await until("board: 3 todos");
	provider.reply("an answer");
	enter("hello");
	await until("an answer");
	await until("board: done");
	expect(text()).not.toMatch(/step \d|a widget|xxx/);
	enter("/play");
	await until("board needs a screen: start pi without --plain");
	await until("value null");
	enter("/draft");
	await until('value "a draft!"');
	await until("Press Enter to send: a draft!");
});

test("a clock prints one line for each prompt, and a status with other words is printed at once", async () => {
	const clock = `export default (pi) => {
		let tick = 0;
		const show = (ctx) => {
			tick++;
			ctx.ui.setStatus("clock", "12:00:" + String(tick).padStart(2, "0"));
			ctx.ui.setStatus("spinner", "⠋⠙⠹⠸"[tick % 4] + " indexing " + tick + " %");
			if (tick % 5 === 0) ctx.ui.setStatus("blink", tick % 2 ? "on air" : undefined);
			ctx.ui.setStatus("build", tick < 30 ? "build running" : "build failed");
			globalThis.__plainTick?.(tick);
		};
		let timer;
		pi.on("session", ({ reason }, ctx) => {
			if (reason === "start") timer = setInterval(() => show(ctx), 2);
			if (reason === "shutdown") clearInterval(timer);
		});
	};`;
	const reached = (wanted: number) =>
		new Promise<void>((resolve) =>
			Reflect.set(globalThis, "__plainTick", (tick: number) => tick >= wanted && resolve()),
		);
	onTestFinished(() => void Reflect.deleteProperty(globalThis, "__plainTick"));
	const { enter, until, text, provider } = await startPlain({ hooks: { "clock.ts": clock } });
	await reached(100);
	const count = (pattern: RegExp) => text().match(pattern)?.length ?? 0;
	const shown = () => [/clock: 12:00/g, /indexing/g, /on air/g, /build running/g, /build failed/g].map(count);
	expect(shown()).toEqual([1, 1, 1, 1, 1]);
	provider.reply("an answer");
	enter("hello");
	await until("an answer");
	await reached(300);
	expect(shown()).toEqual([2, 2, 2, 1, 1]);
});

test("blocked and changed calls name the hook, and a refused prompt becomes the draft", async () => {
	const plain = await startPlain({
		hooks: {
			"gate.ts": `export default (pi) => {
				pi.on("tool_call", ({ input }) => input.command === "ls" ? { input: { command: "echo a" } } : { blocked: true });
				pi.on("prompt", ({ text }) => text === "secret" ? { stop: "no secrets" } : { text: text + " now" });
			};`,
		},
	});
	plain.provider.reply([toolCall("bash", { command: "ls" }), toolCall("bash", { command: "rm x" })], "done");
	plain.enter("secret");
	await plain.until("Error: Hook gate refused the prompt: no secrets");
	await plain.until("Press Enter to send: secret");
	plain.enter("go");
	await plain.until("prompt changed by gate: go now");
	await plain.until("bash changed by gate · command: ls → echo a");
	await plain.until("blocked by gate\n");
	await plain.until('malformed: unknown field "blocked"');
	await plain.until("done");
	expectPlain(plain);
});

test("options with numbers of their own are chosen by these", async () => {
	const { enter, until } = await startPlain({ hooks: { "board.ts": SCREEN_HOOK } });
	enter("/turn");
	await until("  3. turn 3\n  1. turn 1\n");
	enter("2");
	await until("No option matches. Type a number from 1 to 3, or part of a name");
	await until("empty cancels: ");
	enter("1");
	await until('value "1"');
});
