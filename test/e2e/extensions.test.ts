import { readFileSync } from "node:fs";
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

test("in print mode messages, flags and the changed system prompt reach the model, and every request can be recomputed", async () => {
	const provider = await startProvider();
	provider.reply("One.").reply("Two.");
	const agentDir = agentDirFor(provider);
	writeFiles(agentDir, { "extensions/plan-mode.ts": fixture("plan-mode"), "extensions/ssh.ts": fixture("ssh") });
	const cwd = tempDir("pi-project-");
	const first = await runPi(["-p", "go", "--plan", "--ssh", "me@box"], { agentDir, cwd });
	expect(first).toMatchObject({ code: 0, stdout: "One.\n" });
	expect(provider.requests[0]?.messages.map(({ text }) => text).join("\n")).toMatch(
		/\(on me@box\)[\s\S]*go[\s\S]*\[PLAN MODE\]/,
	);
	const second = await runPi(["-p", "again", "-c"], { agentDir, cwd });
	expect(second).toMatchObject({ code: 0, stdout: "Two.\n" });
	const [session = ""] = (await runPi(["sessions", "--json"], { agentDir, cwd })).stdout.match(/[^"]+\.jsonl/) ?? [];
	const verified = await runPi(["context", "--verify", "--session", session], { agentDir, cwd });
	expect(verified).toMatchObject({ code: 0 });
	expect(verified.stdout).toContain("2");
});

test("-e loads one file, and the check names what pi refuses", async () => {
	const provider = await startProvider();
	provider.reply("Hi.");
	const agentDir = agentDirFor(provider);
	const dir = tempDir();
	writeFiles(dir, {
		"tree.ts": `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
export default function (pi: ExtensionAPI) {
	pi.on("session_tree", () => {});
	pi.on("input", () => ({ action: "transform", text: "changed" }));
}
`,
	});
	const run = await runPi(["-p", "go", "-e", join(dir, "tree.ts")], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Hi.\n" });
	expect(run.stderr).toContain("the event session_tree is not available in pi: a session of pi has one branch");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("changed");
	const check = await runPi(["hooks", "check", join(dir, "tree.ts")], { agentDir });
	expect(check.stdout).toContain("works     event input");
	expect(check.stdout).toContain("refused   event session_tree in line 3: a session of pi has one branch");
});
