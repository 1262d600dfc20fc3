import { describe, expect, test } from "vitest";
import { isOutputSchemaEntry } from "../../src/log/entry.js";
import { runJson } from "../../src/modes/json.js";
import type { ModePrompts } from "../../src/modes/mode.js";
import { runPrint } from "../../src/modes/print.js";
import { httpError, type Reply, text, toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";

const CITY = {
	type: "object",
	properties: { city: { type: "string" }, people: { type: "integer" } },
	required: ["city", "people"],
	additionalProperties: false,
};
const PARIS = { city: "Paris", people: 2_100_000 };
const PARIS_LINE = `${JSON.stringify(PARIS)}\n`;
const FORMAT = { modelOptions: { compat: { supportsJsonSchema: true } } };

async function start(options: TestSessionOptions = {}) {
	const pi = await startSession({ session: { kind: "new" }, ...options });
	const io = recordIO();
	const print = (prompts: Partial<ModePrompts> & { texts?: string[] } = {}) => {
		const { texts: [first = "go", ...rest] = [], ...more } = prompts;
		return runPrint(pi.session, { first: { text: first, images: [] }, rest, outputSchema: CITY, ...more }, io);
	};
	const entries = () => Array.from({ length: pi.session.log.length }, (_, index) => pi.session.log.at(index));
	const schemas = () =>
		entries()
			.filter(isOutputSchemaEntry)
			.map(({ schema, tool }) => ({ schema, tool }));
	const toolsOf = (request: number) => {
		const { tools = [] } = pi.provider.requests[request - 1]?.body ?? {};
		return (tools as { function: { name: string } }[]).map((tool) => tool.function.name);
	};
	return { ...pi, io, print, entries, schemas, toolsOf };
}

describe("a model that calls the tool", () => {
	test("reads files first, then answers; stdout is the JSON alone", async () => {
		const { provider, print, io, toolsOf, schemas, session } = await start();
		provider.reply([text("Let me look."), toolCall("ls", {})], [toolCall("answer", PARIS)]);
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		expect(provider.requests).toHaveLength(2);
		expect(toolsOf(1).at(-1)).toBe("answer");
		expect(provider.requests[0]?.messages[0]?.text).toContain("answer");
		expect(schemas()).toEqual([{ schema: CITY, tool: "answer" }]);
		expect(session.context.preamble.isChanged).toBe(false);
	});

	test("gets a root with properties but no type as an object", async () => {
		const { provider, print, io } = await start();
		provider.reply([toolCall("answer", PARIS)]);
		const { type: _, ...untyped } = CITY;
		expect(await print({ outputSchema: untyped })).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		const tools = provider.requests[0]?.body.tools as { function: { name: string; parameters: object } }[];
		expect(tools.find((tool) => tool.function.name === "answer")?.function.parameters).toMatchObject(CITY);
	});

	test("that gives a wrapped answer without its wrapper learns where it belongs", async () => {
		const { provider, print, io, sent } = await start();
		provider.reply([toolCall("answer", { city: "Bern", more: 1 })], [toolCall("answer", { answer: 3 })]);
		expect(await print({ outputSchema: { description: "anything" } })).toBe(0);
		expect(io.stdout()).toBe("3\n");
		expect(sent(2).at(-1)).toContain('/: give an object with the answer as its only property, "answer"');
	});

	test("whose call is wrong gets the errors by path as its result, and mends it", async () => {
		const { provider, print, io, sent } = await start();
		provider.reply(
			[toolCall("answer", { city: "Paris", people: "many", country: "France" })],
			[toolCall("answer", PARIS)],
		);
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		expect(sent(2).at(-1)).toBe(
			"tool: The answer does not match its schema:\n/country: is not allowed\n/people: must be integer",
		);
	});

	test("that replies in words gets a reminder to call it", async () => {
		const { provider, print, io, sent } = await start();
		provider.reply("Paris has 2 million.", [toolCall("answer", PARIS)]);
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		expect(sent(2).at(-1)).toContain("/: the tool answer was not called\nCall the tool answer with the answer.");
	});

	test("that fails three times ends the run with exit code 1, the errors on stderr and nothing on stdout", async () => {
		const { provider, print, io } = await start();
		provider.reply("Paris.", [toolCall("answer", {})], [toolCall("answer", { city: 1, people: 1.5 })]);
		expect(await print()).toBe(1);
		expect(io.stdout()).toBe("");
		expect(io.stderr()).toContain("No answer in 3 tries: /city: must be string · /people: must be integer\n");
		expect(provider.requests).toHaveLength(3);
	});

	test("ends the run with a valid call, even next to another one", async () => {
		const { provider, print, io } = await start();
		provider.reply([toolCall("ls", {}), toolCall("answer", PARIS)]);
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
	});

	test("answers with a list as the property of an object", async () => {
		const { provider, print, io, sent } = await start();
		provider.reply([toolCall("answer", { answer: ["a", 1] })], [toolCall("answer", { answer: ["a", "b"] })]);
		expect(await print({ outputSchema: { type: "array", items: { type: "string" } } })).toBe(0);
		expect(io.stdout()).toBe('["a","b"]\n');
		expect(sent(2).at(-1)).toContain("/1: must be string");
	});

	test("may have another tool of that name", async () => {
		const { provider, print, io, toolsOf } = await start({
			hooks: {
				"answer.ts": `export default (pi) => pi.tool({ name: "answer", description: "Other", parameters: { type: "object", properties: {} }, run: () => ({ content: [] }) });`,
			},
		});
		provider.reply([toolCall("answer_2", PARIS)]);
		expect(await print()).toBe(0);
		expect(toolsOf(1)).toEqual(expect.arrayContaining(["answer", "answer_2"]));
		expect(io.stdout()).toBe(PARIS_LINE);
	});
});

describe("a provider that is asked for the form", () => {
	test("gets it with each request, and the text of the reply is the answer", async () => {
		const { provider, print, io, toolsOf, schemas } = await start(FORMAT);
		provider.reply([toolCall("ls", {})], JSON.stringify(PARIS, null, 2));
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		for (const { body } of provider.requests) {
			const json_schema = { name: "answer", schema: CITY, strict: true };
			expect(body.response_format).toEqual({ type: "json_schema", json_schema });
		}
		expect(toolsOf(1)).not.toContain("answer");
		expect(schemas()).toEqual([{ schema: CITY, tool: undefined }]);
	});

	test("gets the errors, three times at most", async () => {
		const { provider, print, io, sent } = await start(FORMAT);
		provider.reply("Paris", '{"city":"Paris"}', '{"city":"Paris","people":"2"}');
		expect(await print()).toBe(1);
		expect(sent(2).at(-1)).toContain("/: is no JSON\nAnswer again, with nothing but the JSON.");
		expect(sent(3).at(-1)).toContain("/people: is missing");
		expect(io.stderr()).toContain("No answer in 3 tries: /people: must be integer\n");
		expect(io.stdout()).toBe("");
	});

	test("that refuses it is asked once: the error is that of the request", async () => {
		const { provider, print, io } = await start(FORMAT);
		provider.reply(httpError(400, {}, "response_format is not supported"));
		expect(await print()).toBe(1);
		expect(io.stderr()).toContain("response_format is not supported");
		expect(provider.requests).toHaveLength(1);
	});

	test.each(["openai-responses", "anthropic-messages", "google-generative-ai"] as const)("%s", async (api) => {
		const names = {
			"openai-responses": "loopback-responses",
			"anthropic-messages": "loopback-anthropic",
			"google-generative-ai": "loopback-google",
		};
		const { provider, print, io } = await start({
			modelOptions: { apis: [api], compat: { supportsJsonSchema: true } },
			model: `${names[api]}/scripted`,
		});
		provider.reply(JSON.stringify(PARIS));
		expect(await print()).toBe(0);
		expect(io.stdout()).toBe(PARIS_LINE);
		const { text, output_config, generationConfig } = provider.requests[0]?.body ?? {};
		expect({ text, output_config, generationConfig }).toMatchObject(
			{
				"openai-responses": { text: { format: { type: "json_schema", name: "answer", schema: CITY, strict: true } } },
				"anthropic-messages": { output_config: { format: { type: "json_schema", schema: CITY } } },
				"google-generative-ai": {
					generationConfig: { responseMimeType: "application/json", responseJsonSchema: CITY },
				},
			}[api],
		);
	});
});

test("a reply that was cut off is a try", async () => {
	const { provider, print, io, sent } = await start(FORMAT);
	const cut: Reply = { content: [text('{"city":"Par')], stopReason: "length" };
	provider.reply(cut, JSON.stringify(PARIS));
	expect(await print()).toBe(0);
	expect(io.stdout()).toBe(PARIS_LINE);
	expect(sent(2).at(-1)).toContain("/: was cut off at the model's output limit");
});

test("of several prompts, the last one is answered with the schema", async () => {
	const { provider, print, io, toolsOf } = await start();
	provider.reply("I looked.", [toolCall("answer", PARIS)]);
	expect(await print({ texts: ["look around", "which city?"] })).toBe(0);
	expect(io.stdout()).toBe(PARIS_LINE);
	expect([toolsOf(1).includes("answer"), toolsOf(2).includes("answer")]).toEqual([false, true]);
});

test("a prompt without a schema is sent without tool and format", async () => {
	const { provider, print, toolsOf, schemas, session } = await start();
	provider.reply([toolCall("answer", PARIS)], "Hello.", "Again.");
	expect(await print()).toBe(0);
	await session.prompt("hi");
	await session.prompt("and again");
	expect([toolsOf(2).includes("answer"), toolsOf(3).includes("answer")]).toEqual([false, false]);
	expect(schemas()).toEqual([{ schema: CITY, tool: "answer" }, { schema: null }]);
});

describe("limits", () => {
	test("that the answer reaches have stopped nothing", async () => {
		const cases: [TestSessionOptions, Reply][] = [
			[{}, [toolCall("answer", PARIS)]],
			[FORMAT, JSON.stringify(PARIS)],
		];
		for (const [options, reply] of cases) {
			const { provider, print, io } = await start(options);
			provider.reply(reply);
			expect(await print({ limits: { turns: 1 } })).toBe(0);
			expect(io.stdout()).toBe(PARIS_LINE);
		}
	});

	test("also end what would be mended", async () => {
		const { provider, print, io } = await start();
		provider.reply("Paris.");
		expect(await print({ limits: { turns: 1 } })).toBe(3);
		expect(io.stdout()).toBe("");
		expect(io.stderr()).toContain("Stopped after 1 turn (--max-turns)");
	});
});

test("an abort is an abort", async () => {
	const { provider, print, session, io } = await start();
	provider.reply(async () => {
		await session.abort();
		return "late";
	});
	expect(await print()).toBe(130);
	expect(io.stdout()).toBe("");
});

test("a compaction during the run does not end the schema of a run", async () => {
	const { provider, print, io, toolsOf, entries, session } = await start({
		modelOptions: { contextWindow: 40_000 },
		userSettings: { compaction: { keepRecentTokens: 10 } },
	});
	provider.on(({ body, messages }) => {
		const isOfRun = JSON.stringify(body.tools ?? []).includes('"answer"');
		if (!isOfRun) return "A summary.";
		const isCompacted = messages.some(({ role, text }) => role === "user" && text.includes("<summary>"));
		return isCompacted
			? [toolCall("answer", PARIS)]
			: { content: [toolCall("ls", {})], usage: { input: 30_000, output: 5 } };
	});
	await session.prompt("word ".repeat(10_000));
	expect(await print()).toBe(0);
	expect(io.stdout()).toBe(PARIS_LINE);
	expect(entries().some((entry) => entry?.type === "compaction")).toBe(true);
	expect(toolsOf(provider.requests.length)).toContain("answer");
});

test("a command gives no answer", async () => {
	const { print, io } = await start();
	expect(await print({ texts: ["/name x"] })).toBe(1);
	expect(io.stdout()).toBe("");
	expect(io.stderr()).toContain("The last prompt started no run, so nothing answers with the schema");
});

test("JSON mode has the answer in the last event", async () => {
	const { session, provider } = await start();
	const io = recordIO();
	provider.reply([toolCall("answer", PARIS)]);
	const prompts = { first: { text: "go", images: [] }, rest: [], outputSchema: CITY };
	expect(await runJson(session, prompts, io)).toBe(0);
	const events = io
		.stdout()
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(events.findLast(({ type }) => type === "agent_end")).toMatchObject({ structured: PARIS });
});

describe("session.prompt", () => {
	test("returns the answer, which may be null", async () => {
		const { session, provider } = await start();
		provider.reply([toolCall("answer", { answer: null })]);
		const result = await session.prompt("go", { outputSchema: { type: ["string", "null"] } });
		expect(result).toMatchObject({ kind: "run", outcome: { structured: null, stopped: null } });
	});

	test("refuses a schema that is none, before any request", async () => {
		const { session, provider } = await start();
		const refused = session.prompt("go", { outputSchema: { type: "strin" } });
		await expect(refused).rejects.toMatchObject({
			code: "bad_arguments",
			message: expect.stringMatching(/^outputSchema is no JSON Schema: \/type: /),
		});
		expect(provider.requests).toHaveLength(0);
	});

	test("refuses to join a run", async () => {
		const { session, provider } = await start();
		let joined: unknown;
		provider.reply(async () => {
			joined = await session.prompt("which?", { outputSchema: CITY }).catch((error: unknown) => error);
			return "Done.";
		});
		await session.prompt("go");
		expect(joined).toMatchObject({ code: "session_busy" });
	});

	test("refuses a model that can neither call tools nor be asked", async () => {
		const { session, provider } = await start();
		const { model } = session;
		if (!model) throw new Error("no model");
		await session.setModel({ ...model, id: "mute", tools: false } as typeof model);
		await expect(session.prompt("go", { outputSchema: CITY })).rejects.toMatchObject({ code: "bad_arguments" });
		expect(provider.requests).toHaveLength(0);
	});
});
