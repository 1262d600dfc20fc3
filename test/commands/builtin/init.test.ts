import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

test("/init sends a prompt for AGENTS.md; what the model writes is in the context after a reload", async () => {
	const { session, provider, sent, cwd } = await startSession({ files: { "CLAUDE.md": "Be brief." } });
	provider.reply([toolCall("write", { path: "AGENTS.md", content: "Run make test.\n" })], "Done.", "I see.");
	await session.prompt("/init");
	expect(sent(1)).toEqual([
		expect.stringMatching(/^user: Write AGENTS\.md in the working directory[\s\S]*\.cursorrules/),
	]);
	expect(sent(1)[0]).not.toContain("The user adds");
	expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("Run make test.\n");
	await session.reload();
	await session.prompt("go");
	const system = provider.requests[2]?.messages.find(({ role }) => role === "system")?.text;
	expect(system).toContain("Run make test.");
	expect(system).not.toContain("Be brief.");
});

test("the text after /init is added to the prompt", async () => {
	const { session, provider, sent } = await startSession();
	provider.reply("Done.");
	await session.prompt("/init mind the tests of api/");
	expect(sent(1)[0]).toMatch(/^user: Write AGENTS\.md [\s\S]*\n\nThe user adds: mind the tests of api\/$/);
});
