import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { openPi, submit, submitIdle } from "./support.js";

test("/undo restores a file, shows the diff of one that changed since, and /pop restores files too", async () => {
	const provider = await startProvider();
	const agentDir = tempAgentDir({
		models: provider.modelsJson(),
		settings: { defaultProvider: "loopback", defaultModel: "scripted" },
	});
	const cwd = tempDir();
	writeFiles(cwd, { "a.txt": "first\n" });
	const file = join(cwd, "a.txt");
	const edit = (oldText: string, newText: string) => ({
		content: [toolCall("edit", { path: "a.txt", oldText, newText })],
	});
	const pi = await openPi({ agentDir, cwd, columns: 100, rows: 40 });
	await pi.waitForText("0%");

	provider.reply(edit("first", "second"), "Edited once.");
	await submit(pi, "edit it");
	await pi.waitForText("Edited once.");
	await pi.waitForGone("esc stops");
	await submitIdle(pi, "/undo");
	await pi.waitForText("restored a.txt");
	expect(readFileSync(file, "utf8")).toBe("first\n");

	provider.reply(edit("first", "third"), "Edited twice.");
	await submit(pi, "edit it again");
	await pi.waitForText("Edited twice.");
	await pi.waitForGone("esc stops");
	writeFileSync(file, "mine\n");
	await submitIdle(pi, "/undo");
	await pi.waitForText("a.txt changed since");
	await pi.waitForText("1 mine");
	await pi.waitForText("Restore it anyway");
	await pi.press("enter");
	await pi.waitForText("left a.txt: it changed since");
	expect(readFileSync(file, "utf8")).toBe("mine\n");

	provider.reply(edit("mine", "fourth"), "Edited thrice.", "Edited a.txt.");
	await submit(pi, "edit it once more");
	await pi.waitForText("Edited thrice.");
	await pi.waitForGone("esc stops");
	await submitIdle(pi, "/pop 3");
	await pi.waitForText("Restore the files that these turns changed?");
	await pi.press("down", "enter");
	await pi.waitForText("Restored");
	expect(readFileSync(file, "utf8")).toBe("mine\n");
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});
