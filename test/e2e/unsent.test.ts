import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { type PiTerminal, startPi } from "../helpers/pty.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit, submitIdle } from "./support.js";

/** A reply that never ends. */
const ENDLESS = { content: [{ type: "text" as const, text: "Half of" }], hold: new Promise<void>(() => {}) };

const endings: [string, (pi: PiTerminal) => unknown][] = [
	["a closed window", (pi) => pi.hangUp()],
	["SIGTERM", (pi) => pi.kill("SIGTERM")],
	["SIGHUP", (pi) => pi.kill("SIGHUP")],
];

test.each(endings)("%s keeps queued messages and the draft for the editor of the resumed session", async (_, end) => {
	const provider = await startProvider();
	provider.reply(ENDLESS);
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "go");
	await pi.waitForText("Half of");
	await submit(pi, "queued first");
	await pi.waitForText("→ next: queued first");
	pi.type("and after");
	await pi.press("alt+enter");
	await pi.waitForText("⇥ after: and after");
	pi.type("an unsent draft");
	await pi.waitForText("an unsent draft");
	await end(pi);
	await pi.exited;
	const again = await openPi({ agentDir, cwd, args: ["-c"] });
	await again.waitForText(/^─+\n queued first *\n *\n and after *\n *\n an unsent draft *\n─+$/m);
	// It is in one place only.
	await again.press("ctrl+c");
	await again.waitForGone("an unsent draft");
	await again.press("ctrl+d");
	await again.exited;
	const third = await openPi({ agentDir, cwd, args: ["-c"] });
	await third.waitForText("Half of");
	await third.waitForText(/Scripted/);
	expect(await third.screen()).not.toContain("an unsent draft");
});

test("quitting during a run keeps what is queued, and says so", async () => {
	const provider = await startProvider();
	provider.reply(ENDLESS);
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "go");
	await pi.waitForText("Half of");
	await submit(pi, "queued first");
	await pi.waitForText("→ next: queued first");
	await pi.press("ctrl+d");
	await pi.waitForText("Quit pi?");
	await answer(pi, "y");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	expect(await pi.scrollback()).toContain("What was not sent is in the editor when you resume this session");
	const again = await openPi({ agentDir, cwd });
	await again.waitForText(/Scripted/);
	expect(await again.screen()).not.toContain("queued first");
	await submitIdle(again, "/resume");
	await again.waitForText("Which session?");
	await again.press("enter");
	await again.waitForText(/^─+\n queued first *\n─+$/m);
});

test("a draft from before the first prompt is in the editor when pi starts there again, and only there", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = await openPi({ agentDir, cwd });
	await pi.waitForText(/Scripted$/m);
	pi.type("a first thought");
	await pi.waitForText("a first thought");
	pi.hangUp();
	await pi.exited;
	const elsewhere = await openPi({ agentDir });
	await elsewhere.waitForText(/Scripted$/m);
	expect(await elsewhere.screen()).not.toContain("a first thought");
	const again = await openPi({ agentDir, cwd });
	await again.waitForText(/^─+\n a first thought *\n─+$/m);
});

test("a session in memory keeps nothing", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = await openPi({ agentDir, cwd, args: ["--no-session"] });
	await pi.waitForText(/Scripted$/m);
	pi.type("a secret thought");
	await pi.waitForText("a secret thought");
	pi.hangUp();
	await pi.exited;
	const again = await openPi({ agentDir, cwd });
	await again.waitForText(/Scripted$/m);
	expect(await again.screen()).not.toContain("a secret thought");
});

test("plain mode keeps queued messages on a hangup, too", async () => {
	const provider = await startProvider();
	provider.reply(ENDLESS);
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = startPi({ agentDir, cwd, args: ["--plain"] });
	await pi.waitForText(/^>$/m);
	await submit(pi, "go");
	await expect.poll(() => provider.requests.length, { timeout: 10_000 }).toBe(1);
	await submit(pi, "queued first");
	await pi.waitForText("queued: pi sends it");
	pi.kill("SIGHUP");
	await pi.exited;
	const again = startPi({ agentDir, cwd, args: ["--plain", "-c"] });
	await again.waitForText("Press Enter to send: queued first");
});
