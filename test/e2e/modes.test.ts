import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startListServer } from "../helpers/list-server.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, read, submit, submitIdle } from "./support.js";

/** Presses Enter once the text has been on the screen for so long that the answer counts. */
async function answer(pi: PiTerminal, shown: string | RegExp): Promise<void> {
	await pi.waitForText(shown);
	await read();
	await pi.press("enter");
}

test("shift+tab goes through the modes, which decide about edits, and an edited rule holds in the next session", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:permissions", "pi:protected-paths"] } });
	const cwd = realpathSync(tempDir());
	writeFiles(cwd, { "a.ts": "one", ".env": "KEY=1" });
	const edit = (from: string, to: string, path = "a.ts") => toolCall("edit", { path, oldText: from, newText: to });
	const pi = await openPi({ agentDir, cwd });
	await pi.waitForText("0% of");

	await pi.press("shift+tab");
	await pi.waitForText(/^accept edits$/m);
	provider.reply([edit("one", "two"), edit("1", "2", ".env")], "Edited it.");
	await submit(pi, "go");
	await pi.waitForText("Edited it.");
	expect(readFileSync(join(cwd, "a.ts"), "utf8")).toBe("two");
	expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("KEY=1");
	expect(conversation(provider, 1).at(-1)).toContain(".env is protected");

	await pi.press("shift+tab");
	await pi.waitForText(/^plan mode$/m);
	provider.reply([edit("two", "three")], "I only plan.");
	await submit(pi, "go");
	await pi.waitForText("I only plan.");
	expect(readFileSync(join(cwd, "a.ts"), "utf8")).toBe("two");
	expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("You are in plan mode");

	await pi.press("shift+tab");
	await pi.waitForGone(/^plan mode$/m);
	provider.reply([toolCall("bash", { command: "git push origin main" })], "Pushed it.");
	await submit(pi, "push");
	await pi.waitForText("permissions asks: Run this command?");
	await read();
	await pi.press("down", "down", "down");
	await answer(pi, /→ 2 +Yes, always: bash\(git push \*\)/);
	await pi.waitForText("accept the rule");
	for (const _ of "push *)") await pi.press("backspace");
	pi.type("*");
	await pi.waitForText("bash(git *");
	await answer(pi, /bash\(git \* *$/m);
	await pi.waitForText("write a tool");
	pi.type(")");
	await answer(pi, "bash(git *)");
	await pi.waitForText("Pushed it.");
	const { permissions } = JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));
	expect(permissions).toEqual({ projects: { [cwd]: { allow: ["bash(git *)"] } } });
	await submitIdle(pi, "/quit");
	await pi.exited;

	const next = await openPi({ agentDir, cwd });
	await next.waitForText("0% of");
	provider.reply([toolCall("bash", { command: "git status --short" })], "Done it.");
	await submit(next, "status");
	await next.waitForText("Done it.");
	expect(await next.scrollback()).not.toContain("Run this command?");
	await submit(next, "/permissions");
	await next.waitForText("allow bash(git *) · this project");
});

test("a flag adds bypass, in which nothing asks", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:permissions"] } });
	const pi = await openPi({ agentDir, args: ["--bypass-permissions"] });
	await pi.waitForText("0% of");
	await pi.press("shift+tab", "shift+tab", "shift+tab");
	await pi.waitForText(/^bypass permissions$/m);
	provider.reply([toolCall("bash", { command: "echo made > made" })], "Made it.");
	await submit(pi, "go");
	await pi.waitForText("Made it.");
	expect(readFileSync(join(pi.cwd, "made"), "utf8")).toBe("made\n");
});

test("at the first start, a user who connects a model is asked about plan mode, and shift+tab then works", async () => {
	const server = await startListServer({ "/v1/models": { data: [{ id: "small" }] } });
	const agentDir = tempAgentDir();
	const pi = await openPi({ agentDir });
	await pi.waitForText("pi has no model yet");
	await pi.press("down", "down", "down");
	await pi.waitForText(/→ Another address/);
	await pi.press("enter");
	await pi.waitForText("Address of the server");
	pi.type(server.origin);
	await pi.press("enter");
	await pi.waitForText("API key");
	await pi.press("enter");
	await pi.waitForText("What should be on?");
	await pi.press("enter");
	await pi.waitForText("Model:");
	await pi.press("shift+tab");
	await pi.waitForText(/^plan mode$/m);
	const saved = JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));
	expect(saved).toMatchObject({ hooks: ["pi:plan-mode", "pi:question"], features: { tasks: true } });
});
