import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { afterFirstRequest } from "../../../src/modes/interactive/begin-session.js";
import { header, user } from "../../helpers/entries.js";
import { startSession } from "../../helpers/session.js";
import { tempDir } from "../../helpers/temp.js";
import { startApp } from "./app.js";

test("highlighting is loaded after the first request when a prompt waited for the session", async () => {
	const { session, provider } = await startSession();
	provider.reply("hello");
	const answered = session.prompt("hi");
	await afterFirstRequest(session);
	expect(provider.requests.length).toBe(1);
	await answered;
});

test("highlighting is loaded immediately when no prompt waits", async () => {
	const { session, provider } = await startSession();
	await afterFirstRequest(session);
	expect({ requests: provider.requests.length, isRunning: session.isRunning }).toEqual({
		requests: 0,
		isRunning: false,
	});
});

test("a session of 20 MB and more is announced while it is read", async () => {
	const target = join(tempDir(), "large.jsonl");
	const lines = [header(), user("the only question"), { type: "note", text: "x".repeat(21_000_000) }];
	writeFileSync(target, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	const app = await startApp({ session: { kind: "open", target } });
	await app.terminal.waitFor("the only question");
	expect(app.terminal.output).toContain("reading the session · 21 MB");
	expect(await app.terminal.text()).not.toContain("reading the session");
});
