import { expect, test } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { ASKING, agentDirWith } from "./servers.js";

/** Answers of the user, in order: the label of an option, labels, a text, or null for Escape. */
type Answers = (string | string[] | null)[];

interface Asked {
	pi: TestSession;
	/** The title of each dialog. */
	titles: string[];
}

function userWith(answers: Answers, titles: string[]): Partial<SessionUI> {
	const next = (title: string) => {
		titles.push(title);
		return answers.shift() ?? null;
	};
	const labelOf = (option: unknown) =>
		typeof option === "object" && option !== null && "label" in option ? option : { label: option, value: option };
	const chosenValue = (option: unknown): unknown => {
		const found = labelOf(option);
		return "value" in found ? found.value : found;
	};
	return {
		select: async (title: string, options: readonly unknown[]) => {
			const answer = next(title);
			const found = options.find((option) => labelOf(option).label === answer);
			return found === undefined ? null : (chosenValue(found) as never);
		},
		selectMany: async (title, options) => {
			const answer = next(title);
			return Array.isArray(answer)
				? options.filter((option) => answer.some((label) => label === labelOf(option).label)).map(chosenValue)
				: null;
		},
		input: async (title, _placeholder, dialog) => {
			const answer = next(title);
			return answer === "(default)" ? String(dialog?.initial) : typeof answer === "string" ? answer : null;
		},
	};
}

/** Calls a tool of the server. @returns what the server received, and the dialogs */
async function ask(
	tool: string,
	args: Record<string, unknown>,
	answers: Answers | null,
): Promise<Asked & { result: string }> {
	const titles: string[] = [];
	const pi = await startSession({
		agentDir: agentDirWith({ asking: { ...ASKING, timeoutMs: 5000 } }),
		...(answers ? { ui: userWith(answers, titles) } : {}),
	});
	await pi.session.prompt("/mcp");
	pi.provider.reply([toolCall(`asking_${tool}`, args)], "done");
	await pi.session.prompt("go");
	return { pi, titles, result: pi.provider.requests.at(-1)?.messages.at(-1)?.text ?? "" };
}

/** A form with one field. */
function field(schema: object, required = false): Record<string, unknown> {
	const requestedSchema = { type: "object", properties: { it: schema }, ...(required ? { required: ["it"] } : {}) };
	return { message: "Which?", schema: requestedSchema };
}

test.each<[string, object, Answers[number], unknown]>([
	["a text", { type: "string" }, "hello", "hello"],
	["a default", { type: "string", default: "John" }, "(default)", "John"],
	["an integer", { type: "integer", default: 30 }, "(default)", 30],
	["a number", { type: "number" }, "95.5", 95.5],
	["yes", { type: "boolean" }, "Yes", true],
	["no", { type: "boolean", default: true }, "No", false],
	["a value", { type: "string", enum: ["a", "b"] }, "b", "b"],
	["a named value", { type: "string", enum: ["a", "b"], enumNames: ["First", "Second"] }, "Second", "b"],
	["a titled value", { type: "string", oneOf: [{ const: "a", title: "First" }] }, "First", "a"],
	["values", { type: "array", items: { type: "string", enum: ["a", "b", "c"] } }, ["a", "c"], ["a", "c"]],
	["titled values", { type: "array", items: { anyOf: [{ const: "a", title: "First" }] } }, ["First"], ["a"]],
	["nothing", { type: "string" }, "", undefined],
	["no choice", { type: "boolean" }, "(no answer)", undefined],
])("a server receives %s that the user enters", async (_, schema, answer, value) => {
	const { titles, result } = await ask("form", field(schema), ["Answer", answer]);
	expect(JSON.parse(result)).toEqual({ action: "accept", content: value === undefined ? {} : { it: value } });
	expect(titles).toEqual(["MCP server asking asks: Which?\n\nFields: it", "MCP server asking: it (optional)"]);
});

test.each<[object, Answers[number], Answers[number], string]>([
	[{ type: "string" }, "", "x", "A value is required."],
	[{ type: "string", minLength: 3 }, "ab", "abc", "Enter at least 3 characters."],
	[{ type: "string", maxLength: 2 }, "👍👍👍", "👍👍", "Enter at most 2 characters."],
	[{ type: "string", format: "email" }, "me", "me@example.com", "Enter an email address, such as me@example.com."],
	[{ type: "string", format: "uri" }, "me", "https://a.b", "Enter an address, such as https://example.com."],
	[{ type: "string", format: "date" }, "2026-02-31", "2026-02-28", "Enter a date, such as 2026-03-31."],
	[
		{ type: "string", format: "date-time" },
		"2026-02-28",
		"2026-02-28T10:00:00Z",
		"Enter a date and time, such as 2026-03-31T12:00:00Z.",
	],
	[{ type: "integer" }, "1.5", "2", "Enter a number without decimals."],
	[{ type: "number" }, "0x10", "16", "Enter a number."],
	[{ type: "number", minimum: 1 }, "0", "1", "The minimum is 1."],
	[{ type: "number", maximum: 1 }, "2", "1", "The maximum is 1."],
	[
		{ type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 2 },
		["a"],
		["a", "b"],
		"Choose at least 2.",
	],
])("an answer that %j does not allow is asked for again", async (schema, wrong, right, problem) => {
	const { titles, result } = await ask("form", field(schema, true), ["Answer", wrong, right]);
	expect(titles.at(-1)).toBe(`MCP server asking: it\n${problem}`);
	expect(JSON.parse(result).action).toBe("accept");
});

