import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const fixture = (name: string) => readFileSync(new URL(`../fixtures/extensions/${name}.ts`, import.meta.url), "utf8");

test("extensions of the user run on the screen, in /hooks and in the context", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("todo", { action: "add", text: "write the test" })]).reply("Planned.");
	const agentDir = agentDirFor(provider);
	writeFiles(agentDir, {
		"extensions/plan-mode.ts": fixture("plan-mode"),
		"extensions/todo/index.ts": fixture("todo"),
	});
	const pi = await openPi({ agentDir });
	await submit(pi, "/plan");
	await pi.waitForText("Plan mode: the model may only read");
	await submit(pi, "/plan");
	await pi.waitForText("Plan mode is off");
	await submit(pi, "plan it");
	await pi.waitForText("Planned.");
	await pi.waitForText("○ write the test");
	await submit(pi, "/todos");
	await pi.waitForText("1 of 1 tasks are open");
	await submit(pi, "/hooks");
	await pi.waitForText("plan-mode");
});

/** Adds a message to each run, as plan modes do. */
const NOTE = `import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
export default function (pi: ExtensionAPI) {
	pi.registerFlag("note", { type: "string", default: "none" });
	pi.on("before_agent_start", async () => {
		return { message: { customType: "note", content: "note: " + pi.getFlag("note"), display: true } };
	});
}
`;

test("in print mode messages, flags and the system prompt reach the model, and each request can be recomputed", async () => {
	const provider = await startProvider();
	provider.reply("One.").reply("Two.");
	const agentDir = agentDirFor(provider);
	writeFiles(agentDir, { "extensions/note.ts": NOTE, "extensions/ssh.ts": fixture("ssh") });
	const cwd = tempDir("pi-project-");
	const first = await runPi(["-p", "go", "--note", "first", "--ssh", "me@box"], { agentDir, cwd });
	expect(first).toMatchObject({ code: 0, stdout: "One.\n" });
	const sent = (index: number) => provider.requests[index]?.messages.map(({ text }) => text) ?? [];
	expect(sent(0)[0]).toContain("(on me@box)");
	expect(sent(0).slice(1)).toEqual(["go", "note: first"]);
	const second = await runPi(["-p", "again", "-c"], { agentDir, cwd });
	expect(second).toMatchObject({ code: 0, stdout: "Two.\n" });
	expect(sent(1)[0]).not.toContain("(on me@box)");
	expect(sent(1).slice(1)).toEqual(["go", "note: first", "One.", "again", "note: none"]);
	const sessions = join(agentDir, "sessions");
	const file = readdirSync(sessions, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(".jsonl"));
	const verified = await runPi(["context", "--verify", "--session", join(sessions, file ?? "")], { agentDir, cwd });
	expect([verified.stderr, verified.code]).toEqual(["", 0]);
});

test("-e loads one file, and the check names what pi refuses", async () => {
	const provider = await startProvider();
	provider.reply("Hi.");
	const agentDir = agentDirFor(provider);
	const dir = tempDir();
	writeFiles(dir, {
		"tree.ts": `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
export default function (pi: ExtensionAPI) {
	pi.on("context_with_system", () => {});
	pi.on("input", () => ({ action: "transform", text: "changed" }));
}
`,
	});
	const run = await runPi(["-p", "go", "-e", join(dir, "tree.ts")], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Hi.\n" });
	expect(run.stderr).toContain("the event context_with_system is not available in pi: pi has no system messages");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("changed");
	const check = await runPi(["hooks", "check", join(dir, "tree.ts")], { agentDir });
	expect(check.stdout).toContain("works     event input");
	expect(check.stdout).toContain("refused   event context_with_system in line 3: pi has no system messages");
});
