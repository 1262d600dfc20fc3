import { expect, test } from "vitest";
import { runPi } from "../helpers/run-pi.js";
import { openPi, submit } from "./support.js";

test("without a terminal the demo runs automatically: real tools repair the shop, and /pop replaces the work", async () => {
	const { code, stdout, stderr } = await runPi(["--demo"]);
	expect(code).toBe(0);
	expect(stderr.trimEnd().split("\n")).toEqual([
		expect.stringMatching(/^grep /),
		"read test/price.test.js",
		"bash npm test",
		"edit src/price.js",
		"bash npm test",
	]);
	expect(stdout).toMatch(/All tests pass\.[\s\S]*Popped to turn 1: [\d.]+k → \d+ tokens[\s\S]*hidden/);
});

test("the demo suggests its first prompt, and every step works on the screen", async () => {
	const pi = await openPi({ args: ["--demo"], columns: 100, rows: 40 });
	await pi.waitForText(/^ The tests fail\. Find out why, fix it and run them again\. {3}enter sends · tab edits$/m);
	await pi.waitForText("Demo (scripted)");
	await pi.press("enter");
	await pi.waitForText("All tests pass", { timeoutMs: 30_000 });
	// Wait for the last words of the reply: the status line may disappear briefly while text streams.
	await pi.waitForText("again afterwards", { timeoutMs: 30_000 });
	await pi.waitForGone("esc stops", { timeoutMs: 30_000 });
	expect(await pi.scrollback()).toMatch(/edit +src\/price\.js +\+1 −1/);
	await submit(pi, "/pop");
	await pi.waitForText("Pop to which turn?");
	await pi.press("enter");
	await pi.waitForText("Restore the files");
	await pi.press("enter");
	await pi.waitForText("popped to turn 1");
	expect(await pi.scrollback()).toMatch(/^ {2}› The tests fail/m);
	await submit(pi, "/unpop");
	await pi.waitForText("undid the pop to turn 1");
	await pi.waitForScreen((all) => /^▎ › The tests fail/m.test(all), "the work to come back", { scrollback: true });
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("on a new machine the setup dialog offers the demo", async () => {
	const pi = await openPi({ columns: 100, rows: 30 });
	await pi.waitForText("pi has no model yet");
	pi.type("demo");
	await pi.press("enter");
	await pi.waitForText("Demo (scripted)");
	await pi.waitForText(/^ The tests fail\. Find out why, fix it and run them again\. {3}enter sends · tab edits$/m);
	await pi.press("ctrl+c", "ctrl+c");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});
