import { readFileSync } from "node:fs";
import { join } from "node:path";
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

/** Uses what a hook can do about a request: derived values, ranges, additions, wishes for the provider, and a directory of its own. */
const HOOK = `
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupTurns, keepChanges } from "@mariozechner/pi-coding-agent/hooks";

export default (pi) => {
	const loud = pi.derive("loud", {
		at: "turn_start",
		from: (entries) => groupTurns(entries).map(({ prompt }) => prompt),
		run: (prompt) => prompt.toUpperCase(),
	});
	pi.on("turn_start", (_, { projectDir }) => {
		mkdirSync(projectDir, { recursive: true, mode: 0o700 });
		writeFileSync(join(projectDir, "seen"), "yes");
		globalThis.__projectDir = projectDir;
	});
	pi.on("context", (event) => {
		const { entries } = event;
		const turns = groupTurns(entries);
		const ranges = turns.map(({ from, number, prompt }) => ({
			...{ from, to: from + 1, id: number },
			summary: loud.get(prompt, entries) ?? prompt,
		}));
		return {
			messages: keepChanges(event, ranges, { render: ({ summary }) => summary }),
			append: [{ after: 0, instructions: "Be brief." }],
			provider: { "openai-completions": { seed: 7 } },
		};
	});
};`;
const hooks = { "shape.ts": HOOK };

/** Checks the request of the prompt "go". */
function expectShaped({ requests }: LoopbackProvider): void {
	const { body, messages = [] } = requests.at(-1) ?? {};
	expect(body).toMatchObject({ seed: 7 });
	expect(messages[0]?.text.endsWith("\n\nBe brief.")).toBe(true);
	expect(messages.slice(1).map(({ role, text }) => `${role}: ${text}`)).toEqual(["user: GO"]);
	const directory = Reflect.get(globalThis, "__projectDir");
	expect(directory).toMatch(/\/projects\/[^/]+-[0-9a-f]{8}\/shape$/);
	expect(readFileSync(join(directory, "seen"), "utf8")).toBe("yes");
}

test("SDK", async () => {
	const pi = await startSession({ hooks });
	pi.provider.reply("done");
	await pi.session.prompt("go");
	expectShaped(pi.provider);
});

test.each([
	["print", runPrint],
	["JSON", runJson],
])("%s", async (_, run) => {
	const pi = await startSession({ hooks });
	pi.provider.reply("done");
	await run(pi.session, { first: { text: "go", images: [] }, rest: [] }, recordIO());
	expectShaped(pi.provider);
});

test("RPC", async () => {
	const { client, provider } = await serveRpc({ hooks });
	provider.reply("done");
	await client.call("prompt", { message: "go" });
	await expect.poll(() => provider.requests.length).toBe(1);
	expectShaped(provider);
});

test("ACP", async () => {
	const { editor, provider, id } = await serveAcp({ hooks });
	provider.reply("done");
	await editor.prompt(id, "go");
	expectShaped(provider);
});

test("plain", async () => {
	const { provider, enter, until } = await startPlain({ hooks });
	provider.reply("finished");
	enter("go");
	await until("finished");
	expectShaped(provider);
});

test("the screen", async () => {
	const { terminal, provider, submit } = await startApp({ hooks });
	await terminal.waitFor("0%");
	provider.reply("Done.");
	await submit("go");
	await terminal.waitFor("Done.");
	expectShaped(provider);
});
