import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { isMessageEntry, messageText, type SessionEntry } from "../../src/log/entry.js";
import { httpError, text, thinking, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";

const FAST_RETRY = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1 } };
const APIS = ["loopback/scripted", "loopback-anthropic/scripted"] as const;

/** A tool that returns after the calls of other tools. */
const HOLD = `export default (pi) => {
	let release;
	const held = new Promise((resolve) => { release = resolve; });
	pi.on("tool_result", ({ toolName }) => void (toolName === "read" && setImmediate(release)));
	pi.tool({
		name: "hold", description: "waits", readOnly: true, parameters: { type: "object", properties: {} },
		async run() { await held; return { content: [{ type: "text", text: "held" }] }; },
	});
};`;

/** Short form of entries: role, text and tool calls of messages, the type of all others. */
function log(entries: readonly SessionEntry[]): string[] {
	return entries.slice(1).map((entry) => {
		if (!isMessageEntry(entry)) return entry.type;
		const { message } = entry;
		if (message.role !== "assistant") return `${message.role}: ${messageText(message)}`;
		const calls = message.content.filter((block) => block.type === "toolCall").map(({ name }) => `→${name}`);
		return [`assistant(${message.stopReason}):`, messageText(message), ...calls].filter(Boolean).join(" ");
	});
}

function lastReply({ session }: TestSession): AssistantMessage | undefined {
	const entry = session.entries.findLast((item) => isMessageEntry(item) && item.message.role === "assistant");
	return isMessageEntry(entry) && entry.message.role === "assistant" ? entry.message : undefined;
}

