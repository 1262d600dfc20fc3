import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

test("the model takes a tool out of the box, /hide hides that work and /unhide brings it back, and every request verifies", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:toolbox", "pi:hide"] } });
	const cwd = tempDir("pi-project-");
	writeFiles(cwd, { "a.txt": "alpha\n" });
	provider.reply([toolCall("open_toolbox", { names: ["ls"] })], [toolCall("ls", {})], "There is a.txt.");
	const pi = await openPi({ agentDir, cwd, columns: 100, rows: 40, args: ["--toolbox", "ls,find"] });
	await pi.waitForText("0% of");
	await submit(pi, "what is here?");
	await pi.waitForText("There is a.txt.");
	expect(await pi.scrollback()).toContain("◇ out of the toolbox: ls");
	const names = (number: number) => {
		const { tools } = provider.requests[number - 1]?.body ?? {};
		return Array.isArray(tools) ? tools.map((tool) => tool.function.name) : [];
	};
	expect([names(1).includes("ls"), names(2).includes("ls"), names(2).includes("find")]).toEqual([false, true, false]);

	await submitIdle(pi, "/hide 1");
	await pi.waitForText("◇ hid turn 1");
	provider.reply("Fine.");
	await submit(pi, "go on");
	await pi.waitForText("Fine.");
	expect(conversation(provider, 3)).toEqual(["user: what is here?", "user: go on"]);
	await submitIdle(pi, "/unhide");
	await pi.waitForText("◇ what was hidden last is in the context again");
	provider.reply("Good.");
	await submit(pi, "and now?");
	await pi.waitForText("Good.");
	expect(conversation(provider, 4).join("\n")).toContain("There is a.txt.");
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });

	const sessions = readdirSync(join(agentDir, "sessions"), { recursive: true, encoding: "utf8" });
	const file = join(agentDir, "sessions", sessions.find((name) => name.endsWith(".jsonl")) ?? "");
	const verified = await runPi(["context", "--verify", "--session", file], { agentDir, cwd });
	expect(verified).toMatchObject({ code: 0, stdout: "All 5 requests match the recorded ones\n" });
});
