import { expect, test } from "vitest";
import type { DialogAnswer } from "../../src/index.js";
import { type Reply, toolCall } from "../helpers/loopback-provider.js";
import { serve } from "../modes/rpc/serve.js";

const PLAN = "## Plan\n\n1. Change a.ts";

interface RpcCase {
	/** Prompts and commands, in order. */
	messages: string[];
	replies?: Reply[];
	/** Answers to the dialogs, in order. */
	answers?: DialogAnswer[];
	/** Some of the requests that the client receives. */
	receives: object[];
	/** Text of the last message that the model receives. */
	sent?: string;
	/** Status of the last message. */
	status?: string;
}

const CASES: Record<string, RpcCase> = {
	question: {
		messages: ["go"],
		replies: [[toolCall("question", { question: "Which?", options: ["a", "b"] })], "ok"],
		answers: ["b"],
		receives: [{ method: "select", title: "Which?", options: ["a", "b", "Something else…"] }],
		sent: "b",
	},
	"plan-mode": {
		messages: ["/plan", "go"],
		replies: [PLAN, "ok"],
		answers: ["Edit it first", "1. Change b.ts"],
		receives: [
			{ method: "setStatus", statusKey: "mode", statusText: "plan mode" },
			{ method: "select", title: "Carry out this plan?" },
			{ method: "editor", title: "Plan", initial: "1. Change a.ts" },
		],
		sent: "Carry out this plan. I have edited it:\n\n1. Change b.ts",
	},
	"permission-gate": {
		messages: ["go"],
		replies: [[toolCall("bash", { command: "echo a | cat" })], "ok"],
		answers: ["Yes, once"],
		receives: [{ method: "select", title: "Run this command?\n\nbash: echo a | cat" }],
		sent: "a",
	},
	handoff: {
		messages: ["go", "/handoff"],
		replies: ["done", "DRAFT", "ok"],
		answers: ["tests", "Write the tests."],
		receives: [
			{ method: "input", title: "Goal of the new session" },
			{ method: "editor", title: "First prompt of the new session", initial: "DRAFT" },
		],
		sent: "Write the tests.",
	},
	fold: {
		messages: ["go", "/fold 1 1", "next"],
		replies: ["done", "DRAFT", "ok"],
		answers: ["Mine"],
		receives: [{ method: "editor", title: "Fold into this summary", initial: "DRAFT" }],
		sent: "next",
	},
	"status-line": {
		messages: ["go"],
		replies: ["ok"],
		receives: [{ method: "setStatus", statusKey: "line", statusText: "context 0 % · scripted" }],
	},
	"quiet-screen": {
		messages: ["go"],
		replies: ["ok"],
		receives: [{ method: "setTitle", title: expect.stringMatching(/^● pi · /) }],
	},
	aside: {
		messages: ["go", "/aside What did I say?"],
		replies: ["done", "You said go."],
		receives: [],
		status: "You said go.",
	},
	"past-sessions": {
		messages: ["go"],
		replies: [[toolCall("past_sessions", { search: "zebra" })], "ok"],
		receives: [],
		sent: "No earlier session of this project contains this text. Try a shorter one.",
	},
	snake: { messages: ["/snake"], receives: [], status: "/snake needs a screen" },
};

test.each(Object.entries(CASES))("%s works with an RPC client", async (name, example) => {
	const { client, provider, events } = await serve({ userSettings: { hooks: [`pi:${name}`] } });
	const answers = [...(example.answers ?? [])];
	client.onDialog(() => answers.shift() ?? null);
	provider.reply(...(example.replies ?? []));
	let status: unknown;
	for (const message of example.messages) {
		const answer = await client.call("prompt", { message });
		status = answer.outcome === "command" ? answer.status : null;
		await expect.poll(() => client.call("get_state")).toMatchObject({ isStreaming: false });
	}
	await expect.poll(() => provider.requests.length).toBe(example.replies?.length ?? 0);
	await expect.poll(() => answers).toEqual([]);
	for (const request of example.receives) {
		await expect
			.poll(() => events("hook_ui_request"))
			.toContainEqual(expect.objectContaining({ hook: name, ...request }));
	}
	if (example.sent !== undefined) expect(provider.requests.at(-1)?.messages.at(-1)?.text.trim()).toBe(example.sent);
	if (example.status !== undefined) expect(status).toBe(example.status);
	expect(events("hook_error")).toEqual([]);
});
