import { type AssistantMessage, type Context, type Message, streamSimple, type Tool, Type } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { registerDemoModel } from "../../src/demo/demo-model.js";
import { DEMO_PROMPTS } from "../../src/demo/script.js";

const TOOLS: Tool[] = ["grep", "read", "bash", "edit"].map((name) => ({
	name,
	description: name,
	parameters: Type.Object({}),
}));

function user(content: string): Message {
	return { role: "user", content, timestamp: 0 };
}

function textOf(message: AssistantMessage): string {
	return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

async function answer(messages: Message[], context: Partial<Context> = { tools: TOOLS }): Promise<AssistantMessage> {
	const model = await registerDemoModel({ pace: 0 });
	return streamSimple(model, { messages, ...context }).result();
}

/** The conversation after all tool calls of the model got the same result. */
async function afterCalls(messages: Message[], output: string, isError = false): Promise<Message[]> {
	const message = await answer(messages);
	const results = message.content.flatMap((block): Message[] =>
		block.type === "toolCall"
			? [
					{
						role: "toolResult",
						toolCallId: block.id,
						toolName: block.name,
						content: [{ type: "text", text: output }],
						isError,
						timestamp: 0,
					},
				]
			: [],
	);
	return [...messages, message, ...results];
}

function callsOf(message: AssistantMessage): string[] {
	return message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
}

describe("the repair", () => {
	const asked = [user(DEMO_PROMPTS[0]?.text ?? "")];

	test("thinks and searches first", async () => {
		const message = await answer(asked);
		expect(message.content.map((block) => block.type)).toEqual(["thinking", "text", "toolCall", "toolCall"]);
		expect(message).toMatchObject({ stopReason: "toolUse", provider: "demo", model: "scripted" });
	});

	test("changes nothing outside the scratch project", async () => {
		const message = await answer(await afterCalls(asked, "no matches"));
		expect([callsOf(message), message.stopReason]).toEqual([[], "stop"]);
		expect(textOf(message)).toContain("cannot find the corner shop");
	});

	test("reports that the tests already pass", async () => {
		const looked = await afterCalls(asked, "withTax");
		const message = await answer(await afterCalls(looked, "# pass 4\n# fail 0"));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("pass already")]);
	});

	test("shows the output when the tests cannot run", async () => {
		const looked = await afterCalls(asked, "withTax");
		const message = await answer(await afterCalls(looked, "sh: npm: not found", true));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("npm: not found")]);
	});

	test("reports a failed edit", async () => {
		const ran = await afterCalls(await afterCalls(asked, "withTax"), "2378 !== 2379\n# fail 2", true);
		expect(callsOf(await answer(ran))).toEqual(["edit"]);
		const message = await answer(await afterCalls(ran, "oldText was not found", true));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("oldText was not found")]);
	});

	test("names its missing tools", async () => {
		expect(textOf(await answer(asked, { tools: TOOLS.slice(0, 2) }))).toContain("switched off: bash, edit");
	});

	test("continues after another prompt in between", async () => {
		const looked = await afterCalls(asked, "withTax");
		const aside = [...looked, await answer([user("hm?")]), user("go on")];
		expect(callsOf(await answer(aside))).toEqual(["bash"]);
	});
});

test.each([
	["What does /pop do?", "folds finished work away"],
	["and /context?", "lists every message"],
	["what is a hook", "TypeScript file"],
	["Write me a poem about the sea", "I am a script, not a language model"],
	["", "I am a script"],
])("%j is answered honestly", async (asked, wanted) => {
	const message = await answer([user(asked)]);
	expect([textOf(message), callsOf(message)]).toEqual([expect.stringContaining(wanted), []]);
});

describe("summaries", () => {
	const work =
		'npm test\n2378 !== 2379\nedit {"newText":"return Math.round((netCents * (100 + percent)) / 100);"}\n# fail 0';

	test.each<[string, Message[], Partial<Context>]>([
		["messages and a request after them", [user(work), user('Summarize as "completed work". Be concise.')], {}],
		[
			"one text",
			[user(`<conversation>\n${work}\n</conversation>\n\nWrite the notes.`)],
			{ systemPrompt: "Take notes." },
		],
	])("list the finished work, from %s", async (_name, messages, context) => {
		const summary = textOf(await answer(messages, context));
		expect(summary.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(3);
		expect(summary).toContain("Math.round");
	});

	test("contain only facts from the conversation", async () => {
		const messages = [user("What does /pop do?"), user("Summarize the conversation.")];
		expect(textOf(await answer(messages, {}))).toBe("- The user asked: What does /pop do?");
	});

	test("in the context do not count as prompts", async () => {
		const summary = user("[Summary]\n\n- Ran `npm test`: rounding failed");
		expect(textOf(await answer([user("hello"), summary]))).toContain("I am a script");
	});
});

test("the scripted model streams small chunks that add up to its reply", async () => {
	const model = await registerDemoModel({ pace: 1 });
	const stream = streamSimple(model, { messages: [user("hello")] });
	const types: string[] = [];
	let streamed = "";
	for await (const event of stream) {
		types.push(event.type);
		if (event.type === "text_delta") streamed += event.delta;
	}
	const message = await stream.result();
	expect(streamed).toBe(textOf(message));
	expect(types.length).toBeGreaterThan(40);
	expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual(["start", "text_start", "text_end", "done"]);
	expect(message.usage.output).toBeGreaterThan(50);
});

test("an abort ends the reply and keeps the streamed text", async () => {
	const model = await registerDemoModel({ pace: 1 });
	const abort = new AbortController();
	const stream = streamSimple(model, { messages: [user("hello")] }, { signal: abort.signal });
	let streamed = "";
	for await (const event of stream) {
		if (event.type === "text_delta") streamed += event.delta;
		if (streamed.length > 20) abort.abort();
	}
	const message = await stream.result();
	expect(message).toMatchObject({ stopReason: "aborted", content: [{ type: "text", text: streamed }] });

	abort.abort();
	const never = await streamSimple(model, { messages: [user("hello")] }, { signal: abort.signal }).result();
	expect(never).toMatchObject({ stopReason: "aborted", content: [] });
});
