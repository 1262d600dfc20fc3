import { methods } from "@agentclientprotocol/sdk";
import { expect, test, vi } from "vitest";
import { httpError, text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

test("a prompt streams thoughts and text, and ends with the usage", async () => {
	const { editor, provider, id } = await serve({ modelOptions: { reasoning: true } });
	provider.reply([thinking("let me see"), text("hello from far")]);
	expect(await editor.prompt(id, "hi")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("agent_thought_chunk")).toBe("let me see");
	expect(editor.text("agent_message_chunk")).toBe("hello from far");
	expect(editor.text("user_message_chunk")).toBe("");
	expect(editor.of("usage_update").at(-1)).toMatchObject({ size: 200_000, used: expect.any(Number) });
	expect(new Set(editor.of("agent_message_chunk").map(({ messageId }) => messageId)).size).toBe(1);
	expect(editor.of("session_info_update").at(-1)).toMatchObject({ title: "hi" });
});

test("the text arrives while the model writes it", async () => {
	const { editor, provider, id } = await serve();
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply({ content: [text("first words")], hold });
	const answer = editor.prompt(id, "hi");
	await vi.waitFor(() => expect(editor.text("agent_message_chunk")).toBe("first words"), 10_000);
	release();
	expect(await answer).toEqual({ stopReason: "end_turn" });
});

test("images, links and embedded resources reach the model", async () => {
	const { editor, provider, id, cwd } = await serve();
	provider.reply("ok");
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
	await editor.agent.request(methods.agent.session.prompt, {
		sessionId: id,
		prompt: [
			{ type: "text", text: "Compare" },
			{ type: "resource", resource: { uri: `file://${cwd}/src/a.ts`, text: "const a = 1;" } },
			{ type: "text", text: "with" },
			{ type: "resource_link", name: "b.ts", uri: `file://${cwd}/src/b.ts` },
			{ type: "resource_link", name: "page", uri: "https://example.com/x" },
			{ type: "image", data, mimeType: "image/png" },
		],
	});
	const [message] = provider.requests[0]?.messages.filter(({ role }) => role === "user") ?? [];
	expect(message?.text).toContain('<file name="src/a.ts">\nconst a = 1;\n</file>');
	expect(message?.text).toContain("Compare @src/a.ts with @src/b.ts https://example.com/x");
	expect(JSON.stringify(provider.requests[0]?.body)).toContain("data:image/png;base64,");
});

test.each([
	["an empty prompt", [{ type: "text" as const, text: " " }], "The prompt is empty · send at least one block"],
	[
		"audio",
		[{ type: "audio" as const, data: "", mimeType: "audio/wav" }],
		"pi does not accept audio in prompts · send text",
	],
	[
		"/new",
		[{ type: "text" as const, text: "/new" }],
		"/new is not available over ACP · begin a new thread in the editor",
	],
	["an unknown command", [{ type: "text" as const, text: "/nmae x" }], "Unknown command /nmae · did you mean /name?"],
])("%s is refused", async (_, prompt, message) => {
	const { editor, id } = await serve();
	await expect(editor.agent.request(methods.agent.session.prompt, { sessionId: id, prompt })).rejects.toMatchObject({
		code: -32602,
		message: expect.stringContaining(message),
	});
});

test("a failed request is an error that says what to do", async () => {
	const { editor, provider, id } = await serve();
	provider.reply(httpError(400, {}, "this is wrong"));
	await expect(editor.prompt(id, "hi")).rejects.toMatchObject({
		code: -32603,
		message: expect.stringContaining("this is wrong · inspect the request with /context"),
		data: { code: "request_failed" },
	});
	provider.reply("better");
	expect(await editor.prompt(id, "again")).toEqual({ stopReason: "end_turn" });
});

test("a reply that is cut off at its length ends with max_tokens", async () => {
	const { editor, provider, id } = await serve();
	provider.reply({ content: [text("so far")], stopReason: "length" });
	expect(await editor.prompt(id, "hi")).toEqual({ stopReason: "max_tokens" });
});

test("cancel ends the run with the stop reason cancelled, also while a tool runs", async () => {
	const { editor, provider, id } = await serve();
	provider.reply([toolCall("bash", { command: "echo begun; sleep 60" }, "c1")]);
	const answer = editor.prompt(id, "go");
	await editor.waitFor("tool_call_update", ({ content }) => JSON.stringify(content ?? "").includes("begun"));
	await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
	expect(await answer).toEqual({ stopReason: "cancelled" });
	expect(editor.call("c1")).toMatchObject({ status: "failed" });
	provider.reply("I am back");
	expect(await editor.prompt(id, "hello")).toEqual({ stopReason: "end_turn" });
});

test("cancel right after the prompt and $/cancel_request also answer with cancelled", async () => {
	const { editor, provider, id } = await serve();
	provider.on(() => ({ content: [text("never")], hold: new Promise(() => {}) }));
	const first = editor.prompt(id, "one");
	await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
	expect(await first).toEqual({ stopReason: "cancelled" });
	const canceled = new AbortController();
	const params = { sessionId: id, prompt: [{ type: "text" as const, text: "two" }] };
	const second = editor.agent.request(methods.agent.session.prompt, params, { cancellationSignal: canceled.signal });
	await vi.waitFor(() => expect(editor.text("agent_message_chunk")).toContain("never"), 10_000);
	canceled.abort();
	expect(await second).toEqual({ stopReason: "cancelled" });
});

test("a prompt right after a cancel is not canceled, whether the session is idle or runs", async () => {
	const { editor, provider, id, write, output } = await serve();
	/** Results of a request that the editor does not know. */
	const answers = (requestId: number) =>
		output()
			.split("\n")
			.filter((line) => line.includes(`"id":${requestId}`))
			.map((line) => JSON.parse(line).result);
	const cancelAndPrompt = (requestId: number, text: string) => {
		const prompt = [{ type: "text", text }];
		const lines = [
			{ method: "session/cancel", params: { sessionId: id } },
			{ id: requestId, method: "session/prompt", params: { sessionId: id, prompt } },
		];
		write(lines.map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`).join(""));
	};
	provider.reply("one");
	cancelAndPrompt(901, "first");
	await vi.waitFor(() => expect(answers(901)).toEqual([{ stopReason: "end_turn" }]), 10_000);
	provider.reply({ content: [text("never")], hold: new Promise(() => {}) }, "three");
	const canceled = editor.prompt(id, "second");
	await provider.request(2);
	cancelAndPrompt(902, "third");
	expect(await canceled).toEqual({ stopReason: "cancelled" });
	await vi.waitFor(() => expect(answers(902)).toEqual([{ stopReason: "end_turn" }]), 10_000);
	expect(editor.text("agent_message_chunk")).toMatch(/^one.*three$/s);
	expect(editor.text("user_message_chunk")).toBe("");
});

test("a prompt that waits for a cancel can be canceled, too", async () => {
	const { editor, provider, id } = await serve();
	provider.reply({ content: [text("never")], hold: new Promise(() => {}) });
	const first = editor.prompt(id, "one");
	await provider.request(1);
	const cancel = () => editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
	void cancel();
	const second = editor.prompt(id, "two");
	void cancel();
	expect(await Promise.all([first, second])).toEqual([{ stopReason: "cancelled" }, { stopReason: "cancelled" }]);
	expect(provider.requests).toHaveLength(1);
	provider.reply("back");
	expect(await editor.prompt(id, "three")).toEqual({ stopReason: "end_turn" });
});

test("a prompt after a cancel does not wait for a command that ignores it", async () => {
	const { editor, provider, id } = await serve({
		hooks: {
			"hang.ts": `export default (pi) => pi.command("hang", { handler: (ctx) => { ctx.ui.notify("hangs"); return new Promise(() => {}); } });`,
		},
	});
	const hanging = editor.prompt(id, "/hang");
	await editor.waitFor("agent_message_chunk");
	void editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
	provider.reply("ok");
	expect(await editor.prompt(id, "next")).toEqual({ stopReason: "end_turn" });
	expect(await hanging).toEqual({ stopReason: "cancelled" });
});

test("a prompt during a run joins it, and both are answered at its end", async () => {
	const { editor, provider, id } = await serve();
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply({ content: [text("first")], hold }, "second");
	const first = editor.prompt(id, "one");
	await editor.waitFor("agent_message_chunk");
	const second = editor.prompt(id, "two");
	await provider.request(1);
	// The server handles what arrives in order.
	await editor.agent.request(methods.agent.session.list, {});
	release();
	expect(await Promise.all([first, second])).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
	expect(provider.requests).toHaveLength(2);
	expect(editor.text("user_message_chunk")).toBe("");
});

test("a prompt that was queued when the run failed is given back as an error", async () => {
	const { editor, provider, id } = await serve();
	let fail = () => {};
	const hold = new Promise<void>((resolve) => {
		fail = resolve;
	});
	provider.reply(async () => {
		await hold;
		return httpError(400, {}, "this is wrong");
	});
	const first = editor.prompt(id, "one");
	await provider.request(1);
	const second = editor.prompt(id, "two");
	const results = Promise.allSettled([first, second]);
	await editor.agent.request(methods.agent.session.list, {});
	fail();
	expect(await results).toMatchObject([
		{ reason: { code: -32603 } },
		{ reason: { code: -32602, message: expect.stringContaining("The prompt was not sent") } },
	]);
});

test("a budget asks before the next request, and no ends the turn with the reason", async () => {
	const { editor, provider, id } = await serve({
		modelOptions: { cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }, contextWindow: 1_000_000_000 },
		userSettings: { budget: { perSession: 2 } },
	});
	provider.reply({ content: [text("expensive")], usage: { input: 3_000_000, output: 0 }, stopReason: "length" });
	expect(await editor.prompt(id, "one")).toEqual({ stopReason: "max_tokens" });
	expect(editor.of("usage_update").at(-1)).toMatchObject({ cost: { amount: 3, currency: "USD" } });
	editor.onPermission = () => "reject";
	expect(await editor.prompt(id, "two")).toEqual({ stopReason: "end_turn" });
	expect(editor.permissions).toMatchObject([{ toolCall: { title: "Continue over budget?" } }]);
	expect(editor.text("agent_message_chunk")).toContain("Warning: This session has cost $3.00; the budget is $2.00");
	expect(provider.requests).toHaveLength(1);
});

test("slash commands are announced, and their result is a message", async () => {
	const { editor, id } = await serve({ userSettings: { features: { tasks: true } } });
	const { availableCommands } = await editor.waitFor("available_commands_update");
	const names = availableCommands.map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(["compact", "name", "context", "tasks"]));
	expect(names.filter((name) => ["new", "resume", "quit", "theme", "login"].includes(name))).toEqual([]);
	expect(availableCommands.find(({ name }) => name === "compact")).toMatchObject({
		input: { hint: "[anyway] [focus]" },
	});
	expect(await editor.prompt(id, "/name greeting")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("agent_message_chunk")).toContain("greeting");
	expect(editor.of("session_info_update").at(-1)).toMatchObject({ title: "greeting" });
});

test("a client with notices gets the result of a command, and the compaction, as such updates", async () => {
	const { editor, provider, id } = await serve({ capabilities: { session: { notices: {}, compaction: {} } } });
	await editor.prompt(id, "/name greeting");
	expect(editor.of("notice")).toMatchObject([{ severity: "info", title: expect.stringContaining("greeting") }]);
	expect(editor.text("agent_message_chunk")).toBe("");
	const long = "word ".repeat(8000);
	provider.reply(long, long, long);
	for (const prompt of ["one", "two", "three"]) await editor.prompt(id, prompt);
	provider.on(() => "the summary");
	await editor.prompt(id, "/compact");
	expect(editor.of("compaction_update").map(({ status }) => status)).toEqual(["in_progress", "completed"]);
	expect(JSON.stringify(editor.of("compaction_update").at(-1)?.summary)).toContain("the summary");
});

test("the task list is a plan", async () => {
	const { editor, provider, id } = await serve({ userSettings: { features: { tasks: true } } });
	const tasks = [
		{ text: "read", status: "done" },
		{ text: "write", status: "in_progress" },
		{ text: "test", status: "pending" },
	];
	provider.reply([toolCall("tasks", { tasks }, "c1")], "ok");
	await editor.prompt(id, "go");
	expect(editor.of("plan")).toEqual([
		{
			sessionUpdate: "plan",
			entries: [
				{ content: "read", priority: "medium", status: "completed" },
				{ content: "write", priority: "medium", status: "in_progress" },
				{ content: "test", priority: "medium", status: "pending" },
			],
		},
	]);
	expect(editor.call("c1")).toMatchObject({ kind: "think", title: "Update the task list: write", status: "completed" });
});

test("a retry is announced, and the calls of the reply that broke off fail", async () => {
	const { editor, provider, id } = await serve({ userSettings: { retry: { baseDelayMs: 1 } } });
	provider.reply(
		{ content: [text("part "), toolCall("bash", { command: "echo x" }, "lost")], fault: { kind: "cut", at: 3 } },
		"done",
	);
	expect(await editor.prompt(id, "hi")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("agent_message_chunk")).toMatch(/^part Warning: .* · trying again in .*\n\ndone$/);
	for (const { toolCallId } of editor.of("tool_call")) {
		expect(editor.call(toolCallId)).toMatchObject({ status: "failed" });
	}
});

test("a prompt that a hook sends is shown, and belongs to the turn", async () => {
	const hook = `export default function (pi) {
		let sent = false;
		pi.on("agent_settled", () => {
			if (!sent) pi.send("and now the second part");
			sent = true;
		});
	}`;
	const { editor, provider, id } = await serve({ hooks: { "more.ts": hook } });
	provider.reply("one", "two");
	expect(await editor.prompt(id, "go")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("user_message_chunk")).toBe("and now the second part");
	expect(editor.text("agent_message_chunk")).toBe("onetwo");
});
