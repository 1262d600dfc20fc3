import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { openShell, START_PI, untilPrompt } from "./shell.js";
import { agentDirFor, modesLeftOn, submit, submitIdle } from "./support.js";

test.each(["kill -TSTP", "ctrl+z"])(
	"%s stops the program with the terminal in order, and fg brings its screen back",
	async (way) => {
		const provider = await startProvider();
		const pi = await openShell(agentDirFor(provider));
		await submit(pi, START_PI);
		await pi.waitForText("/ commands");
		provider.reply("Here.");
		await submit(pi, "are you there?");
		await pi.waitForText("Here.");
		pi.type("a draft");
		await pi.waitForText("a draft");
		if (way === "ctrl+z") await pi.press("ctrl+z");
		else process.kill(Number(readFileSync(join(pi.cwd, "pid"), "utf8")), "SIGTSTP");
		await untilPrompt(pi);
		expect(modesLeftOn(pi.output())).toEqual([25]);
		await submit(pi, "fg");
		// The screen continues below the shell's output.
		await pi.waitForText(/shell> fg[\s\S]*^▎ Here\.[\s\S]*^ a draft *$/m);
		await pi.press("ctrl+c");
		provider.reply("Still here.");
		await submit(pi, "and now?");
		await pi.waitForText("Still here.");
		await submitIdle(pi, "/quit");
		await untilPrompt(pi);
		expect(modesLeftOn(pi.output())).toEqual([25]);
	},
);

test.each(["a start", "a resize", "ctrl+z and fg"])(
	"terminal output from before pi is still visible after %s",
	async (cause) => {
		const provider = await startProvider();
		const pi = await openShell(agentDirFor(provider));
		await submit(pi, "echo from be''fore");
		await pi.waitForText("from before");
		await submit(pi, START_PI);
		await pi.waitForText(/Scripted$/m);
		if (cause === "a resize") {
			pi.resize(60, 24);
			await pi.waitForText(/^─{60}$/m);
		} else if (cause === "ctrl+z and fg") {
			await pi.press("ctrl+z");
			await untilPrompt(pi);
			await submit(pi, "fg");
			await pi.waitForText(/Scripted$/m);
		}
		expect(await pi.scrollback()).toContain("from before");
	},
);

test("a terminal that was resized while pi was stopped is redrawn in its new size", async () => {
	const provider = await startProvider();
	const pi = await openShell(agentDirFor(provider));
	await submit(pi, START_PI);
	await pi.waitForText(/Scripted$/m);
	pi.type("a draft");
	await pi.waitForText("a draft");
	await pi.press("ctrl+z");
	await untilPrompt(pi);
	pi.resize(52, 20);
	await submit(pi, "fg");
	await pi.waitForText(/^─{52}\n a draft *\n─{52}$/m);
});