describe.each(APIS)("a run with %s", (model) => {
	test("streams text and thinking, and logs each message before its event", async () => {
		const { session, provider, events } = await startSession({ model });
		provider.reply([thinking("hmm"), text("Hello there")]);
		const seen: number[] = [];
		session.subscribe((event) => {
			if (event.type === "message_end") seen.push(event.entryIndex - session.entries.length);
		});
		await session.prompt("hi");
		expect(log(session.entries)).toEqual(["user: hi", "assistant(stop): Hello there"]);
		expect(seen).toEqual([-1, -1]);
		expect(
			events
				.map(({ type }) => type)
				.filter((type) => !["message_update", "context_changed", "activity_changed"].includes(type)),
		).toEqual([
			"session_changed",
			"agent_start",
			"message_start",
			"message_end",
			"turn_start",
			"message_start",
			"message_end",
			"turn_end",
			"agent_end",
		]);
	});

	test("runs several tool calls of one message and sends their results in the order of the calls", async () => {
		const started = await startSession({ model, files: { "a.txt": "alpha", "b.txt": "beta" } });
		const { session, provider } = started;
		provider.reply(
			[
				text("Reading"),
				toolCall("read", { path: "a.txt" }),
				toolCall("read", { path: "b.txt" }),
				toolCall("bash", { command: "echo hi" }),
			],
			"done",
		);
		await session.prompt("look");
		const [, , , ...sent] = provider.requests[1]?.messages ?? [];
		expect(
			sent.map(({ role, text: content }) => [
				role,
				content.includes("alpha"),
				content.includes("beta"),
				content.includes("hi"),
			]),
		).toEqual([
			["tool", true, false, false],
			["tool", false, true, false],
			["tool", false, false, true],
		]);
		expect(log(session.entries).at(-1)).toBe("assistant(stop): done");
	});

	test("logs the result of each call before its event, while others still run, and sends them in the order of the calls", async () => {
		const started = await startSession({
			model,
			files: { "a.txt": "alpha" },
			hooks: { "hold.ts": HOLD },
		});
		const { session, provider } = started;
		const logged: boolean[] = [];
		session.subscribe((event) => {
			if (event.type !== "tool_execution_end") return;
			const { entries } = session;
			logged.push(
				entries.some(
					(entry) =>
						isMessageEntry(entry) &&
						entry.message.role === "toolResult" &&
						entry.message.toolCallId === event.toolCallId,
				),
			);
		});
		provider.reply([toolCall("hold", {}), toolCall("read", { path: "a.txt" })], "ok");
		await session.prompt("look");
		expect(logged).toEqual([true, true]);
		expect(started.sent(2).filter((line) => line.startsWith("tool:"))).toEqual([
			expect.stringContaining("held"),
			expect.stringContaining("alpha"),
		]);
		const results = session.entries.flatMap((entry) =>
			isMessageEntry(entry) && entry.message.role === "toolResult" ? [entry.message.toolName] : [],
		);
		expect(results).toEqual(["read", "hold"]);
		expect(provider.violations).toEqual([]);
	});

	test("reports unknown tools and bad arguments to the model so that it can correct the call", async () => {
		const { session, provider, sent } = await startSession({ model });
		provider.reply([toolCall("teleport", {}), toolCall("read", { offset: "no" })], "ok");
		await session.prompt("go");
		const results = sent(2).filter((line) => line.startsWith("tool:"));
		expect(results[0]).toContain('There is no tool "teleport"');
		expect(results[1]).toContain("path");
	});

	test.each([
		["an overloaded server", httpError(529)],
		["a server error", httpError(500)],
		["a rate limit", httpError(429, { "retry-after": "0" })],
		[
			"a connection cut before the first byte",
			{ content: [text("x")], fault: { kind: "cut", at: "headers" } as const },
		],
		[
			"a connection cut in the middle",
			{ content: [text("some words that take several chunks")], fault: { kind: "cut", at: 2 } as const },
		],
		[
			"a stream that ends without a reason",
			{ content: [text("half an answer, no end")], fault: { kind: "end", at: 1 } as const },
		],
	])("recovers from %s with one complete reply in the log", async (_, failure) => {
		const { session, provider, events } = await startSession({ model, userSettings: FAST_RETRY });
		provider.reply(failure, "fine");
		await session.prompt("go");
		expect(log(unretried(session.entries))).toEqual(["user: go", "assistant(stop): fine"]);
		expect(events.filter(({ type }) => type.startsWith("auto_retry")).map(({ type }) => type)).toEqual([
			"auto_retry_start",
			"auto_retry_end",
		]);
	});

	test.each([400, 401, 403, 404])("does not retry after %i, and the next prompt works", async (status) => {
		const started = await startSession({ model, userSettings: FAST_RETRY });
		const { session, provider } = started;
		provider.reply(httpError(status, {}, "refused"), "better");
		await session.prompt("one");
		expect(provider.requests.length).toBe(1);
		expect(lastReply(started)?.stopReason).toBe("error");
		await session.prompt("two");
		expect(log(session.entries).at(-1)).toBe("assistant(stop): better");
	});

	test("logs the partial reply when aborted in the middle of a stream, and the next request is valid", async () => {
		const started = await startSession({ model });
		const { session, provider } = started;
		provider.reply(
			{ content: [text("one two three four five six")], chunkSize: 4, fault: { kind: "stall", at: 3 } },
			"again",
		);
		const streamed = new Promise<void>((resolve) => {
			session.subscribe((event) => event.type === "message_update" && resolve());
		});
		const run = session.prompt("go");
		await streamed;
		await session.abort();
		expect(await run).toMatchObject({ outcome: { isAborted: true } });
		expect(session.isRunning).toBe(false);
		expect(lastReply(started)?.stopReason).toBe("aborted");
		expect(await provider.requests[0]?.closed).toBe(false);
		expect(await session.prompt("go on")).not.toHaveProperty("outcome.isAborted");
		expect(log(session.entries).at(-1)).toBe("assistant(stop): again");
	});

	test("does not wait for the child process when aborted during a tool call, which gets a result", async () => {
		const started = await startSession({ model });
		const { session, provider } = started;
		provider.reply([toolCall("bash", { command: "echo begun; sleep 60" })], "next");
		const output = new Promise<void>((resolve) => {
			session.subscribe((event) => event.type === "tool_execution_update" && resolve());
		});
		const run = session.prompt("go");
		await output;
		await session.abort();
		expect(await run).toMatchObject({ outcome: { isAborted: true, last: { stopReason: "toolUse" } } });
		expect(started.events.findLast(({ type }) => type === "agent_end")).toMatchObject({ isAborted: true });
		const last = session.entries.at(-1);
		expect(isMessageEntry(last) && last.message.role === "toolResult" && last.message.isError).toBe(true);
		await session.prompt("more");
		expect(log(session.entries).at(-1)).toBe("assistant(stop): next");
	});
});

