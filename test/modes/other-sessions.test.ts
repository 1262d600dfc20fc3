import { expect, test } from "vitest";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import type { LoopbackProvider } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { serve as serveAcp } from "./acp/serve.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

/** /fork asks a fork of the session; /find says how many saved sessions have a word. */
const HOOK = `import { createAgentSession } from "@mariozechner/pi-coding-agent";
export default (pi) => {
	pi.command("fork", { async handler(ctx) {
		const session = await createAgentSession({ parent: ctx.session, from: ctx.entries.length, session: { kind: "memory" } });
		await session.start();
		const { outcome } = await session.send("aside");
		await session.dispose();
		return { status: "the fork says " + outcome.last.content[0].text };
	} });
	pi.command("find", { handler: async (ctx) => ({ status: "found " + (await ctx.sessions.search("needle")).length + " sessions" }) });
};`;
const hooks = { "others.ts": HOOK };

/** Checks that the request of the fork began like the one before, and had its prompt at the end. */
function expectFork({ requests }: LoopbackProvider): void {
	const [first, fork] = requests.slice(-2).map(({ messages }) => messages.map(({ role, text }) => `${role}: ${text}`));
	expect(fork?.slice(0, first?.length)).toEqual(first);
	expect(fork?.at(-1)).toBe("user: aside");
}

const FORKED = "the fork says aside!";
const FOUND = "found 0 sessions";

test.each([
	["print", runPrint],
	["JSON", runJson],
])("%s", async (_, run) => {
	const { session, provider } = await startSession({ hooks });
	const io = recordIO();
	provider.reply("one", "aside!");
	await run(session, { first: { text: "go", images: [] }, rest: ["/fork", "/find"] }, io);
	if (run === runPrint) expect(io.stdout()).toBe(`one\n${FORKED}\n${FOUND}\n`);
	expectFork(provider);
});

test("RPC", async () => {
	const { client, provider } = await serveRpc({ hooks });
	provider.reply("one", "aside!");
	await client.call("prompt", { message: "go" });
	await expect.poll(() => provider.requests.length).toBe(1);
	expect(await client.call("prompt", { message: "/fork" })).toMatchObject({ status: FORKED });
	expect(await client.call("prompt", { message: "/find" })).toMatchObject({ status: FOUND });
	expectFork(provider);
});

test("ACP", async () => {
	const { editor, provider, id } = await serveAcp({ hooks });
	provider.reply("one", "aside!");
	await editor.prompt(id, "go");
	await editor.prompt(id, "/fork");
	await editor.prompt(id, "/find");
	const shown = JSON.stringify(editor.updates);
	expect(shown).toContain(FORKED);
	expect(shown).toContain(FOUND);
	expectFork(provider);
});

test("plain", async () => {
	const { provider, enter, until } = await startPlain({ hooks });
	provider.reply("finished", "aside!");
	enter("go");
	await until("finished");
	enter("/fork");
	await until(FORKED);
	enter("/find");
	await until(FOUND);
	expectFork(provider);
});

test("the screen", async () => {
	const { terminal, provider, submit } = await startApp({ hooks });
	await terminal.waitFor("0%");
	provider.reply("Done.", "aside!");
	await submit("go");
	await terminal.waitFor("Done.");
	await submit("/fork");
	await terminal.waitFor(FORKED);
	await submit("/find");
	await terminal.waitFor(FOUND);
	expectFork(provider);
});
