import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { isApprovalEntry, isMessageEntry } from "../../src/log/entry.js";
import type { Approval } from "../../src/util/approval.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";
import { hook } from "./support.js";

const errorsOf = ({ events }: TestSession) =>
	events.flatMap((event) =>
		event.type === "hook_error" ? [`${event.event}: ${basename(event.file ?? "")}:${event.line}: ${event.error}`] : [],
	);

/** What the log keeps of the gate, for each tool result. */
const gates = ({ session }: TestSession) =>
	session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "toolResult" ? [entry.message.gate] : [],
	);

/** Runs `echo mine` past a gate. */
async function callWith(answer: string, options: Parameters<typeof startSession>[0] = {}) {
	const started = await startSession({
		hooks: { "gate.ts": hook(`pi.on("tool_call", () => (${answer}));`) },
		...options,
	});
	started.provider.reply([toolCall("bash", { command: "echo mine" })], "done");
	await started.session.prompt("go");
	return { ...started, result: started.sent(2).at(-1) ?? "" };
}

describe("a malformed tool_call answer blocks, and names the fields", () => {
	const FIELDS = "block, reason, input, ask or terminate";
	test.each([
		["{ blocked: true }", `unknown field "blocked"; an answer has ${FIELDS}`],
		['{ block: "yes" }', "block must be true or false"],
		["{ block: 1, reason: 2 }", "block must be true or false; reason must be a text"],
		["{ block: null }", "block must be true or false"],
		["{ a: 1, b: 2 }", `unknown fields "a", "b"; an answer has ${FIELDS}`],
		["{ block: false, blok: true }", `unknown field "blok"; an answer has ${FIELDS}`],
		['{ reason: "secret" }', "reason is without block"],
		['"secret"', `the answer must be an object with ${FIELDS}, not a text`],
		["true", `the answer must be an object with ${FIELDS}, not a boolean`],
		["false", `the answer must be an object with ${FIELDS}, not a boolean`],
		["7", `the answer must be an object with ${FIELDS}, not a number`],
		["[]", `the answer must be an object with ${FIELDS}, not a list`],
		['{ input: "secret" }', "input must be an object"],
		['{ ask: " " }', "ask must be a text that is not empty, or { question, choices, isAllowed }"],
		["{ ['x'.repeat(99) + '\\u001b']: 1 }", `unknown field "${"x".repeat(40)}…"; an answer has ${FIELDS}`],
	])("%s", async (answer, problem) => {
		const started = await callWith(answer);
		expect(started.result).toBe(`tool: Blocked: the answer of hook gate is malformed: ${problem}`);
		expect(errorsOf(started)).toEqual([`tool_call: gate.ts:2: ${problem}; the call is blocked`]);
		expect(gates(started)).toEqual([{ blockedBy: "gate" }]);
		expect(started.session.inspector.hookStatuses()).toMatchObject([{ figures: { blocks: 1 } }]);
	});

	test("an answer whose accessor throws", async () => {
		const started = await callWith('{ get block() { throw new Error("no"); } }');
		expect(started.result).toBe("tool: Blocked: hook gate failed: no");
		expect(gates(started)).toEqual([{ blockedBy: "gate" }]);
	});

	test("a block without a reason names the hook", async () => {
		expect((await callWith("{ block: true }")).result).toBe("tool: Blocked by hook gate");
	});

	test.each(["undefined", "null", "{}", "{ block: false }", "{ block: undefined, reason: undefined }"])(
		"%s lets the call run",
		async (answer) => {
			const started = await callWith(answer);
			expect(started.result).toBe("tool: mine");
			expect(errorsOf(started)).toEqual([]);
			expect(gates(started)).toEqual([undefined]);
		},
	);
});

