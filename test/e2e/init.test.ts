import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

const WRITES = [toolCall("write", { path: "AGENTS.md", content: "Run make test.\n" })];

test("/init sends its prompt and the model writes AGENTS.md, in the terminal and with -p", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	provider.reply(WRITES, "Written.");
	const pi = await openPi({ agentDir });
	await submit(pi, "/init keep it short");
	await pi.waitForText("Written.");
	expect(conversation(provider, 0)).toEqual([
		expect.stringMatching(/^user: Write AGENTS\.md [\s\S]*The user adds: keep it short$/),
	]);
	expect(readFileSync(join(pi.cwd, "AGENTS.md"), "utf8")).toBe("Run make test.\n");

	const cwd = tempDir("pi-project-");
	provider.reply(WRITES, "Written again.");
	expect(await runPi(["-p", "/init"], { agentDir, cwd })).toMatchObject({ code: 0, stdout: "Written again.\n" });
	expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("Run make test.\n");
});