test("a form with several fields is shown before it is sent, and can still be declined", async () => {
	const properties = { name: { type: "string", title: "Your name" }, age: { type: "integer" } };
	const args = { message: "Who are you?", schema: { type: "object", properties, required: ["name"] } };
	const sent = await ask("form", args, ["Answer", "Ada", "", "Send"]);
	expect(sent.titles.at(-1)).toBe("Send these answers to the MCP server asking?\n\nYour name: Ada\nage: (empty)");
	expect(JSON.parse(sent.result)).toEqual({ action: "accept", content: { name: "Ada" } });
	const declined = await ask("form", args, ["Answer", "Ada", "", "Decline"]);
	expect(JSON.parse(declined.result)).toEqual({ action: "decline" });
});

test.each<[Answers, string]>([
	[["Decline"], "decline"],
	[[null], "cancel"],
	[["Answer", null], "cancel"],
])("the answers %j are sent as %s", async (answers, action) => {
	expect(JSON.parse((await ask("form", field({ type: "string" }), answers)).result)).toEqual({ action });
});

test("what a server asks cannot draw on the screen", async () => {
	const { titles } = await ask("form", { ...field({ type: "string" }), message: "a\u001b[2Jb\u202ec" }, ["Decline"]);
	expect(titles[0]).toBe("MCP server asking asks: ab‹U+202E›c\n\nFields: it");
});

test("an address is shown completely, and the user decides", async () => {
	const url = `https://example.com/${"long/".repeat(200)}`;
	const { titles, result } = await ask("page", { url }, ["Continue"]);
	expect(titles).toEqual([
		`MCP server asking asks: Log in first\n\nIt wants you to open this page on example.com in a browser, which pi does not do for you:\n${url}`,
	]);
	expect(JSON.parse(result)).toEqual({ action: "accept" });
	expect(JSON.parse((await ask("page", { url }, ["Decline"])).result)).toEqual({ action: "decline" });
	expect(JSON.parse((await ask("page", { url: "file:///etc/passwd" }, ["Continue"])).result)).toEqual({
		action: "decline",
	});
});

test("a call that is refused until the user opens a page asks for it, and the model reads the result", async () => {
	const { titles, result } = await ask("late", {}, ["Continue"]);
	expect(titles[0]).toContain("https://example.com/a?b=c");
	expect(result).toContain("repeat the call when they are done");
});

test("questions are announced where somebody can answer, and declined at once where nobody can", async () => {
	expect((await ask("capabilities", {}, [])).result).toBe('{"form":{},"url":{}}');
	expect((await ask("capabilities", {}, null)).result).toBe("null");
	expect(JSON.parse((await ask("form", field({ type: "string" }), null)).result)).toEqual({ action: "decline" });
});

test("a user who cannot type is asked about pages only, and a form is declined without a dialog", async () => {
	const titles: string[] = [];
	const user = { ...userWith(["Continue"], titles), canType: false };
	const pi = await startSession({ agentDir: agentDirWith({ asking: { ...ASKING, timeoutMs: 5000 } }), ui: user });
	await pi.session.prompt("/mcp");
	const calls = [
		toolCall("asking_capabilities", {}),
		toolCall("asking_form", field({ type: "boolean" })),
		toolCall("asking_page", { url: "https://example.com/" }),
	];
	const results: string[] = [];
	for (const call of calls) {
		pi.provider.reply([call], "done");
		await pi.session.prompt("go");
		results.push(pi.provider.requests.at(-1)?.messages.at(-1)?.text ?? "");
	}
	expect(results[0]).toBe('{"url":{}}');
	expect(results[1]).not.toContain("accept");
	expect(results[2]).toBe('{"action":"accept"}');
	expect(titles).toHaveLength(1);
});

test("aborting the run closes the dialog, and its call ends", async () => {
	let open = (_signal: AbortSignal | undefined) => {};
	const opened = new Promise<AbortSignal | undefined>((resolve) => {
		open = resolve;
	});
	const pi = await startSession({
		agentDir: agentDirWith({ asking: { ...ASKING, timeoutMs: 5000 } }),
		ui: {
			select: (_title: string, _options: readonly unknown[], dialog?: { signal?: AbortSignal }) => {
				open(dialog?.signal);
				return new Promise<null>((resolve) => dialog?.signal?.addEventListener("abort", () => resolve(null)));
			},
		},
	});
	await pi.session.prompt("/mcp");
	pi.provider.reply([toolCall("asking_form", field({ type: "string" }))], "done");
	const run = pi.session.prompt("go");
	const signal = await opened;
	expect(signal?.aborted).toBe(false);
	await pi.session.abort();
	await run;
	expect(signal?.aborted).toBe(true);
});