describe("tool_call input", () => {
	test("is chained, runs instead, and both versions are kept", async () => {
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("tool_call", (e) => ({ input: { ...e.input, command: e.input.command + " a" } }));'),
				"b.ts": hook('pi.on("tool_call", (e) => ({ input: { ...e.input } }));'),
				"c.ts": hook('pi.on("tool_call", (e) => ({ input: { command: e.input.command + " c", timeout: "9" } }));'),
				"d.ts": hook(`pi.on("tool_call", (e) => { if (!Object.isFrozen(e.input)) throw new Error("not frozen"); });
					pi.on("tool_result", (e) => ({ content: [...e.content, { type: "text", text: JSON.stringify(e.input) }] }));`),
			},
		});
		started.provider.reply([toolCall("bash", { command: "echo mine" })], "done");
		await started.session.prompt("go");
		expect(started.sent(2).at(-1)).toMatch(/^tool: mine a c\s*\{"command":"echo mine a c","timeout":9\}$/);
		const changed = {
			by: ["a", "c"],
			from: { command: "echo mine" },
			to: { command: "echo mine a c", timeout: 9 },
		};
		expect(gates(started)).toEqual([{ changed }]);
		expect(started.events).toContainEqual({
			type: "tool_input_changed",
			toolCallId: expect.any(String),
			toolName: "bash",
			args: { command: "echo mine a c", timeout: 9 },
			changed,
		});
	});

	test("keeps only the changed arguments", async () => {
		const started = await startSession({
			hooks: { "gate.ts": hook('pi.on("tool_call", (e) => ({ input: { ...e.input, command: "echo new" } }));') },
		});
		started.provider.reply([toolCall("bash", { command: "echo mine", timeout: 9 })], "done");
		await started.session.prompt("go");
		const changed = { by: ["gate"], from: { command: "echo mine" }, to: { command: "echo new" } };
		expect(gates(started)).toEqual([{ changed }]);
	});

	test.each([
		['{ input: { command: ["secret"] } }', /command/],
		['{ input: { cmd: "secret" } }', /command/],
		['{ input: { command: "secret", timeout: 10n } }', /"timeout" is a bigint/],
	])("%s is refused by the schema: the call is blocked and names the field", async (answer, field) => {
		const started = await callWith(answer);
		expect(started.result).toMatch(/^tool: Blocked: the new input of hook gate is invalid: /);
		expect(started.result).toMatch(field);
		expect(started.result).not.toContain("secret");
		expect(errorsOf(started)).toEqual([expect.stringMatching(/^tool_call: .*; the call is blocked$/s)]);
		expect(gates(started)).toEqual([{ blockedBy: "gate" }]);
	});

	test("the first block wins over changes of hooks before it", async () => {
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("tool_call", () => ({ input: { command: "echo a" } }));'),
				"b.ts": hook('pi.on("tool_call", (e) => ({ block: true, reason: "no " + e.input.command }));'),
			},
		});
		started.provider.reply([toolCall("bash", { command: "echo mine" })], "done");
		await started.session.prompt("go");
		expect(started.sent(2).at(-1)).toBe("tool: no echo a");
		expect(gates(started)).toEqual([{ blockedBy: "b" }]);
	});
});

