import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { RpcEvent } from "../../../src/modes/rpc/protocol.js";
import { RPC_COMMANDS } from "../../../src/modes/rpc/protocol.js";
import { RPC_OPERATIONS } from "../../../src/operations/index.js";
import { png } from "../../helpers/images.js";
import { httpError, text, toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const ended = (event: RpcEvent) => event.type === "agent_end";

describe("prompts", () => {
	test("are answered when the run has begun, and events report the run to its end", async () => {
		const { client, provider, lines } = await serve();
		provider.reply("hello");
		const end = client.nextEvent(ended);
		expect(await client.call("prompt", { message: "hi" })).toEqual({ outcome: "started" });
		expect(await end).toMatchObject({ type: "agent_end", messages: [{ role: "user" }, { role: "assistant" }] });
		const types = lines.map(({ type }) => type);
		expect(types.indexOf("response")).toBeLessThan(types.indexOf("turn_end"));
		const told = types.filter((type) => type !== "response" && type !== "activity_changed");
		expect(told.filter((type, index) => type !== told[index - 1])).toEqual([
			"session_changed",
			"agent_start",
			"message_start",
			"message_end",
			"turn_start",
			"message_start",
			"message_update",
			"message_end",
			"turn_end",
			"agent_end",
		]);
		expect(await client.call("get_last_assistant_text")).toEqual({ text: "hello" });
	});

	test("that are refused have the code of the failure", async () => {
		const { client, responses } = await serve();
		await expect(client.call("prompt", { message: "/nmae greeting" })).rejects.toThrow("did you mean /name?");
		expect(responses()).toMatchObject([{ command: "prompt", success: false, code: "bad_arguments" }]);
	});

	test("are stopped by an abort while their images are scaled, those that wait for them included", async () => {
		const { client, provider, session } = await serve();
		const isScaling = (event: RpcEvent) => event.type === "notice" && event.message.startsWith("scaling");
		const scaling = client.nextEvent(isScaling);
		const prompts = [
			session.prompt("look", { images: [png(3500, 3500)] }),
			session.prompt("and here", { images: [png(10, 10)] }),
		];
		await scaling;
		const answers = Promise.allSettled(prompts);
		await client.call("abort");
		const refused = (when: string) => ({
			status: "rejected",
			reason: { code: "prompt_refused", message: `The prompt was not sent: it was stopped ${when}` },
		});
		expect(await answers).toMatchObject([
			refused("before its images were scaled"),
			refused("while it waited for an earlier one"),
		]);
		provider.reply("later");
		const end = client.nextEvent(ended);
		await client.call("prompt", { message: "next", images: [png(10, 10)] });
		await end;
		expect(session.entries.slice(1)).toMatchObject([
			{ message: { role: "user", content: [{ text: "next" }, { type: "image" }] } },
			{ message: { role: "assistant" } },
		]);
	});

	test("run tools and report them", async () => {
		const { client, provider, events } = await serve();
		provider.reply([toolCall("bash", { command: "printf 42" })], "it is 42");
		const end = client.nextEvent(ended);
		await client.call("prompt", { message: "what is it?" });
		await end;
		expect(events("tool_execution_start")).toMatchObject([{ toolName: "bash", args: { command: "printf 42" } }]);
		expect(events("tool_execution_end")).toMatchObject([{ toolName: "bash", isError: false }]);
		expect(await client.call("get_session_stats")).toMatchObject({
			userMessages: 1,
			assistantMessages: 2,
			toolCalls: 1,
			toolResults: 1,
			totalMessages: 4,
		});
	});

	test("refuses a prompt that does not fit into the window", async () => {
		const { client, session, provider } = await serve({ modelOptions: { contextWindow: 8192 } });
		await expect(client.call("prompt", { message: "too much ".repeat(6000) })).rejects.toThrow("The prompt has about");
		expect(session.entries).toHaveLength(1);
		expect(provider.requests).toEqual([]);
	});

	test("that cannot run are rejected with the reason", async () => {
		const { client, provider } = await serve();
		await expect(client.call("prompt", { message: "/nope" })).rejects.toThrow("Unknown command /nope");
		for (const message of ["/quit", "/exit"]) {
			await expect(client.call("prompt", { message })).rejects.toThrow("/quit needs a terminal");
		}
		for (const message of ["", " \n"]) {
			await expect(client.call("prompt", { message })).rejects.toThrow("The prompt is empty");
			await expect(client.call("queue_message", { message })).rejects.toThrow("The prompt is empty");
		}
		expect(provider.requests).toEqual([]);
		await client.call("prompt", { message: "/session" });
		const { client: keyless } = await serve({ model: "anthropic/claude-sonnet-4-5" });
		await expect(keyless.call("prompt", { message: "hi" })).rejects.toThrow("No key for anthropic");
	});

	test("that are commands are answered with the status of the command", async () => {
		const { client } = await serve();
		expect(await client.call("prompt", { message: "/name my session" })).toMatchObject({ outcome: "command" });
		const { commands } = await client.call("get_commands");
		expect(commands.map(({ name }) => name)).toContain("compact");
	});

	test("that need a terminal are refused and not listed", async () => {
		const { client, session } = await serve();
		const { commands } = await client.call("get_commands");
		const listed = new Set(commands.map(({ name, origin }) => `${origin} ${name}`));
		const hidden = session.palette().filter(({ name, origin }) => !listed.has(`${origin} ${name}`));
		expect(hidden.map(({ name }) => name).sort()).toEqual(["login", "quit", "setup", "theme"]);
		for (const { name } of hidden) {
			await expect(client.call("prompt", { message: `/${name}` })).rejects.toThrow(
				/needs a terminal|only in interactive/,
			);
		}
	});

	test("during a run wait for its tools, and abort returns them and ends the run", async () => {
		const { client, provider, session } = await serve();
		let release = () => {};
		const hold = new Promise<void>((resolve) => {
			release = resolve;
		});
		provider.reply({ content: [text("thinking about it")], hold });
		await client.call("prompt", { message: "one" });
		expect(await client.call("prompt", { message: "two" })).toEqual({ outcome: "queued" });
		expect(await client.call("queue_message", { message: "/three" })).toEqual({ outcome: "queued" });
		expect(await client.call("get_state")).toMatchObject({ isStreaming: true, queuedMessageCount: 2 });
		const end = client.nextEvent(ended);
		expect(await client.call("abort")).toEqual({ queued: ["two", "/three"] });
		await end;
		release();
		expect(await client.call("get_state")).toMatchObject({ isStreaming: false, queuedMessageCount: 0 });
		expect(session.entries.at(-1)).toMatchObject({ message: { role: "assistant", stopReason: "aborted" } });
	});

	test("followed by an abort on the next line leave nothing running", async () => {
		const { client, provider, session, write } = await serve();
		provider.on(() => "never mind");
		await client.call("get_state");
		write('{"id":1,"type":"prompt","message":"go"}\n{"id":2,"type":"abort"}\n');
		await client.call("get_state");
		await vi.waitFor(() => expect(session.isRunning).toBe(false), 10_000);
		expect(await client.call("get_state")).toMatchObject({ isStreaming: false });
	});

	test("on the line after an abort are not affected by it, whether the session is idle or runs", async () => {
		const { client, provider, session, write, responses, events } = await serve();
		await client.call("get_state");
		provider.reply("first");
		const end = client.nextEvent(ended);
		write('{"id":"a","type":"abort"}\n{"id":"p","type":"prompt","message":"next one"}\n');
		await end;
		expect(await client.call("get_last_assistant_text")).toEqual({ text: "first" });
		provider.reply({ content: [text("never")], hold: new Promise(() => {}) }, "third");
		await client.call("prompt", { message: "second one" });
		await provider.request(2);
		write(
			'{"id":"b","type":"abort"}\n{"id":"s","type":"get_state"}\n{"id":"q","type":"prompt","message":"third one"}\n',
		);
		await vi.waitFor(() => expect(events("agent_end")).toHaveLength(3), 10_000);
		expect(await client.call("get_last_assistant_text")).toEqual({ text: "third" });
		expect(responses().filter(({ id }) => ["a", "p", "b", "s", "q"].includes(String(id)))).toMatchObject([
			{ id: "a", success: true, data: { queued: [] } },
			{ id: "p", success: true, data: { outcome: "started" } },
			{ id: "b", success: true, data: { queued: [] } },
			{ id: "s", success: true, data: { isStreaming: false } },
			{ id: "q", success: true, data: { outcome: "started" } },
		]);
		expect(events("queue_returned")).toEqual([]);
		expect(session.isRunning).toBe(false);
	});

	test("carry images and documents", async () => {
		const { client, provider } = await serve();
		provider.reply("seen");
		const end = client.nextEvent(ended);
		await client.call("prompt", {
			message: "look",
			images: [png(2, 2)],
			attachments: [{ id: "a", type: "document", fileName: "a.txt", mimeType: "text/plain", size: 2, content: "aGk=" }],
		});
		await end;
		const message = provider.requests[0]?.messages.at(-1);
		expect(message?.text).toContain('<file name="a.txt">\nhi\n</file>');
	});
});

describe("queries and changes", () => {
	test("cover state, models, thinking levels and modes", async () => {
		const { client, session } = await serve({ modelOptions: { reasoning: true } });
		expect(await client.call("get_state")).toEqual({
			model: session.model,
			thinkingLevel: "medium",
			isStreaming: false,
			isCompacting: false,
			queueMode: "one-at-a-time",
			sessionFile: null,
			sessionId: session.sessionId,
			autoCompactionEnabled: true,
			autoRetryEnabled: true,
			messageCount: 0,
			queuedMessageCount: 0,
			jobCount: 0,
		});
		const { models } = await client.call("get_available_models");
		expect(models.map(({ provider }) => provider)).toEqual(["loopback", "loopback-anthropic"]);
		expect(await client.call("set_model", { provider: "loopback-anthropic", modelId: "scripted" })).toMatchObject({
			api: "anthropic-messages",
		});
		await expect(client.call("set_model", { provider: "anthropic", modelId: "claude" })).rejects.toThrow(
			"Model anthropic/claude does not exist or has no API key",
		);
		expect(await client.call("cycle_model")).toMatchObject({ model: { provider: "loopback" } });
		await client.call("set_thinking_level", { level: "low" });
		expect(await client.call("cycle_thinking_level")).toEqual({ level: "medium" });
		await client.call("set_queue_mode", { mode: "all" });
		await client.call("set_auto_compaction", { enabled: false });
		await client.call("set_auto_retry", { enabled: false });
		expect(await client.call("get_state")).toMatchObject({
			queueMode: "all",
			autoCompactionEnabled: false,
			autoRetryEnabled: false,
			thinkingLevel: "medium",
		});
	});

	test("run in order when lines are pipelined", async () => {
		const { client, write, lines } = await serve();
		write(
			'{"id":"a","type":"set_model","provider":"loopback-anthropic","modelId":"scripted"}\n{"id":"b","type":"get_state"}\n',
		);
		await client.call("get_state");
		expect(lines).toContainEqual(
			expect.objectContaining({
				id: "b",
				data: expect.objectContaining({ model: expect.objectContaining({ provider: "loopback-anthropic" }) }),
			}),
		);
	});

	test("return the messages and context of the next request", async () => {
		const { client, provider } = await serve({
			hooks: {
				"tail.ts": `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.slice(messages.length > 2 ? 2 : 0) }));`,
			},
		});
		provider.reply("a1", "a2");
		for (const message of ["u1", "u2"]) {
			const end = client.nextEvent(ended);
			await client.call("prompt", { message });
			await end;
		}
		const context = await client.call("get_context");
		expect(context).toMatchObject({
			session: null,
			at: 4,
			messages: [
				{ position: 0, entryIndex: 3, text: "u2", origin: { kind: "entry" } },
				{ position: 1, entryIndex: 4, text: "a2" },
			],
			hidden: [
				{ entryIndex: 1, by: { kind: "hook" } },
				{ entryIndex: 2, by: { kind: "hook" } },
			],
		});
		const { messages } = await client.call("get_messages");
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	});
});

describe("the session", () => {
	test("stays open when it is switched to itself, by any of its names", async () => {
		const { client, provider, session, cwd, events } = await serve({ session: { kind: "new" } });
		provider.reply("a1");
		const end = client.nextEvent(ended);
		await client.call("prompt", { message: "u1" });
		await end;
		const path = session.sessionFile ?? "";
		symlinkSync(path, join(cwd, "link.jsonl"));
		for (const sessionPath of [path, session.sessionId, join(cwd, "link.jsonl")]) {
			expect(await client.call("switch_session", { sessionPath })).toEqual({ cancelled: false });
		}
		expect([session.sessionFile, session.entries.length]).toEqual([path, 3]);
		expect(events("session_changed")).toHaveLength(1);
		const resumed = await client.call("prompt", { message: `/resume ${session.sessionId}` });
		expect(resumed).toEqual({ outcome: "command", status: "That session is already open" });
	});

	test("is reset, switched, branched and exported", async () => {
		const { client, provider, session, cwd } = await serve({ session: { kind: "new" } });
		provider.reply("a1", "a2");
		for (const message of ["u1", "u2"]) {
			const end = client.nextEvent(ended);
			await client.call("prompt", { message });
			await end;
		}
		const first = session.sessionFile ?? "";
		expect(await client.call("get_branch_messages")).toEqual({
			messages: [
				{ entryIndex: 1, text: "u1" },
				{ entryIndex: 3, text: "u2" },
			],
		});
		const { path } = await client.call("export_html", { outputPath: "out.html" });
		expect(path).toBe(join(cwd, "out.html"));
		expect(readFileSync(path, "utf8")).toContain("u2");

		expect(await client.call("branch", { entryIndex: 3 })).toEqual({ text: "u2", cancelled: false });
		expect(session.entries).toHaveLength(3);
		expect(await client.call("switch_session", { sessionPath: first })).toEqual({ cancelled: false });
		expect(session.entries).toHaveLength(5);
		expect(await client.call("reset")).toEqual({ cancelled: false });
		expect(await client.call("get_state")).toMatchObject({ messageCount: 0 });
		await expect(client.call("branch", { entryIndex: 9 })).rejects.toThrow("Entry 9 is not a user message");
		await expect(client.call("switch_session", { sessionPath: "/no/such.jsonl" })).rejects.toThrow(
			"There is no session",
		);
	});

	test("does not change when a hook cancels", async () => {
		const { client, session, provider } = await serve({
			hooks: {
				"stay.ts": `export default (pi) => pi.on("session", ({ reason }) => reason.startsWith("before_") ? { cancel: true } : undefined);`,
			},
		});
		provider.reply("a1", "a2");
		for (const message of ["u1", "u2"]) {
			const end = client.nextEvent(ended);
			await client.call("prompt", { message });
			await end;
		}
		expect(await client.call("reset")).toEqual({ cancelled: true });
		expect(await client.call("branch", { entryIndex: 1 })).toEqual({ text: "", cancelled: true });
		await expect(client.call("compact")).rejects.toThrow("Hook stay canceled the compaction");
		expect(session.entries).toHaveLength(5);
	});

	test("is compacted with instructions", async () => {
		const { client, provider, events } = await serve({ userSettings: { compaction: { keepRecentTokens: 5 } } });
		provider.reply("a1", "a2", "SHORT");
		for (const message of ["u1", "u2"]) {
			const end = client.nextEvent(ended);
			await client.call("prompt", { message });
			await end;
		}
		expect(await client.call("compact", { customInstructions: "keep the names" })).toMatchObject({
			summary: expect.stringContaining("SHORT"),
			tokensBefore: expect.any(Number),
		});
		expect(JSON.stringify(provider.requests[2]?.body)).toContain("keep the names");
		expect(events("auto_compaction_end")).toMatchObject([{ aborted: false }]);
	});
});

describe("shell commands of the user", () => {
	test("are answered with their output and stored in the session", async () => {
		const { client, session } = await serve();
		expect(await client.call("bash", { command: "printf hi; exit 3" })).toEqual({
			output: "hi",
			exitCode: 3,
			cancelled: false,
			truncated: false,
			entryIndex: 1,
		});
		expect(session.entries[1]).toMatchObject({ message: { role: "bashExecution", command: "printf hi; exit 3" } });
	});

	test("have only what the command printed as output", async () => {
		const { client, session } = await serve();
		expect(await client.call("bash", { command: "exit 3" })).toMatchObject({ output: "", exitCode: 3 });
		expect(await client.call("bash", { command: "true" })).toMatchObject({ output: "", exitCode: 0 });
		expect(await client.call("bash", { command: "echo a; kill -s TERM $$" })).toMatchObject({
			output: "a",
			exitCode: 143,
		});
		expect(await client.call("bash", { command: "seq 1 3000" })).toMatchObject({
			output: expect.stringMatching(/^1001\n[\d\n]*\n3000$/),
			truncated: true,
			fullOutputPath: expect.stringMatching(/\.log$/),
		});
		const [message] = session.entries.slice(1);
		expect(message).toMatchObject({ message: { output: "", exitCode: 3 } });
	});

	test("run one at a time and stop on abort_bash", async () => {
		const { client } = await serve();
		const started = client.nextEvent(({ type }) => type === "bash_start");
		const running = client.call("bash", { command: "sleep 60" });
		await started;
		await expect(client.call("bash", { command: "true" })).rejects.toThrow("A shell command is already running");
		await client.call("abort_bash");
		expect(await running).toMatchObject({ cancelled: true });
	});

	test("stop on abort_bash on the next line, but not those after it", async () => {
		const { client, write, responses } = await serve();
		await client.call("get_state");
		const stopped = '{"id":1,"type":"bash","command":"sleep 60"}';
		const next = '{"id":3,"type":"bash","command":"echo hi"}';
		write(`${stopped}\n{"id":2,"type":"abort_bash"}\n${next}\n`);
		await vi.waitFor(() => expect(responses()).toHaveLength(4), 10_000);
		expect(responses().slice(1)).toMatchObject([
			{ id: 1, data: { cancelled: true } },
			{ id: 2, success: true },
			{ id: 3, data: { output: "hi", cancelled: false } },
		]);
	});
});

describe("failing requests", () => {
	test("report retries, and abort_retry ends them", async () => {
		const { client, provider, events } = await serve({ userSettings: { retry: { baseDelayMs: 60_000 } } });
		provider.reply(httpError(503));
		const waiting = client.nextEvent(({ type }) => type === "auto_retry_start");
		const end = client.nextEvent(ended);
		await client.call("abort_retry");
		await client.call("prompt", { message: "hi" });
		expect(await waiting).toMatchObject({ attempt: 1, maxAttempts: 10 });
		await client.call("abort_retry");
		await end;
		expect(events("auto_retry_end")).toMatchObject([{ success: false, attempt: 1 }]);
		expect(provider.requests).toHaveLength(1);
	});
});

test("every command is an operation or has an answer", async () => {
	const { client, session } = await serve();
	const { createQueries } = await import("../../../src/modes/rpc/queries.js");
	const names = [...Object.keys(RPC_OPERATIONS), ...Object.keys(createQueries(session))];
	expect(names.sort()).toEqual(Object.keys(RPC_COMMANDS).sort());
	await client.close();
});
