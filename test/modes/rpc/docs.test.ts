import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { RPC_COMMANDS } from "../../../src/modes/rpc/protocol.js";
import { serve } from "./serve.js";

const page = readFileSync(new URL("../../../docs/rpc.md", import.meta.url), "utf8");
const clientTest = readFileSync(new URL("client.test.ts", import.meta.url), "utf8");

/** Code blocks of the page with this word after the fence. */
function blocks(language: string): string[] {
	return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, body]) => body ?? "");
}

const examples = blocks("jsonl");

test.each(examples.map((example) => [example.split("\n")[0], example]))(
	"the example that begins with %s matches the server",
	async (_, example) => {
		const [ask = ""] = blocks("ts ask\\.ts");
		const [board = ""] = blocks("ts board\\.ts");
		const { client, provider, write, lines } = await serve({ hooks: { "ask.ts": ask, "board.ts": board } });
		provider.on(() => "Hi there");
		// The example itself contains the answers.
		client.onDialog(() => new Promise(() => {}));
		let seen = 0;
		let dialogId = "";
		for (const line of example.trimEnd().split("\n")) {
			const text = line.slice(2);
			if (line.startsWith("> ")) {
				write(`${text.replaceAll("$1", dialogId)}\n`);
				continue;
			}
			const expected: Record<string, unknown> = JSON.parse(text);
			if (expected.id === "$1") expected.id = expect.any(String);
			const matches = (candidate: unknown) => {
				try {
					expect(candidate).toMatchObject(expected);
					return true;
				} catch {
					return false;
				}
			};
			// Other lines may come in between.
			const at = await vi.waitFor(() => {
				const index = lines.findIndex((candidate, position) => position >= seen && matches(candidate));
				if (index < 0)
					throw new Error(`No line such as ${text} among\n${lines.map((got) => JSON.stringify(got)).join("\n")}`);
				return index;
			}, 10_000);
			// Answers may arrive before events and earlier answers.
			if (!text.includes('"response"') && !text.includes('"success"')) seen = at + 1;
			const found = lines[at];
			if (found?.type === "hook_ui_request") dialogId = found.id;
		}
	},
);

test("the table of commands lists exactly the commands of the protocol", () => {
	const [, section = ""] = /^## Commands$([\s\S]*?)^## /m.exec(page) ?? [];
	const named = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
	expect(named.sort()).toEqual(Object.keys(RPC_COMMANDS).sort());
});

test("the client example is part of a test", () => {
	const [body = ""] = blocks("ts");
	const flat = (text: string) => text.replace(/^\s+/gm, "");
	expect(body).not.toBe("");
	expect(flat(clientTest)).toContain(flat(body));
});
