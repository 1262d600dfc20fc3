import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import { type LoopbackProvider, toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { serve as serveAcp } from "./acp/serve.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

const files = { "a.txt": "old\n" };
const RESTORED = "restored a.txt";

/** The model writes a file and says so. */
function scriptChange(provider: LoopbackProvider): void {
	provider.reply({ content: [toolCall("write", { path: "a.txt", content: "new\n" })] }, "changed");
}

const contentIn = (cwd: string) => readFileSync(`${cwd}/a.txt`, "utf8");

test.each([
	["print", runPrint],
	["JSON", runJson],
])("%s", async (_, run) => {
	const { session, provider, cwd } = await startSession({ files });
	const io = recordIO();
	scriptChange(provider);
	await run(session, { first: { text: "go", images: [] }, rest: ["/undo"] }, io);
	expect(contentIn(cwd)).toBe("old\n");
	if (run === runPrint) expect(io.stdout()).toContain(RESTORED);
});

test("RPC, as a command and as a slash command", async () => {
	const cwd = tempDir();
	writeFiles(cwd, files);
	const { client, provider, session } = await serveRpc({ cwd });
	scriptChange(provider);
	await client.call("prompt", { message: "go" });
	await expect.poll(() => session.isRunning || provider.requests.length < 2).toBe(false);
	expect(await client.call("undo", {})).toMatchObject({ restored: [{ isDeleted: false }], left: [] });
	expect(contentIn(session.cwd)).toBe("old\n");
	expect(await client.call("prompt", { message: "/undo" })).toMatchObject({ status: "There are no changes to undo" });
});

test("ACP", async () => {
	const { editor, provider, id } = await serveAcp({ files });
	scriptChange(provider);
	await editor.prompt(id, "go");
	await editor.prompt(id, "/undo");
	expect(JSON.stringify(editor.updates)).toContain(RESTORED);
});

test("plain", async () => {
	const { provider, enter, until } = await startPlain({ files });
	scriptChange(provider);
	enter("go");
	await until("changed");
	enter("/undo");
	await until(RESTORED);
});

test("the screen", async () => {
	const { terminal, provider, submit } = await startApp({ files });
	await terminal.waitFor("0%");
	scriptChange(provider);
	await submit("go");
	await terminal.waitFor("changed");
	await submit("/undo");
	await terminal.waitFor(RESTORED);
});
