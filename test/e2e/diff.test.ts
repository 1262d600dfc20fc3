import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

const OLD = Array.from({ length: 12 }, (_, at) => `const value${at + 1} = ${at + 1};\n`).join("");

test("/diff reverts one change, keeps another, and makes a prompt of a comment", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), realpathSync(tempDir())];
	writeFiles(cwd, { "a.ts": OLD });
	const changed = OLD.replace("value2 = 2", "value2 = 'two'").replace("value11 = 11", "value11 = 'eleven'");
	provider.reply(
		{
			content: [
				toolCall("write", { path: "a.ts", content: changed }),
				toolCall("write", { path: "b.ts", content: "export {};\n" }),
			],
		},
		"Done.",
	);
	const pi = await openPi({ agentDir, cwd, columns: 90, rows: 40 });
	await submit(pi, "change it");
	await pi.waitForText("Done.");
	await pi.waitForGone("esc stops");

	await submitIdle(pi, "/diff");
	await pi.waitForText("Changes of this session");
	await pi.waitForText(/2 files · \+3 −2/);
	await pi.press("down");
	await pi.type("r");
	await pi.waitForText("reverted line 2 of a.ts");
	const half = OLD.replace("value11 = 11", "value11 = 'eleven'");
	expect(readFileSync(join(cwd, "a.ts"), "utf8")).toBe(half);
	await pi.type("u");
	await pi.waitForText("took it back");
	expect(readFileSync(join(cwd, "a.ts"), "utf8")).toBe(changed);
	await pi.type("r");
	await pi.waitForText("reverted line 2 of a.ts");
	await pi.type("c");
	await pi.waitForText("Comment on a.ts, line 11");
	await pi.type("use double quotes");
	await pi.press("enter");
	await pi.waitForText("» use double quotes");
	await pi.press("end");
	await pi.type("k");
	await pi.waitForText("kept line 1 of b.ts");
	await pi.press("escape");
	await pi.waitForText("use double quotes");
	provider.reply("As you like.");
	await pi.press("enter");
	await pi.waitForText("As you like.");
	await pi.waitForGone("esc stops");
	const [prompt = ""] = conversation(provider, 2).filter((line) => line.includes("double quotes"));
	expect(prompt).toContain("a.ts, line 11:\n```diff\n");
	expect(prompt).toContain("-const value11 = 11;\n+const value11 = 'eleven';");
	expect(JSON.stringify(provider.requests[2]?.messages)).toContain("reverted some");

	await submitIdle(pi, "/diff");
	await pi.waitForText(/1 file · \+1 −1/);
	await pi.press("escape");
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});
