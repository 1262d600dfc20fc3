import { expect, test, vi } from "vitest";
import { isMessageEntry, isRequestUsageEntry } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";
import { example } from "./example.js";

const start = (options: TestSessionOptions = {}) =>
	startSession({ ...options, hookFiles: [example("aside.ts"), ...(options.hookFiles ?? [])] });

test("a question is answered from the conversation, with its tools, and only its cost is added", async () => {
	const { session, provider } = await start({ session: { kind: "new" }, sessionDir: tempDir() });
	provider.reply("one", "It was **first**.", "two");
	await session.prompt("first");
	const before = session.entries;
	expect(await session.prompt("/aside What did I say?")).toMatchObject({ status: "It was **first**." });
	const [first, aside] = provider.requests;
	expect(aside?.body.tools).toEqual(first?.body.tools);
	expect(aside?.messages.slice(0, 2)).toEqual(first?.messages);
	expect(aside?.messages.at(-1)?.text).toMatch(/^This is a question aside\.[\s\S]*\n\nWhat did I say\?$/);
	const added = session.entries.slice(before.length);
	expect(added.filter(isRequestUsageEntry).map(({ purpose }) => purpose)).toEqual(["hook aside"]);
	expect(added).toHaveLength(1);
	await session.prompt("second");
	expect(provider.requests[2]?.messages.map(({ text }) => text).slice(1)).toEqual(["first", "one", "second"]);
});

test("calls of tools are refused, and a model that only calls tools is stopped", async () => {
	const { session, provider, sent } = await start({ files: { "a.txt": "secret" } });
	const call = [toolCall("read", { path: "a.txt" })];
	provider.reply("one", call, "I do not know.", call, call, call);
	await session.prompt("first");
	expect(await session.prompt("/aside What is in a.txt?")).toMatchObject({ status: "I do not know." });
	expect(sent(3).at(-1)).toContain("No tools here");
	expect(await session.prompt("/aside And now?")).toMatchObject({
		status: "No answer: the model only called tools",
	});
	expect(provider.requests).toHaveLength(6);
});

test("without a question or an answer, the reason is shown", async () => {
	const { session, provider } = await start({ userSettings: { retry: { enabled: false } } });
	expect(await session.prompt("/aside")).toMatchObject({ status: "Specify a question: /aside <question>" });
	expect(await session.prompt("/aside Why?")).toMatchObject({ status: "There is nothing to ask about yet" });
	provider.reply("one");
	await session.prompt("first");
	provider.reply({ fault: { kind: "http", status: 400, message: "no luck" } } as never);
	expect(await session.prompt("/aside Why?")).toMatchObject({ status: expect.stringMatching(/^No answer: .*no luck/) });
});

test("an abort ends the question", async () => {
	const { session, provider } = await start();
	provider.reply("one", async () => {
		await new Promise(() => {});
		return "never";
	});
	await session.prompt("first");
	const asked = session.prompt("/aside Why?");
	const { closed } = await provider.request(2);
	await session.abort();
	expect(await asked).not.toMatchObject({ status: expect.anything() });
	expect(await closed).toBe(false);
});

test("a question during a run does not disturb it", async () => {
	const { session, provider } = await start();
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.on(async ({ messages }) => {
		if (messages.at(-1)?.text.includes("question aside")) return "Still working.";
		await held;
		return "done";
	});
	const run = session.prompt("work");
	await vi.waitFor(() => expect(provider.requests).toHaveLength(1));
	expect(await session.prompt("/aside How far are you?")).toMatchObject({ status: "Still working." });
	release();
	expect(await run).toMatchObject({ kind: "run" });
	const roles = session.entries.flatMap((entry) => (isMessageEntry(entry) ? [entry.message.role] : []));
	expect(roles).toEqual(["user", "assistant"]);
});