describe("a run", () => {
	test("gives up after the last retry and reports the error", async () => {
		const started = await startSession({ userSettings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } } });
		const { session, provider, events } = started;
		provider.on(() => httpError(503, {}, "no room"));
		await session.prompt("go");
		expect(provider.requests.length).toBe(3);
		expect(lastReply(started)?.errorMessage).toContain("503");
		expect(events.find(({ type }) => type === "auto_retry_end")).toMatchObject({ success: false, attempt: 2 });
	});

	test("tries three times where minutes of waiting do not help, such as a closed port", async () => {
		const started = await startSession({ userSettings: { retry: { enabled: true, maxRetries: 10, baseDelayMs: 1 } } });
		const { session, provider, events } = started;
		await provider.close();
		await session.prompt("go");
		const retries = events.filter(({ type }) => type === "auto_retry_start");
		expect(retries).toMatchObject([1, 2, 3].map((attempt) => ({ attempt, maxAttempts: 3 })));
		expect(lastReply(started)?.errorMessage).toContain("connection refused");
	});

	test("waits as long as the server asks instead of its own delay", async () => {
		const { session, provider, events } = await startSession({
			userSettings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 50_000 } },
		});
		provider.reply(httpError(429, { "retry-after": "0" }), "fine");
		await session.prompt("go");
		expect(events.find(({ type }) => type === "auto_retry_start")).toMatchObject({ delayMs: 0 });
	});

	test("treats a stalled stream as failed, even with keep-alives", async () => {
		const { session, provider } = await startSession({ userSettings: { ...FAST_RETRY, streamIdleTimeoutMs: 100 } });
		provider.reply(
			{ content: [text("quiet now, nothing more")], fault: { kind: "stall", at: 1, keepAliveMs: 20 } },
			"fine",
		);
		await session.prompt("go");
		expect(log(unretried(session.entries))).toEqual(["user: go", "assistant(stop): fine"]);
		expect(await provider.requests[0]?.closed).toBe(false);
	});

	test("logs the part of a reply that broke off, marked, and sends the same request again", async () => {
		const { session, provider, events } = await startSession({ userSettings: FAST_RETRY });
		const broken = { content: [text("half an answer, no end")], fault: { kind: "cut", at: 2 } as const };
		provider.reply(broken, "fine", "more");
		await session.prompt("go");
		expect(session.entries.filter(isMessageEntry).map(({ message, retried }) => [message.role, retried])).toEqual([
			["user", undefined],
			["assistant", true],
			["assistant", undefined],
		]);
		const [first, second] = provider.requests;
		expect(JSON.stringify(second?.body)).toBe(JSON.stringify(first?.body));
		const digests = session.entries.filter(isMessageEntry).map(({ context }) => context?.messages);
		expect(digests).toEqual([undefined, undefined, 1]);
		const order = events.flatMap((event) =>
			event.type === "message_end" && event.message.role === "assistant"
				? [event.isRetried ? `retried at ${event.entryIndex}` : `reply at ${event.entryIndex}`]
				: event.type.startsWith("auto_retry")
					? [event.type]
					: [],
		);
		const at = session.entries.findIndex((entry) => isMessageEntry(entry) && entry.retried);
		expect(order).toEqual([`retried at ${at}`, "auto_retry_start", "auto_retry_end", `reply at ${at + 1}`]);
		await session.prompt("again");
		expect(provider.requests[2]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
	});

	test("stops waiting for the retry of a reply that broke off", async () => {
		const { session, provider } = await startSession({
			userSettings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } },
		});
		provider.reply({ content: [text("half an answer, no end")], fault: { kind: "cut", at: 2 } });
		const waiting = new Promise<void>((resolve) => {
			session.subscribe((event) => event.type === "auto_retry_start" && resolve());
		});
		const run = session.prompt("go");
		await waiting;
		await session.abort();
		await run;
		const replies = session.entries.filter(isMessageEntry).slice(1);
		expect(replies.map(({ message, retried }) => [retried, messageText(message) !== ""])).toEqual([
			[true, true],
			[undefined, false],
		]);
	});

	test("stops waiting for a retry when it is aborted", async () => {
		const started = await startSession({
			userSettings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } },
		});
		const { session, provider } = started;
		provider.reply(httpError(503));
		const waiting = new Promise<void>((resolve) => {
			session.subscribe((event) => event.type === "auto_retry_start" && resolve());
		});
		const run = session.prompt("go");
		await waiting;
		await session.abort();
		await run;
		expect(provider.requests.length).toBe(1);
		expect(lastReply(started)?.stopReason).toBe("aborted");
	});

	test("sends steering after the current tool calls and follow-ups at the end", async () => {
		const { session, provider, sent } = await startSession();
		provider.reply([toolCall("bash", { command: "sleep 0.05" })], "one", "two");
		const started = new Promise<void>((resolve) => {
			session.subscribe((event) => event.type === "tool_execution_start" && resolve());
		});
		const run = session.prompt("go");
		await started;
		await session.followUp("afterwards");
		expect(await session.prompt("also this")).toEqual({ kind: "queued" });
		expect(session.queue).toEqual({ steering: ["also this"], followUps: ["afterwards"] });
		await run;
		expect(sent(2).at(-1)).toBe("user: also this");
		expect(sent(3).at(-1)).toBe("user: afterwards");
		expect(session.queue).toEqual({ steering: [], followUps: [] });
	});

	test("returns queued prompts on abort", async () => {
		const { session, provider } = await startSession();
		provider.reply({ content: [text("long")], fault: { kind: "stall", at: "headers" } });
		const run = session.prompt("go");
		await provider.request(1);
		await session.prompt("steer");
		await session.followUp("follow");
		expect(await session.abort()).toEqual(["steer", "follow"]);
		await run;
	});

	test("refuses to start without a key, writes nothing and names the missing key", async () => {
		const { session } = await startSession({ model: "anthropic/claude-sonnet-4-5" });
		await expect(session.prompt("hi")).rejects.toMatchObject({ code: "key_missing" });
		await expect(session.prompt("hi")).rejects.toThrow(/anthropic/i);
		expect(session.entries.length).toBe(1);
	});

	test("never shows a key that a provider echoes", async () => {
		const started = await startSession();
		started.provider.reply(httpError(401, {}, "bad key loopback-key was sent"));
		await started.session.prompt("go");
		expect(lastReply(started)?.errorMessage).toContain("‹key›");
		expect(JSON.stringify(started.session.entries)).not.toContain("loopback-key");
	});

	test("makes duplicate call ids unique before anything runs", async () => {
		const { session, provider } = await startSession({ model: "loopback-anthropic/scripted" });
		provider.reply(
			[toolCall("bash", { command: "echo 1" }, "same"), toolCall("bash", { command: "echo 2" }, "same")],
			"ok",
		);
		await session.prompt("go");
		expect(log(session.entries).filter((line) => line.startsWith("toolResult"))).toEqual([
			"toolResult: 1",
			"toolResult: 2",
		]);
	});

	test.each(APIS)("reports too deeply nested arguments as empty (%s)", async (model) => {
		const { session, provider } = await startSession({ model });
		const told: string[] = [];
		session.subscribe((event) => void told.push(JSON.stringify(event)));
		const rawArguments = `{"path":${"[".repeat(3000)}${"]".repeat(3000)}}`;
		provider.reply({ content: [{ type: "toolCall", name: "read", rawArguments }], chunkSize: 2000 }, "ok");
		await session.prompt("go");
		expect(told.filter((line) => line.includes('"toolcall_end"'))).toEqual([
			expect.stringMatching(/"name":"read","arguments":{}/),
		]);
		expect(log(session.entries).at(-1)).toBe("assistant(stop): ok");
	});

	test("keeps the next request valid when a call has no name", async () => {
		const { session, provider, sent } = await startSession();
		provider.reply([toolCall("", {}), toolCall("bad name!", {})], "ok");
		await session.prompt("go");
		expect(sent(2).filter((line) => line.startsWith("tool:"))).toEqual([
			expect.stringContaining('There is no tool "unnamed"'),
			expect.stringContaining('There is no tool "bad_name_"'),
		]);
	});

	test("sends a valid conversation when a failure left a call without a result", async () => {
		const { session, provider, sent } = await startSession();
		provider.reply([toolCall("bash", { command: "true" })], { fault: { kind: "cut", at: "headers" } }, "recovered");
		session.setAutoRetry(false);
		await session.prompt("go");
		await session.prompt("again");
		expect(sent(3).map((line) => line.split(":")[0])).toEqual(["user", "assistant", "tool", "user"]);
	});
});

/** The entries without the parts of replies that broke off. */
function unretried(entries: readonly SessionEntry[]): SessionEntry[] {
	return entries.filter((entry) => !isMessageEntry(entry) || !entry.retried);
}

test("the costs of a reply have no digits that only come from binary fractions", async () => {
	const cost = { input: 0.1, output: 0.2, cacheRead: 0.1, cacheWrite: 0.1 };
	const started = await startSession({ modelOptions: { cost } });
	started.provider.reply({ content: [text("ok")], usage: { input: 3, output: 1_000_003 } });
	await started.session.prompt("hi");
	expect(lastReply(started)?.usage.cost).toEqual({
		...{ input: 0.0000003, output: 0.2000006, cacheRead: 0, cacheWrite: 0, total: 0.2000009 },
	});
});