describe("tool_call ask", () => {
	const ASK = '{ ask: "Really?", input: { command: "echo changed" } }';

	test.each([
		[true, "tool: changed"],
		[false, "tool: The user refused this call when hook gate asked: Really?"],
	])("is a yes/no question with the changed call: %s", async (answer, result) => {
		const asked: unknown[] = [];
		const started = await callWith(ASK, {
			ui: {
				confirm: async (title, message, options) => {
					asked.push([title, message, options && "hook" in options && options.hook]);
					return answer;
				},
			},
		});
		expect(started.result).toBe(result);
		expect(asked).toEqual([["Really?", "bash: echo changed", "gate"]]);
		expect(gates(started)).toMatchObject([answer ? { changed: { by: ["gate"] } } : { blockedBy: "gate" }]);
	});

	test("the question contains every argument of the call", async () => {
		const asked: string[] = [];
		const started = await startSession({
			hooks: { "gate.ts": hook(`pi.on("tool_call", () => ({ ask: "Really?" }));`) },
			ui: {
				confirm: async (_, message) => {
					asked.push(message);
					return false;
				},
			},
		});
		started.provider.reply(
			[
				toolCall("write", { path: "a.sh", content: "one\nrm -rf ~" }),
				toolCall("edit", { path: "a.sh", edits: [{ oldText: "a", newText: "b" }] }),
				toolCall("jobs", { action: "list" }),
			],
			"done",
		);
		await started.session.prompt("go");
		expect(asked).toEqual(["write: a.sh\n+ one\n+ rm -rf ~", "edit: a.sh\n- a\n+ b", "jobs:\naction: list"]);
	});

	test("is refused without a person", async () => {
		const started = await callWith(ASK);
		expect(started.result).toBe(
			"tool: Blocked: hook gate asks the user before this call, and nobody can answer: Really?",
		);
	});

	test("an abort while the question is open stops the run without a report", async () => {
		let open = () => {};
		const opened = new Promise<void>((resolve) => {
			open = resolve;
		});
		const started = await startSession({
			hooks: { "gate.ts": hook(`pi.on("tool_call", () => (${ASK}));`) },
			ui: {
				confirm: (_, __, options) =>
					new Promise((resolve) => {
						open();
						options?.signal?.addEventListener("abort", () => resolve(false));
					}),
			},
		});
		started.provider.reply([toolCall("bash", { command: "echo mine" })]);
		const running = started.session.prompt("go");
		await opened;
		await started.session.abort();
		await running;
		expect(errorsOf(started)).toEqual([]);
		expect(gates(started)).toEqual([undefined]);
	});
});

describe("malformed answers of other events", () => {
	test("a stop counts although another field of the answer is wrong", async () => {
		const started = await startSession({
			hooks: { "a.ts": hook('pi.on("session", (e) => e.reason === "before_clear" && { cancel: true, why: 1 });') },
		});
		expect(await started.session.newSession()).toBe(false);
		expect(errorsOf(started)).toEqual([
			'session: a.ts:2: unknown field "why"; an answer has cancel; the rest of the answer counts',
		]);
	});

	test.each([
		["7", "a command returns a text, { prompt, attachments }, { status } or nothing, not a number"],
		['{ text: "secret" }', 'a command returns a text, { prompt, attachments }, { status } or nothing; unknown "text"'],
		[
			"{ status: 7 }",
			"a command returns a text, { prompt, attachments }, { status } or nothing; status must be a text",
		],
	])("a command that returns %s is reported", async (answer, problem) => {
		const started = await startSession({
			hooks: { "a.ts": hook(`pi.command("try", { handler: () => (${answer}) });`) },
		});
		expect(await started.session.prompt("/try")).toEqual({ kind: "command", status: null });
		expect(errorsOf(started)).toEqual([`/try result: a.ts:2: ${problem}; the answer was ignored`]);
	});
});

test.each([
	["7", [], "complete returns a list, not a number"],
	[
		'[{ value: "a" }, { label: "b" }, "c", { value: "d", description: 1 }]',
		["a"],
		"complete returns a list of { value, label?, description? } with texts; 3 of 4 are malformed",
	],
	["undefined", [], null],
])("malformed completions are reported once: %s", async (items, usable, problem) => {
	const started = await startSession({
		hooks: { "a.ts": hook(`pi.command("try", { complete: () => (${items}), handler() {} });`) },
	});
	for (const prefix of ["", "a", "ab"]) {
		const found = await started.session.completeArguments("try", prefix);
		expect(found.map(({ value }) => value)).toEqual(usable);
	}
	expect(errorsOf(started)).toEqual(problem === null ? [] : [`/try completion: a.ts:2: ${problem}`]);
});

test("a resumed session keeps who blocked and changed calls", async () => {
	const dir = tempDir();
	const options = { session: { kind: "new" } as const, cwd: dir };
	const started = await callWith('{ block: true, reason: "no" }', options);
	const path = started.session.sessionFile ?? "";
	await started.session.dispose();
	const { session } = await startSession({
		cwd: dir,
		agentDir: started.agentDir,
		session: { kind: "open", target: path },
	});
	const results = session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "toolResult" ? [entry.message.gate] : [],
	);
	expect(results).toEqual([{ blockedBy: "gate" }]);
});

