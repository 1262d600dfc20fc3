import { expect, test } from "vitest";
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
