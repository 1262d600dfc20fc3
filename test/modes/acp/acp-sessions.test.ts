import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { tempDir } from "../../helpers/temp.js";
import { serve } from "./serve.js";

const { session } = methods.agent;
const MODEL = { modelOptions: { reasoning: true } };

/** Runs a prompt with a tool call in a session that is then closed. */
async function serveWithHistory() {
	const served = await serve({ ...MODEL, files: { "a.txt": "one\n" }, userSettings: { features: { tasks: true } } });
	const { provider, editor, id } = served;
	const tasks = [{ text: "edit", status: "done" }];
	provider.reply(
		[thinking("hm"), text("I will."), toolCall("edit", { path: "a.txt", oldText: "one", newText: "1" }, "c1")],
		[toolCall("write", { path: "b.txt", content: "x" }, "c2"), toolCall("tasks", { tasks }, "c3")],
		[toolCall("write", { path: "a.txt", content: "zero\n1\ntwo\n" }, "c4")],
		"Done.",
	);
	await editor.prompt(id, "change it");
	await editor.agent.request(session.close, { sessionId: id });
	return served;
}

test("session/load in another process replays the history, and the session goes on", async () => {
	const { cwd, agentDir, provider, id } = await serveWithHistory();
	const { editor } = await serve({ agentDir, cwd, provider, ...MODEL });
	const loaded = await editor.agent.request(session.load, { sessionId: id, cwd, mcpServers: [] });
	expect(loaded.configOptions).toMatchObject([{ id: "model" }, { id: "thinking" }]);
	const updates = editor.updates.flatMap(({ sessionId, update }) => (sessionId === id ? [update.sessionUpdate] : []));
	expect(updates).toEqual([
		...["user_message_chunk", "agent_thought_chunk", "agent_message_chunk"],
		...["tool_call", "tool_call", "tool_call", "tool_call", "agent_message_chunk", "plan", "usage_update"],
	]);
	expect(editor.text("user_message_chunk")).toBe("change it");
	expect(editor.text("agent_thought_chunk")).toBe("hm");
	expect(editor.text("agent_message_chunk")).toBe("I will.Done.");
	expect(editor.call("c1")).toMatchObject({
		title: "Edit a.txt",
		status: "completed",
		locations: [{ path: join(cwd, "a.txt"), line: 1 }],
		content: [{ type: "diff", oldText: "one", newText: "1" }],
	});
	expect(editor.call("c2").content).toEqual([{ type: "diff", path: join(cwd, "b.txt"), oldText: null, newText: "x" }]);
	expect(editor.call("c4").content).toEqual([
		{ type: "diff", path: join(cwd, "a.txt"), oldText: "1\n", newText: "zero\n1\ntwo\n" },
	]);
	expect(editor.of("plan")).toMatchObject([{ entries: [{ content: "edit", status: "completed" }] }]);
	provider.reply("And more.");
	expect(await editor.prompt(id, "continue")).toEqual({ stopReason: "end_turn" });
	const prompts = provider.requests.at(-1)?.messages.filter(({ role }) => role === "user");
	expect(prompts?.map((message) => message.text)).toEqual(["change it", "continue"]);
});

test("session/load of an open session replays it, and session/resume replays nothing", async () => {
	const { editor, provider, id, cwd } = await serve();
	provider.reply("hello");
	await editor.prompt(id, "hi");
	await editor.agent.request(session.load, { sessionId: id, cwd, mcpServers: [] });
	expect(editor.text("agent_message_chunk")).toBe("hellohello");
	await editor.agent.request(session.close, { sessionId: id });
	await editor.agent.request(session.resume, { sessionId: id, cwd });
	expect(editor.text("agent_message_chunk")).toBe("hellohello");
	provider.reply("again");
	await editor.prompt(id, "more");
	expect(provider.requests.at(-1)?.messages.filter(({ role }) => role === "user")).toHaveLength(2);
});

test("session/load during a run says that the call which runs is in progress", async () => {
	const { editor, provider, id, cwd } = await serve();
	const flag = join(cwd, "go");
	provider.reply([toolCall("bash", { command: `until [ -e ${flag} ]; do sleep 0.02; done` }, "c1")], "Done.");
	const run = editor.prompt(id, "wait");
	await expect.poll(() => editor.call("c1")?.status).toBe("in_progress");
	editor.updates.length = 0;
	await editor.agent.request(session.load, { sessionId: id, cwd, mcpServers: [] });
	expect(editor.call("c1")).toMatchObject({ title: expect.any(String), status: "in_progress" });
	writeFileSync(flag, "");
	await run;
	expect(editor.call("c1").status).toBe("completed");
});

