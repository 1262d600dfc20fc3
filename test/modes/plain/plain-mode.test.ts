import { expect, test } from "vitest";
import { httpError, text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { tempDir } from "../../helpers/temp.js";
import { stable, startTalk, type Talk } from "./talk.js";

const STACK = `
export default (pi) => {
	pi.command("pick", { handler: async (ctx) => {
		const turn = await ctx.ui.select("Which turn?", [
			{ label: "2  the coupon", value: 2, description: "22 messages" },
			{ label: "1  the project", value: 1 },
		]);
		const sure = await ctx.ui.confirm("Sure?", "It goes away.");
		const name = await ctx.ui.input("Name it", "a name");
		return { status: JSON.stringify({ turn, sure, name }) };
	} });
	let hides = false;
	pi.command("hide", { handler: async (ctx) => {
		hides = !hides;
		await ctx.rebuildContext();
		return { status: hides ? "hidden" : "shown" };
	} });
	pi.on("context", ({ messages }) => hides
		? { messages: [{ message: { role: "user", content: "[Summary] we talked", timestamp: 0 }, entryIndex: null }] }
		: undefined);
};`;

/** Nothing but text and line ends, and no character that draws boxes. */
function expectPlain(talk: Talk): void {
	expect(talk.text()).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
	expect(talk.text()).not.toMatch(/[\u2500-\u259f]/);
}

test("a turn with tools is told line by line", async () => {
	const talk = await startTalk({
		files: { "price.ts": "a\nb\nreturn Math.floor(cents);\n", "AGENTS.md": "Be brief." },
	});
	talk.provider
		.reply([thinking("hm"), text("I look.\n\nTwo files:"), toolCall("read", { path: "price.ts" })])
		.reply([toolCall("edit", { path: "price.ts", oldText: "floor", newText: "round" })])
		.reply([toolCall("bash", { command: "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n; done; exit 1" })])
		.reply([toolCall("grep", { pattern: "round", path: "." })])
		.reply([toolCall("read", { path: "none.ts" })])
		.reply("Fixed.\nThe test passes.");
	await talk.until("> ");
	talk.enter("why does it round down?");
	await talk.until("tokens)");
	await talk.until("> ");
	expectPlain(talk);
	await expect(stable(talk.text())).toMatchFileSnapshot("../../screens/plain-turn.txt");
});

test("dialogs are numbered lists and questions; numbers, text, yes and no answer them", async () => {
	const talk = await startTalk({ hooks: { "stack.ts": STACK } });
	await talk.until("> ");
	talk.enter("/pick");
	await talk.until("empty cancels: ");
	talk.enter("7");
	await talk.until("No option matches");
	talk.enter("the");
	await talk.until("2 options match");
	talk.enter("coupon");
	await talk.until("yes or no");
	talk.enter("perhaps");
	await talk.until("Answer yes or no");
	talk.enter("y");
	await talk.until("text, empty cancels: ");
	talk.enter("Ada");
	await talk.until('{"turn":2,"sure":true,"name":"Ada"}');
	await talk.until("> ");
	talk.enter("/pick");
	await talk.until("empty cancels: ");
	talk.enter("");
	await talk.until("yes or no");
	talk.enter("");
	await talk.until("text, empty cancels: ");
	talk.interrupt();
	await talk.until('{"turn":null,"sure":false,"name":null}');
	expectPlain(talk);
	await expect(stable(talk.text())).toMatchFileSnapshot("../../screens/plain-dialogs.txt");
});

test("what a hook hides is said in words, and so is what comes back", async () => {
	const talk = await startTalk({ hooks: { "stack.ts": STACK } });
	talk.provider.reply("Hello.");
	await talk.until("> ");
	talk.enter("hi");
	await talk.until("tokens)");
	talk.enter("/hide");
	await talk.until("stack: 2 messages hidden from the model");
	await talk.until("replaced by: we talked");
	await talk.until("> ");
	talk.enter("/context");
	await talk.until(/summary, user, \d+ tok/);
	await talk.until("hidden, 1, user, hi, (by stack)");
	await talk.until("> ");
	talk.enter("/hide");
	await talk.until("2 messages restored to the context");
	expectPlain(talk);
});

test("a reply without a word is told as such", async () => {
	const talk = await startTalk();
	talk.provider.reply({ content: [], stopReason: "stop" });
	await talk.until("> ");
	talk.enter("hi");
	await talk.until("the model returned an empty reply");
});

test("lines that are typed during a run are queued; Ctrl+C stops it and says what was not sent", async () => {
	const talk = await startTalk();
	talk.provider.reply([toolCall("bash", { command: "sleep 60" })]);
	await talk.until("> ");
	talk.enter("run it");
	await talk.until("running bash sleep 60");
	talk.enter("also this");
	await talk.until("queued: pi sends it after the current tool calls");
	talk.interrupt();
	await talk.until("not sent: also this");
	await talk.until("> ");
	expect(talk.session().isRunning).toBe(false);
	talk.interrupt();
	await talk.until("Press Ctrl+C again to quit");
	talk.interrupt();
	expect(await talk.exit).toBe(0);
});

test("shell lines run and their end is told", async () => {
	const talk = await startTalk();
	await talk.until("> ");
	talk.enter("!echo one; exit 3");
	await talk.until("running echo one; exit 3");
	await talk.until("  one");
	await talk.until(/done in \d.\d s, exit 3/);
});

test("a paste is one prompt, and a backslash at the end goes on in the next line", async () => {
	const talk = await startTalk();
	talk.provider.reply("One.", "Two.");
	await talk.until("> ");
	talk.enter("first line", "second line");
	await talk.until("pi: One.");
	await talk.until("> ");
	talk.enter("this\\");
	await talk.until("more> ");
	talk.enter("and that");
	await talk.until("pi: Two.");
	const users = talk.provider.requests.at(-1)?.messages.filter(({ role }) => role === "user");
	expect(users?.map((message) => message.text)).toEqual(["first line\nsecond line", "this\nand that"]);
});

test("what the model, tools and names contain cannot control the terminal", async () => {
	const hostile = "\x1b]52;c;aGk=\x07\x1b[2Jcleared\r\x9b31mred\u202etxt";
	const talk = await startTalk({ mode: { prompts: [{ text: "go" }] } });
	talk.provider
		.reply([text(hostile), toolCall("bash", { command: `printf 'x\\033[2Jy' # ${hostile}` })])
		.reply("Done.");
	await talk.until("pi: Done.");
	expectPlain(talk);
	expect(talk.text()).toContain("␛");
});

test("a failed request is told with what to do, and the mark comes back", async () => {
	const talk = await startTalk();
	talk.provider.reply(httpError(401, {}, "invalid key"));
	await talk.until("> ");
	talk.enter("hi");
	await talk.until(/Error: .*invalid key.* · set an API key with \/login · choose another model with \/model/);
	await talk.until("> ");
	talk.enter("/nosuch");
	await talk.until("Error: Unknown command /nosuch");
	await talk.until("> ");
});

test("a key that is pasted does not show", async () => {
	const talk = await startTalk();
	await talk.until("> ");
	talk.enter("/login openai");
	await talk.until("Your input is hidden");
	expect(talk.echo()).toBe(false);
	talk.enter(`sk-secret-${"0123456789abcdef".repeat(3)}`);
	await talk.until("> ");
	expect(talk.echo()).toBe(true);
	expect(talk.text()).not.toContain("sk-secret");
});

test("the question about the project's code shows it on demand; an empty line means no", async () => {
	const talk = await startTalk({ files: { ".pi/hooks/deploy.ts": "export default () => {\n};\n" } });
	await talk.until("This project has code that pi would run:");
	await talk.until(/\.pi\/hooks\/deploy\.ts, 26 bytes, [0-9a-f]{12}, new/);
	await talk.until("y, o, v or n, empty is no: ");
	talk.enter("what");
	await talk.until("Answer y, o, v or n");
	talk.enter("v");
	await talk.until("1 export default () => {");
	talk.enter("");
	await talk.until("Warning: Project code was not run");
	await talk.until("> ");
	expectPlain(talk);
});

test("a session that is opened again says how far it has come; /branch offers the message again", async () => {
	const cwd = tempDir();
	const first = await startTalk({ cwd, session: { kind: "new" } });
	first.provider.reply("Remembered.");
	await first.until("> ");
	first.enter("remember this");
	await first.until("pi: Remembered.");
	await first.until("> ");
	first.end();
	expect(await first.exit).toBe(0);
	await first.until(/Resume this session with pi --session \w{8}/);
	const { agentDir } = first;
	const second = await startTalk({ cwd, agentDir, session: { kind: "continue" } });
	second.provider.reply("Again.");
	await second.until("Session: 2 messages so far");
	second.enter("/branch");
	await second.until("1. remember this (entry 1)");
	second.enter("1");
	await second.until("Press Enter to send: remember this");
	await second.until("> ");
	second.enter("");
	await second.until("pi: Again.");
});

test("of calls that run side by side it is said which one has ended", async () => {
	const talk = await startTalk({ files: { "a.ts": "1\n", "b.ts": "1\n2\n" } });
	talk.provider.reply([toolCall("read", { path: "a.ts" }), toolCall("read", { path: "b.ts" })]).reply("Read.");
	await talk.until("> ");
	talk.enter("read both");
	await talk.until("running read b.ts");
	await talk.until(/done: read [ab]\.ts, in 0\.\d s, [12] lines?\ndone in/);
});

test("a compaction says its summary first; it is used, written anew, or left", async () => {
	const talk = await startTalk();
	talk.provider.reply("one", "two", "They said hello.", "Two greetings.", "Left alone.");
	await talk.until("> ");
	talk.enter("/settings compaction.keepRecentTokens 5");
	await talk.until("> ");
	talk.enter("first question");
	await talk.until("tokens)");
	await talk.until("> ");
	talk.enter("second question");
	await talk.until("tokens)");
	await talk.until("> ");
	talk.enter("/compact");
	await talk.until("They said hello.");
	await talk.until("number or text");
	talk.enter("another");
	await talk.until("Two greetings.");
	await talk.until("number or text");
	talk.enter("use");
	await talk.until("> ");
	expect(talk.session().entries.at(-1)).toMatchObject({ type: "compaction", summary: "Two greetings." });
	expectPlain(talk);
	await expect(stable(talk.text())).toMatchFileSnapshot("../../screens/plain-compaction.txt");
});

test("the demo is one of the ways that /setup offers; choosing it ends the talk for it", async () => {
	let isAsked = false;
	const talk = await startTalk({ mode: { startDemo: () => (isAsked = true) } });
	await talk.until("> ");
	talk.enter("/setup");
	await talk.until("4. Demo (see pi work offline with a scripted model)");
	await talk.until("empty cancels: ");
	talk.enter("demo");
	expect(await talk.exit).toBe(0);
	expect(isAsked).toBe(true);
});
