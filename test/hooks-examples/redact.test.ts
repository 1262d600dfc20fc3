import { expect, test } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("redact.ts");

async function read(content: string) {
	const warnings: string[] = [];
	const ui = { notify: (message: string) => void warnings.push(message) };
	const test = await startSession({ hookFiles: [HOOK], ui, files: { "a.txt": content } });
	test.provider.reply([toolCall("read", { path: "a.txt" })], "ok");
	await test.session.prompt("go");
	return {
		seen: test.provider.requests[1]?.messages.at(-1)?.text ?? "",
		log: JSON.stringify(test.session.entries),
		warnings,
	};
}

const part = (length: number) => "aB3".repeat(length).slice(0, length);

test.each([
	["an API key", `sk-ant-${part(40)}`, "[API key masked]"],
	["a GitHub token", `ghp_${part(36)}`, "[GitHub token masked]"],
	["an AWS key", "AKIAABCDEFGHIJKLMNOP", "[AWS key masked]"],
	["a Google key", `AIza${part(35)}`, "[Google key masked]"],
	["a Slack token", "xoxb-1234567890-abc", "[Slack token masked]"],
	["a JWT", `eyJ${part(20)}.eyJ${part(20)}.${part(20)}`, "[JWT masked]"],
	[
		"a private key",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
		"[private key masked]",
	],
	["a cut private key", "-----BEGIN PRIVATE KEY-----\nMIIEabc", "[private key masked]"],
	["a password in an address", "postgres://me:hunter22@db/x", "postgres://me:[password masked]@db/x"],
	["an assignment", "DB_PASSWORD = 'correct horse'", "DB_PASSWORD = [masked]"],
])("masks %s before the model or the log has it", async (_, secret, masked) => {
	const { seen, log, warnings } = await read(`before\n${secret}\n`);
	expect(seen).toContain("before");
	expect(seen).toContain(masked);
	expect(seen).not.toContain(secret);
	expect(log).not.toContain(JSON.stringify(secret).slice(1, -1));
	expect(warnings).toEqual(["Masked a secret in the output of read"]);
});

test("masks the diff of an edit, which only the screen and the session have", async () => {
	const key = `sk-ant-${part(40)}`;
	const test = await startSession({ hookFiles: [HOOK], files: { "a.txt": `key: ${key}\nb\n` } });
	test.provider.reply([toolCall("edit", { path: "a.txt", oldText: "b", newText: "c" })], "ok");
	await test.session.prompt("go");
	const entry = test.session.entries.find((one) => isMessageEntry(one) && one.message.role === "toolResult");
	expect(entry).toMatchObject({ message: { details: { diff: expect.stringContaining("+ 2 c") } } });
	expect(JSON.stringify(entry)).toContain("[API key masked]");
	expect(JSON.stringify(entry)).not.toContain(key);
});

test("masks prompts, output of shell commands, context files and what a summary is written from, in requests only", async () => {
	const key = `sk-ant-${part(40)}`;
	const keys = ["typed", "printed", "filed"].map((name) => `${key}${name}`);
	const test = await startSession({
		hookFiles: [HOOK],
		files: { "AGENTS.md": `Use ${keys[2]}` },
		userSettings: { compaction: { keepRecentTokens: 1 } },
	});
	const { session, provider } = test;
	provider.reply("one", "two", "Summary.", "three");
	await session.runBash(`echo ${keys[1]}`);
	await session.prompt(`Try ${keys[0]}`);
	await session.prompt("again");
	await session.compact();
	await session.prompt("and again");
	expect(provider.requests).toHaveLength(4);
	const sent = JSON.stringify(provider.requests.map(({ body }) => body));
	expect(sent).toContain("Try [API key masked]");
	expect(sent).toContain("Use [API key masked]");
	expect(sent).toContain("echo [API key masked]");
	expect(sent).not.toContain(key);
	const log = JSON.stringify(session.entries.filter((entry) => isMessageEntry(entry)).map(({ message }) => message));
	expect([log.includes(keys[0] ?? ""), log.includes(keys[1] ?? "")]).toEqual([true, true]);
	expect(test.events.filter(({ type }) => type === "hook_error")).toEqual([]);
});

test("does not change other text", async () => {
	const content = "const token = readToken();\nhttp://host:80/path\nsk-short\nTOKEN=\nclass SecretBox {}\n";
	const { seen, warnings } = await read(content);
	for (const line of content.trim().split("\n")) expect(seen).toContain(line);
	expect(warnings).toEqual([]);
});