test("session/list names the sessions, newest first, of one directory or all", async () => {
	const { editor, provider, id, cwd } = await serve();
	const other = tempDir("pi-other-");
	const { sessionId } = await editor.newSession(other);
	provider.on(() => "ok");
	await editor.prompt(id, "first question");
	await editor.prompt(sessionId, "second question");
	const { sessions } = await editor.agent.request(session.list, {});
	expect(sessions).toMatchObject([
		{ sessionId, cwd: other, title: "second question", updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
		{ sessionId: id, cwd, title: "first question" },
	]);
	expect((await editor.agent.request(session.list, { cwd })).sessions.map((found) => found.sessionId)).toEqual([id]);
	expect(await editor.agent.request(session.list, { cwd: tempDir("pi-empty-") })).toEqual({ sessions: [] });
	await expect(editor.agent.request(session.list, { cursor: "x" })).rejects.toMatchObject({ code: -32602 });
});

test("several sessions run at the same time, each with its own directory and updates", async () => {
	const { editor, provider, id, cwd } = await serve({ files: { "here.txt": "" } });
	const other = tempDir("pi-other-");
	const { sessionId } = await editor.newSession(other);
	provider.on(({ messages }) => {
		const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
		const isDone = messages.at(-1)?.role === "tool";
		return isDone ? `end of ${asked}` : [toolCall("bash", { command: "pwd" })];
	});
	await Promise.all([editor.prompt(id, "one"), editor.prompt(sessionId, "two")]);
	expect(editor.text("agent_message_chunk", id)).toBe("end of one");
	expect(editor.text("agent_message_chunk", sessionId)).toBe("end of two");
	expect(JSON.stringify(editor.of("tool_call_update", id))).toContain(cwd);
	expect(JSON.stringify(editor.of("tool_call_update", sessionId))).toContain(other);
});

test("cancel and close end only their own session", async () => {
	const { editor, provider, id } = await serve();
	const { sessionId } = await editor.newSession(tempDir("pi-other-"));
	provider.on(() => ({ content: [text("busy")], hold: new Promise(() => {}) }));
	const closed = editor.prompt(sessionId, "two");
	const canceled = editor.prompt(id, "one");
	await provider.request(2);
	await editor.agent.request(session.close, { sessionId });
	expect(await closed).toEqual({ stopReason: "cancelled" });
	await expect(editor.prompt(sessionId, "more")).rejects.toMatchObject({ code: -32002, data: { sessionId } });
	await editor.agent.notify(session.cancel, { sessionId: id });
	expect(await canceled).toEqual({ stopReason: "cancelled" });
	provider.on(() => "free");
	expect(await editor.prompt(id, "next")).toEqual({ stopReason: "end_turn" });
});

test.each([
	["a relative directory", { cwd: "here" }, -32602, 'cwd "here" is not absolute · send the path of the project'],
	["a missing directory", { cwd: "/does/not/exist" }, -32602, 'cwd "/does/not/exist" is not a directory'],
	["no directory", {}, -32602, "Invalid params: cwd: "],
])("session/new refuses %s", async (_, params, code, message) => {
	const { editor } = await serve();
	const answer = editor.agent.request("session/new", { mcpServers: [], ...params });
	await expect(answer).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test.each([["0000"], ["../../etc/passwd"], ["a.jsonl"]])(
	"session/load refuses the unknown id %s",
	async (sessionId) => {
		const { editor, cwd } = await serve();
		const answer = editor.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
		await expect(answer).rejects.toMatchObject({ code: -32002, data: { code: "log_not_found" } });
	},
);

test("a session that another pi has open is refused with the reason", async () => {
	const first = await serve();
	first.provider.reply("ok");
	await first.editor.prompt(first.id, "hi");
	const second = await serve({ agentDir: first.agentDir, cwd: first.cwd, provider: first.provider });
	const params = { sessionId: first.id, cwd: first.cwd, mcpServers: [] };
	await expect(second.editor.agent.request(session.load, params)).rejects.toMatchObject({
		data: { code: "log_locked" },
	});
});

test("without saved sessions the list is empty, and nothing is on disk", async () => {
	const { editor, provider, id, agentDir, cwd } = await serve({ isSaved: false });
	provider.reply("ok");
	await editor.prompt(id, "hi");
	expect(await editor.agent.request(session.list, {})).toEqual({ sessions: [] });
	expect(readdirSync(agentDir)).not.toContain("sessions");
	await editor.agent.request(session.close, { sessionId: id });
	await expect(editor.agent.request(session.load, { sessionId: id, cwd, mcpServers: [] })).rejects.toMatchObject({
		code: -32002,
		message: "pi acp --no-session saves no sessions",
	});
});
