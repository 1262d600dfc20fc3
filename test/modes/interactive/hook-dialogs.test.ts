import { basename } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
import { startApp } from "./app.js";

const ASK = `export default (pi) => pi.command("ask", { handler: async function ask(ctx) {
	ctx.ui.notify("chose " + (await ctx.ui.select("Which color?", ["red", "green"])));
} });`;

test("only the bound dialog and the dialog controller lie between ctx.ui.select and the overlay", async () => {
	const stacks: string[] = [];
	const open = OverlayStack.prototype.open;
	const spy = vi.spyOn(OverlayStack.prototype, "open").mockImplementation(function (this: OverlayStack, ...args) {
		stacks.push(new Error().stack ?? "");
		return open.apply(this, args);
	});
	onTestFinished(() => spy.mockRestore());
	const { terminal, submit } = await startApp({ hooks: { "ask.ts": ASK } });
	await terminal.waitFor("0%");
	await submit("/ask");
	await terminal.waitFor("Which color?");
	const frames = (stacks[0] ?? "").split("\n").flatMap((line) => {
		const [, file] = /([^\s()]+\.ts)(?::\d+)+\)?$/.exec(line) ?? [];
		return file === undefined || file.includes("/test/") ? [] : [basename(file)];
	});
	expect(frames.slice(0, frames.indexOf("ask.ts") + 1)).toEqual(["dialog-controller.ts", "host-context.ts", "ask.ts"]);
	await terminal.press("down", "enter");
	await terminal.waitFor("chose green");
});
