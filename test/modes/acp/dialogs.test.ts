import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const GATE = `export default function (pi) {
	pi.on("tool_call", ({ toolName }) => (toolName === "write" ? { ask: "Write this file?" } : undefined));
}`;

const COMMANDS = `export default function (pi) {
	pi.command("color", { async handler(ctx) {
		const color = await ctx.ui.select("Which color?", [{ label: "Red", value: "r", description: "warm" }, { label: "No color", value: "n" }]);
		return { status: "chose " + color };
	} });
	pi.command("note", { async handler(ctx) {
		const line = await ctx.ui.input("Name?", "short", { initial: "x" });
		const text = await ctx.ui.editor("Note", "a");
		const many = await ctx.ui.select("Which?", ["one", "two"], { multiple: true, initial: ["two"] });
		return { status: JSON.stringify({ line, text, many }) };
	} });
	pi.command("both", { async handler(ctx) {
		const answers = await Promise.all([ctx.ui.confirm("First?", ""), ctx.ui.confirm("Second?", "")]);
		return { status: answers.join() };
	} });
	pi.command("quick", { async handler(ctx) {
		return { status: "answer " + await ctx.ui.confirm("Really?", "now", { timeout: 20 }) };
	} });
}`;

test("a question about a call is a permission request with its diff, and yes lets it run", async () => {
	const { editor, provider, id, cwd } = await serve({ hooks: { "gate.ts": GATE } });
	provider.reply([toolCall("write", { path: "a.txt", content: "x" }, "c1")], "ok");
	await editor.prompt(id, "go");
	expect(editor.permissions).toMatchObject([
		{
			sessionId: id,
			toolCall: {
				toolCallId: "c1",
				content: [
					{
						type: "content",
						content: { type: "text", text: "gate asks: Write this file?\n\nwrite: a.txt\n+ x" },
					},
					{ type: "diff", path: `${cwd}/a.txt`, oldText: null, newText: "x" },
				],
			},
			options: [
				{ optionId: "allow", kind: "allow_once" },
				{ optionId: "reject", kind: "reject_once" },
			],
		},
	]);
	expect(editor.call("c1")).toMatchObject({ status: "completed", content: [{ type: "diff" }] });
});

test.each([["reject"], [null]])("the answer %s refuses the call", async (answer) => {
	const { editor, provider, id } = await serve({ hooks: { "gate.ts": GATE } });
	editor.onPermission = () => answer;
	provider.reply([toolCall("write", { path: "a.txt", content: "x" }, "c1")], "ok");
	await editor.prompt(id, "go");
	expect(editor.call("c1")).toMatchObject({ status: "failed" });
	expect(JSON.stringify(editor.call("c1").content)).toContain("refused this call");
});

test("cancel closes a question, and the client learns it", async () => {
	const { editor, provider, id } = await serve({ hooks: { "gate.ts": GATE } });
	const asked = new Promise<AbortSignal>((resolve) => {
		editor.onPermission = (_, signal) => {
			resolve(signal);
			return new Promise((settle) => signal.addEventListener("abort", () => settle(null)));
		};
	});
	provider.reply([toolCall("write", { path: "a.txt", content: "x" }, "c1")]);
	const answer = editor.prompt(id, "go");
	const signal = await asked;
	await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
	expect(await answer).toEqual({ stopReason: "cancelled" });
	expect(signal.aborted).toBe(true);
	expect(editor.call("c1")).toMatchObject({ status: "failed" });
});

test("select has one option for each choice, in a call of its own", async () => {
	const { editor, id } = await serve({ hooks: { "commands.ts": COMMANDS } });
	await editor.prompt(id, "/color");
	const [request] = editor.permissions;
	expect(request).toMatchObject({
		toolCall: {
			title: "commands asks: Which color?",
			content: [{ type: "content", content: { type: "text", text: "Red: warm" } }],
		},
		options: [
			{ optionId: "0", name: "Red", kind: "allow_once" },
			{ optionId: "1", name: "No color", kind: "reject_once" },
		],
	});
	expect(editor.call(request?.toolCall.toolCallId ?? "")).toMatchObject({ status: "completed", kind: "other" });
	expect(editor.text("agent_message_chunk")).toContain("chose r");
});

test("questions are asked one after the other", async () => {
	const { editor, id } = await serve({ hooks: { "commands.ts": COMMANDS } });
	const seen: string[] = [];
	editor.onPermission = async ({ toolCall: { title } }) => {
		seen.push(`asked ${title}`);
		await new Promise((resolve) => setImmediate(resolve));
		seen.push(`answered ${title}`);
		return title?.includes("First") ? "allow" : "reject";
	};
	await editor.prompt(id, "/both");
	const [first, second] = ["commands asks: First?", "commands asks: Second?"];
	expect(seen).toEqual([`asked ${first}`, `answered ${first}`, `asked ${second}`, `answered ${second}`]);
	expect(editor.text("agent_message_chunk")).toContain("true,false");
});

test("a question with a time limit is withdrawn", async () => {
	const { editor, id } = await serve({ hooks: { "commands.ts": COMMANDS } });
	editor.onPermission = () => new Promise(() => {});
	await editor.prompt(id, "/quick");
	expect(editor.text("agent_message_chunk")).toContain("answer false");
});

test("questions for text are forms", async () => {
	const { editor, id } = await serve({
		hooks: { "commands.ts": COMMANDS },
		capabilities: { elicitation: { form: {} } },
	});
	const answers = ["pi", "two\nlines", ["0", "1"]];
	editor.onForm = () => ({ action: "accept", content: { answer: answers.shift() ?? "" } });
	await editor.prompt(id, "/note");
	expect(editor.forms).toMatchObject([
		{
			mode: "form",
			sessionId: id,
			message: "commands asks: Name?",
			requestedSchema: { properties: { answer: { type: "string", description: "short", default: "x" } } },
		},
		{ message: "commands asks: Note", requestedSchema: { properties: { answer: { default: "a" } } } },
		{ requestedSchema: { properties: { answer: { type: "array", default: ["1"] } } } },
	]);
	expect(editor.text("agent_message_chunk")).toContain('{"line":"pi","text":"two\\nlines","many":["one","two"]}');
});

test("without forms, questions for text are canceled and named", async () => {
	const { editor, id } = await serve({ hooks: { "commands.ts": COMMANDS } });
	await editor.prompt(id, "/note");
	expect(editor.text("agent_message_chunk")).toBe(
		[
			"Warning: commands asks: Name? · canceled, because this client cannot ask for text\n\n",
			"Warning: commands asks: Note · canceled, because this client cannot ask for text\n\n",
			"Warning: commands asks: Which? · canceled, because this client cannot ask for text\n\n",
			'{"line":null,"text":null,"many":null}\n\n',
		].join(""),
	);
});

test("a client that fails to answer refuses, and the reason is shown", async () => {
	const { editor, id } = await serve({ hooks: { "commands.ts": COMMANDS } });
	editor.onPermission = () => {
		throw new Error("no dialog here");
	};
	expect(await editor.prompt(id, "/color")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("agent_message_chunk")).toMatch(/The client did not answer a question: .*\n\nchose null/);
});
