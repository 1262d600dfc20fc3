import { expect, test } from "vitest";
import { PAUSE_MS } from "../../../src/util/clock.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startPlain } from "./start-plain.js";

const GATE = `export default (pi) => {
	const rules = [];
	pi.on("tool_call", () => ({ ask: { question: "Run it?", choices: [{ label: "Yes, always", rule: "echo *", chosen: (rule) => { rules.push(rule); } }] } }));
	pi.command("rules", { handler: () => ({ status: "rules: " + rules.join() }) });
};`;

test.each([
	["1", "tool: ran", "rules: "],
	["y", "tool: ran", "rules: "],
	["yes, once", "tool: ran", "rules: "],
	["2", "tool: ran", "rules: echo *"],
	["3", "tool: The user refused this call when hook gate asked: Run it?", "rules: "],
	["", "tool: The user refused this call when hook gate asked: Run it?", "rules: "],
	["yes please", "tool: The user refused this call and says: yes please", "rules: "],
])("the line %j", async (line, result, rules) => {
	const plain = await startPlain({ hooks: { "gate.ts": GATE } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over", "over");
	await plain.until("> ");
	plain.enter("go");
	await plain.until("other text is no and tells the model: ");
	expect(plain.text()).toContain(
		"gate asks: Run it?\nbash: echo r''an\n  1. Yes, once\n  2. Yes, always: echo *\n  3. No\n",
	);
	plain.enter(line);
	await plain.until("over");
	const sent = plain.provider.requests.at(-1)?.messages.map(({ role, text }) => `${role}: ${text}`) ?? [];
	expect(sent).toContain(result);
	plain.enter("/rules");
	await plain.until(rules);
});

test("a number without an answer asks again", async () => {
	const plain = await startPlain({ hooks: { "gate.ts": GATE } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over");
	await plain.until("> ");
	plain.enter("go");
	await plain.until("tells the model: ");
	plain.enter("7");
	await plain.until("Type a number from 1 to 3");
	plain.enter("n");
	await plain.until("over");
});

test("no is no, also if a hook labels another answer so", async () => {
	const gate = `export default (pi) => pi.on("tool_call", () => ({ ask: { question: "Run it?", choices: [{ label: "no", chosen() {} }] } }));`;
	const plain = await startPlain({ hooks: { "gate.ts": gate } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over");
	await plain.until("> ");
	plain.enter("go");
	await plain.until("tells the model: ");
	plain.enter("no");
	await plain.until("over");
	const results = plain.provider.requests.at(-1)?.messages.map(({ text }) => text);
	expect(results).toContain("The user refused this call when hook gate asked: Run it?");
});

const MARK = "other text is no and tells the model: ";
const TOO_SOON = "Answered too soon to have been read: type it again\n";

/** A session with a question about a call. */
async function openQuestion() {
	const plain = await startPlain({ hooks: { "gate.ts": GATE } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over");
	await plain.until("> ");
	plain.enter("go");
	const results = () => plain.provider.requests.at(-1)?.messages.map(({ role, text }) => `${role}: ${text}`) ?? [];
	return { ...plain, results };
}

test.each(["y", "yes", "1", "2"])(
	"%j counts only if it was begun after a pause for reading the question",
	async (line) => {
		const { until, enterAtOnce, pass, results } = await openQuestion();
		await until(MARK);
		pass(PAUSE_MS - 1);
		enterAtOnce(line);
		await until(`${TOO_SOON}number, empty is no, ${MARK}`);
		pass(PAUSE_MS - 1);
		enterAtOnce(line);
		await until(TOO_SOON);
		pass(PAUSE_MS);
		enterAtOnce(line);
		await until("over");
		expect(results()).toContain("tool: ran");
	},
);

test.each(["n", "", "3", "use ls"])("%j, which runs nothing, counts at once", async (line) => {
	const { until, enterAtOnce, results } = await openQuestion();
	await until(MARK);
	enterAtOnce(line);
	await until("over");
	expect(results().join("\n")).toContain("The user refused this call");
});

test("the line that is being typed when a question opens becomes the draft", async () => {
	const hook = `export default (pi) => pi.on("tool_call", async (_, ctx) =>
		(await ctx.ui.confirm("Sure?", "It goes away.")) ? undefined : { block: "no" });`;
	const plain = await startPlain({ hooks: { "sure.ts": hook } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over");
	await plain.until("> ");
	plain.enter("go");
	plain.type("y");
	await plain.until("kept for the next prompt: y\n");
	await plain.until("yes or no");
	plain.enter("");
	await plain.until("Press Enter to send: y");
});

test("lines pasted into a question do not answer the next one", async () => {
	const hook = `export default (pi) => pi.command("twice", { handler: async ({ ui }) =>
		({ status: JSON.stringify([await ui.confirm("First?", "One."), await ui.confirm("Second?", "Two.")]) }) });`;
	const { until, enter, enterAtOnce } = await startPlain({ hooks: { "twice.ts": hook } });
	await until("> ");
	enter("/twice");
	await until("yes or no, empty is no: ");
	enter("n", "y");
	await until("kept for the next prompt: y\n");
	await until("Second?");
	await until("yes or no, empty is no: ");
	enterAtOnce("y");
	await until(TOO_SOON);
	enter("n");
	await until("[false,false]");
});

test.each([
	["y", "ls"],
	["1", ""],
])("%j, pasted together with %j, which refuses, allows nothing", async (...pasted) => {
	const { until, enter, results } = await openQuestion();
	await until(MARK);
	enter(...pasted);
	await until("Pasted together with other text: type it again\n");
	await until("over");
	expect(results().join("\n")).toContain("The user refused this call");
});

test("several answers that allow, pasted together, leave the question open", async () => {
	const { until, enter, results } = await openQuestion();
	await until(MARK);
	enter("y", "2", "y");
	await until(`Pasted together with other text: type it again\nnumber, empty is no, ${MARK}`);
	enter("n");
	await until("over");
	expect(results().join("\n")).toContain("The user refused this call");
});

test("the end of a line that was begun before the question allows nothing", async () => {
	const plain = await startPlain({ hooks: { "gate.ts": GATE } });
	plain.provider.reply([toolCall("bash", { command: "echo r''an" })], "over");
	await plain.until("> ");
	plain.enter("go");
	plain.type("step ");
	await plain.until("kept for the next prompt: step");
	await plain.until(MARK);
	plain.enter("1");
	await plain.until("You were typing when pi asked: type it again");
	plain.enter("1");
	await plain.until("over");
	expect(JSON.stringify(plain.provider.requests.at(-1)?.messages)).toContain("ran");
});

test("after an answer that is none, one that allows counts only after a pause", async () => {
	const { until, enter, enterAtOnce, pass, results } = await openQuestion();
	await until(MARK);
	enter("7");
	await until("Type a number from 1 to 3");
	pass(PAUSE_MS - 1);
	enterAtOnce("y");
	await until(TOO_SOON);
	enter("y");
	await until("over");
	expect(results()).toContain("tool: ran");
});
