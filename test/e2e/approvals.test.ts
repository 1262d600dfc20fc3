import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { agentDirFor, openPi, read, submit } from "./support.js";

const GATE = `export default (pi) => {
	const rules = [];
	pi.on("tool_call", ({ input }) => ({ ask: {
		question: "Run this command?",
		choices: [{ label: "Yes, always", rule: input.command.split(" ")[0] + " *", chosen: (rule) => { rules.push(rule); } }],
		isAllowed: () => rules.some((rule) => input.command.startsWith(rule.slice(0, -1))),
	} }));
};`;

async function start(columns = 80) {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "permissions.ts": GATE } });
	const pi = await openPi({ agentDir, columns, rows: 30 });
	await pi.waitForText("0%");
	/** The last message of the latest request. */
	const sent = () => provider.requests.at(-1)?.messages.map(({ role, text }) => `${role}: ${text}`) ?? [];
	return { provider, agentDir, pi, sent };
}

test("a letter answers after a pause, arrows choose a rule, and the transcript keeps both after a resume", async () => {
	const { provider, agentDir, pi } = await start();
	provider.reply(
		[toolCall("bash", { command: "echo o''ne" }), toolCall("bash", { command: "printf tw''o" })],
		[toolCall("bash", { command: "printf thr''ee" })],
		"all done",
	);
	await submit(pi, "go");
	await pi.waitForText("permissions asks: Run this command?");
	await pi.waitForText("bash: echo o''ne");
	await read();
	pi.type("y");
	await pi.waitForText("bash: printf tw''o");
	await read();
	await pi.press("down", "down");
	await pi.waitForText("→ 1  Yes, always: printf *");
	await read();
	await pi.press("enter");
	await pi.waitForText("enter accept the rule");
	await read();
	await pi.press("enter");
	await pi.waitForText("all done");
	await pi.waitForText("permissions asked: Run this command? → yes, always: printf *");
	await submit(pi, "/quit");
	expect(await pi.exited).toMatchObject({ code: 0 });
	const again = await openPi({ agentDir, args: ["-c"], rows: 40, cwd: pi.cwd });
	await again.waitForText("permissions asked: Run this command? → yes, always: printf *");
	await again.waitForText("all done");
});

test("a typed sentence and a paste run nothing, and the model gets the text", async () => {
	const { provider, pi, sent } = await start();
	provider.reply([toolCall("bash", { command: "touch ran-anyway" })], "as you wish");
	await submit(pi, "go");
	await pi.waitForText("→ n  No");
	await read();
	for (const letter of "yes please run it no") {
		pi.type(letter);
		await setTimeout(20);
	}
	await pi.waitForText("> yes please run it no");
	pi.type("\x1b[200~y\r\ny\r\n\x1b[201~");
	await pi.waitForText("> yes please run it noy y");
	await read();
	await pi.press("enter");
	await pi.waitForText("as you wish");
	expect(sent().slice(-2)).toEqual([
		"tool: The user refused this call and says: yes please run it noy y",
		"user: yes please run it noy y",
	]);
});

test("a long command is read to its end at 40 columns before it can be allowed", async () => {
	const { provider, pi } = await start(40);
	const command = `echo ${Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ")} en''d`;
	provider.reply([toolCall("bash", { command })], "fine");
	await submit(pi, "go");
	await pi.waitForText("word0");
	await pi.waitForText(/lines 1–\d+ of \d+/);
	expect(await pi.screen()).not.toContain("word119");
	for (let page = 0; page < 5; page++) {
		await read();
		pi.type("y");
	}
	await pi.waitForText("fine");
});