describe("tool_call ask with choices", () => {
	const GATE = hook(`
		const rules = [];
		pi.on("tool_call", ({ input }) => ({ ask: {
			question: "Run this?",
			choices: [
				{ label: "Yes, for this session", chosen: () => { rules.push("session"); } },
				{ label: "Yes, always", rule: "echo *", check: (rule) => rule === "*" ? "too much" : null, chosen: (rule) => { if (rule === "bad") throw new Error("not saved"); rules.push(rule); } },
			],
			isAllowed: () => rules.some((rule) => input.command.startsWith(rule.replace("*", ""))),
		} }));`);
	type Answer = Awaited<ReturnType<NonNullable<SessionUI["approve"]>>>;

	/** Runs commands past the gate. */
	async function run(commands: readonly string[], answers: Answer[]) {
		const asked: Approval[] = [];
		const started = await startSession({
			hooks: { "gate.ts": GATE },
			ui: {
				approve: async (approval) => {
					asked.push(approval);
					return answers.shift() ?? { allowed: false };
				},
			},
		});
		started.provider.reply(
			commands.map((command) => toolCall("bash", { command })),
			"done",
			"understood",
			"again",
		);
		await started.session.prompt("go");
		const approvals = started.session.entries.flatMap((entry) => {
			if (!isApprovalEntry(entry)) return [];
			const { timestamp: _, toolCallId: __, ...rest } = entry;
			return [rest];
		});
		return { ...started, asked, approvals };
	}

	const KEPT = { type: "approval", question: "Run this?", by: "gate" };

	test("the question has the call, and the answer is kept and allows later calls unasked", async () => {
		const { sent, asked, approvals } = await run(
			["echo one", "echo two"],
			[{ allowed: true, choice: 1, rule: "echo *" }],
		);
		expect(asked).toMatchObject([
			{
				question: "Run this?",
				subject: { kind: "command", head: "bash: ", text: "echo one" },
				choices: [{ label: "Yes, for this session" }, { label: "Yes, always", rule: "echo *" }],
				takesMessage: true,
			},
		]);
		expect(sent(2).slice(-2)).toEqual(["tool: one", "tool: two"]);
		expect(approvals).toEqual([{ ...KEPT, allowed: true, choice: "Yes, always", rule: "echo *" }]);
	});

	test("a choice that fails blocks the call, and is reported", async () => {
		const started = await run(["echo one"], [{ allowed: true, choice: 1, rule: "bad" }]);
		expect(started.sent(2).at(-1)).toBe("tool: Blocked: hook gate failed: not saved");
		expect(started.approvals).toEqual([]);
		expect(errorsOf(started)).toEqual([expect.stringContaining("not saved")]);
	});

	test("the text of a refusal is the result of the tool, and a message of the user after the calls", async () => {
		const { sent, approvals, session } = await run(
			["echo one", "echo two"],
			[
				{ allowed: false, message: "use printf" },
				{ allowed: true, choice: -1 },
			],
		);
		expect(sent(2).slice(-3)).toEqual([
			"tool: The user refused this call and says: use printf",
			"tool: two",
			"user: use printf",
		]);
		expect(approvals).toEqual([
			{ ...KEPT, allowed: false, message: "use printf" },
			{ ...KEPT, allowed: true },
		]);
		// The answers are in no context.
		await session.prompt("go on");
		expect(sent(3).join()).not.toContain("Run this?");
	});

	test.each([
		["{ question: '' }", "an object with a question that is not empty"],
		["{ question: 'q', choice: [] }", "an object with question, choices and isAllowed alone"],
		["{ question: 'q', isAllowed: true }", "an object whose isAllowed is a function"],
		["{ question: 'q', choices: [{ label: 'l' }] }", "an object with at most 6 choices { label, rule, check, chosen }"],
		[
			"{ question: 'q', choices: Array(7).fill({ label: 'l', chosen() {} }) }",
			"an object with at most 6 choices { label, rule, check, chosen }",
		],
	])("a malformed one blocks: %s", async (ask, problem) => {
		const started = await callWith(`{ ask: ${ask} }`);
		expect(started.result).toBe(`tool: Blocked: the answer of hook gate is malformed: ask must be ${problem}`);
	});
});
