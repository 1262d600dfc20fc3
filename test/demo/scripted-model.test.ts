import { type AssistantMessage, type Context, type Message, streamSimple, type Tool, Type } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { DEMO_PROMPTS } from "../../src/demo/script.js";
import { registerDemoModel } from "../../src/demo/scripted-model.js";

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

/** The conversation after the model's tool calls were answered, all with the same text. */
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

describe("the repair reacts to what the tools say", () => {
	const asked = [user(DEMO_PROMPTS[0]?.text ?? "")];

	test("it thinks and looks first", async () => {
		const message = await answer(asked);
		expect(message.content.map((block) => block.type)).toEqual(["thinking", "text", "toolCall", "toolCall"]);
		expect(message).toMatchObject({ stopReason: "toolUse", provider: "demo", model: "scripted" });
	});

	test("in a directory that is not the scratch project it changes nothing", async () => {
		const message = await answer(await afterCalls(asked, "no matches"));
		expect([callsOf(message), message.stopReason]).toEqual([[], "stop"]);
		expect(textOf(message)).toContain("cannot find the corner shop");
	});

	test("when the tests pass already it says so", async () => {
		const looked = await afterCalls(asked, "withTax");
		const message = await answer(await afterCalls(looked, "# pass 4\n# fail 0"));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("pass already")]);
	});

	test("when the tests do not run it shows why", async () => {
		const looked = await afterCalls(asked, "withTax");
		const message = await answer(await afterCalls(looked, "sh: npm: not found", true));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("npm: not found")]);
	});

	test("a refused edit is reported", async () => {
		const ran = await afterCalls(await afterCalls(asked, "withTax"), "2378 !== 2379\n# fail 2", true);
		expect(callsOf(await answer(ran))).toEqual(["edit"]);
		const message = await answer(await afterCalls(ran, "oldText was not found", true));
		expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("oldText was not found")]);
	});

	test("without its tools it names those that are missing", async () => {
		expect(textOf(await answer(asked, { tools: TOOLS.slice(0, 2) }))).toContain("switched off: bash, edit");
	});

	test("an interruption in between can be continued", async () => {
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
	])("hold what was done, from %s", async (_name, messages, context) => {
		const summary = textOf(await answer(messages, context));
		expect(summary.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(3);
		expect(summary).toContain("Math.round");
	});

	test("claim nothing that the conversation does not hold", async () => {
		const messages = [user("What does /pop do?"), user("Summarize the conversation.")];
		expect(textOf(await answer(messages, {}))).toBe("- The user asked: What does /pop do?");
	});

	test("in the context do not count as the user's words", async () => {
		const summary = user("[Summary]\n\n- Ran `npm test`: rounding failed");
		expect(textOf(await answer([user("hello"), summary]))).toContain("I am a script");
	});
});

test("it speaks in small chunks that add up, one event after the other", async () => {
	const model = await registerDemoModel({ pace: 1 });
	const stream = streamSimple(model, { messages: [user("hello")] });
	const types: string[] = [];
	let spoken = "";
	for await (const event of stream) {
		types.push(event.type);
		if (event.type === "text_delta") spoken += event.delta;
	}
	const message = await stream.result();
	expect(spoken).toBe(textOf(message));
	expect(types.length).toBeGreaterThan(40);
	expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual(["start", "text_start", "text_end", "done"]);
	expect(message.usage.output).toBeGreaterThan(50);
});

test("an abort ends the reply and keeps what was said", async () => {
	const model = await registerDemoModel({ pace: 1 });
	const abort = new AbortController();
	const stream = streamSimple(model, { messages: [user("hello")] }, { signal: abort.signal });
	let spoken = "";
	for await (const event of stream) {
		if (event.type === "text_delta") spoken += event.delta;
		if (spoken.length > 20) abort.abort();
	}
	const message = await stream.result();
	expect(message).toMatchObject({ stopReason: "aborted", content: [{ type: "text", text: spoken }] });

	abort.abort();
	const never = await streamSimple(model, { messages: [user("hello")] }, { signal: abort.signal }).result();
	expect(never).toMatchObject({ stopReason: "aborted", content: [] });
});
