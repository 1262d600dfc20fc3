import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isCompactionEntry, isMessageEntry } from "../../../src/log/entry.js";
import { httpError, text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { tempDir } from "../../helpers/temp.js";
import { expectPlain, stable, startPlain } from "./start-plain.js";

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

test("a long line of the model is printed in full, and one of a tool says how much is omitted", async () => {
	const long = Array.from({ length: 1500 }, (_, at) => `word${at}`).join(" ");
	const plain = await startPlain();
	plain.provider.reply([toolCall("bash", { command: "head -c 5000 /dev/zero | tr '\\0' x" })]).reply([text(long)]);
	await plain.until("> ");
	plain.enter("go");
	await plain.until("word1499");
	expect(plain.text()).toContain(`pi: ${long}\n`);
	expect(plain.text()).toContain(`  ${"x".repeat(4000)} (1000 more characters omitted)\n`);
});

test("a compaction by a command that fails is reported once", async () => {
	const plain = await startPlain();
	await plain.until("> ");
	plain.enter("/compact");
	await plain.until("nothing to compact yet");
	plain.enter("/session");
	await plain.until("messages");
	expect(plain.text().match(/nothing to compact yet/g)).toHaveLength(1);
});

test("a context file below the working directory is named when it joins", async () => {
	const plain = await startPlain({ files: { "api/AGENTS.md": "Use tabs.\nRun the tests." } });
	plain.provider.reply([toolCall("ls", { path: "api" })]).reply("Done.");
	await plain.until("> ");
	plain.enter("look");
	await plain.until("Done.");
	expect(plain.text()).toContain("\napi/AGENTS.md joined the context · 2 lines\n");
	expectPlain(plain);
});

test("a turn with tools is printed line by line", async () => {
	const plain = await startPlain({
		files: { "price.ts": "a\nb\nreturn Math.floor(cents);\n", "AGENTS.md": "Be brief." },
	});
	plain.provider
		.reply([thinking("hm"), text("I look.\n\nTwo files:"), toolCall("read", { path: "price.ts" })])
		.reply([toolCall("edit", { path: "price.ts", oldText: "floor", newText: "round" })])
		.reply([toolCall("bash", { command: "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n; done; exit 1" })])
		.reply([toolCall("grep", { pattern: "round", path: "." })])
		.reply([toolCall("read", { path: "none.ts" })])
		.reply("Fixed.\nThe test passes.");
	await plain.until("> ");
	plain.enter("why does it round down?");
	await plain.until("tokens)");
	await plain.until("> ");
	expectPlain(plain);
	await expect(stable(plain.text())).toMatchFileSnapshot("../../screens/plain-turn.txt");
});

test("dialogs are numbered lists and questions, answered with numbers, text, yes or no", async () => {
	const plain = await startPlain({ hooks: { "stack.ts": STACK } });
	await plain.until("> ");
	plain.enter("/pick");
	await plain.until("empty cancels: ");
	plain.enter("7");
	await plain.until("No option matches");
	plain.enter("the");
	await plain.until("2 options match");
	plain.enter("coupon");
	await plain.until("yes or no");
	plain.enter("perhaps");
	await plain.until("Answer yes or no");
	plain.enter("y");
	await plain.until("text, empty cancels: ");
	plain.enter("Ada");
	await plain.until('{"turn":2,"sure":true,"name":"Ada"}');
	await plain.until("> ");
	plain.enter("/pick");
	await plain.until("empty cancels: ");
	plain.enter("");
	await plain.until("yes or no");
	plain.enter("");
	await plain.until("text, empty cancels: ");
	plain.interrupt();
	await plain.until('{"turn":null,"sure":false,"name":null}');
	expectPlain(plain);
	await expect(stable(plain.text())).toMatchFileSnapshot("../../screens/plain-dialogs.txt");
});

test("hidden and restored messages are described in words", async () => {
	const plain = await startPlain({ hooks: { "stack.ts": STACK } });
	plain.provider.reply("Hello.");
	await plain.until("> ");
	plain.enter("hi");
	await plain.until("tokens)");
	plain.enter("/hide");
	await plain.until("stack: 2 messages hidden from the model");
	await plain.until("replaced by: we talked");
	await plain.until("> ");
	plain.enter("/context");
	await plain.until(/summary, user, \d+ tok/);
	await plain.until("hidden, 1, user, hi, (by stack)");
	await plain.until("> ");
	plain.enter("/hide");
	await plain.until("2 messages restored to the context");
	expectPlain(plain);
});

test("an empty reply is reported", async () => {
	const plain = await startPlain();
	plain.provider.reply({ content: [], stopReason: "stop" });
	await plain.until("> ");
	plain.enter("hi");
	await plain.until("the model returned an empty reply");
});

test("lines typed during a run are queued, and Ctrl+C aborts the run and gives back the prompts that were not sent", async () => {
	const plain = await startPlain();
	plain.provider.reply([toolCall("bash", { command: "sleep 60" })]);
	await plain.until("> ");
	plain.enter("run it");
	await plain.until("running bash sleep 60");
	plain.enter("also this");
	await plain.until("queued: pi sends it after the current tool calls");
	plain.interrupt();
	await plain.until("not sent: also this");
	await plain.until("Press Enter to send: also this");
	await plain.until("> ");
	expect(plain.session().isRunning).toBe(false);
	plain.provider.reply("Gladly.");
	plain.enter("");
	await plain.until("Gladly.");
	await plain.until("> ");
	plain.interrupt();
	await plain.until("Press Ctrl+C again to quit");
	plain.interrupt();
	expect(await plain.exit).toBe(0);
});

test("/new and /quit ask before they end a run", async () => {
	const plain = await startPlain();
	plain.provider.reply([toolCall("bash", { command: "sleep 60" })]);
	plain.enter("go");
	await plain.until("running bash sleep 60");
	const { sessionId } = plain.session();
	plain.enter("/new");
	await plain.until("Start a new session?");
	await plain.until("This ends the run.");
	plain.enter("n");
	await expect.poll(() => plain.session().activity.state).toBe("run");
	expect(plain.session().sessionId).toBe(sessionId);
	plain.enter("/quit");
	await plain.until("Quit pi?");
	plain.enter("y");
	expect(await plain.exit).toBe(0);
	expectPlain(plain);
});

test("lines typed during startup are delivered in order, also those that follow while they are delivered", async () => {
	const release = join(tempDir(), "release");
	let go = () => {};
	const hold = new Promise<void>((resolve) => {
		go = resolve;
	});
	const prompts = async () => {
		await hold;
		return [];
	};
	const plain = await startPlain({ mode: { prompts } });
	plain.enter(`!until [ -e '${release}' ]; do sleep 0.02; done`);
	plain.enter("!!echo second");
	await plain.until("Model Scripted");
	plain.enter("third");
	go();
	await plain.until("running until");
	plain.provider.reply("Done.");
	plain.enter("!echo fourth");
	writeFileSync(release, "");
	await plain.until("running echo second");
	await plain.until("running echo fourth");
	await expect.poll(() => plain.text()).toContain("Done.");
	await plain.until("> ");
	const typed = plain.session().entries.flatMap((entry) => (isMessageEntry(entry) ? [entry.message.role] : []));
	expect(typed.slice(0, 3)).toEqual(["bashExecution", "bashExecution", "user"]);
	expect(plain.text()).not.toContain("already running");
});

test("an input shows its initial value, which an empty line keeps", async () => {
	const hook = `export default (pi) => pi.command("label", { handler: async (ctx) =>
		({ status: JSON.stringify(await ctx.ui.input("Name it", "a name", { initial: "my hook" })) }) });`;
	const plain = await startPlain({ hooks: { "label.ts": hook } });
	await plain.until("> ");
	for (const [line, answer] of [
		["", '"my hook"'],
		["other", '"other"'],
	] as const) {
		plain.enter("/label");
		await plain.until("Text now: my hook\nnew text, empty keeps it: ");
		plain.enter(line);
		await plain.until(answer);
		await plain.until("> ");
	}
});

test("a shell line runs, and its end is reported", async () => {
	const plain = await startPlain();
	await plain.until("> ");
	plain.enter("!echo one; exit 3");
	await plain.until("running echo one; exit 3");
	await plain.until("  one");
	await plain.until(/done in \d.\d s, exit 3/);
});

test("a paste is one prompt, and a backslash at the end continues on the next line", async () => {
	const plain = await startPlain();
	plain.provider.reply("One.", "Two.");
	await plain.until("> ");
	plain.enter("first line", "second line");
	await plain.until("pi: One.");
	await plain.until("> ");
	plain.enter("this\\");
	await plain.until("more> ");
	plain.enter("and that");
	await plain.until("pi: Two.");
	const users = plain.provider.requests.at(-1)?.messages.filter(({ role }) => role === "user");
	expect(users?.map((message) => message.text)).toEqual(["first line\nsecond line", "this\nand that"]);
});

test("text of the model, tools and names cannot control the terminal", async () => {
	const hostile = "\x1b]52;c;aGk=\x07\x1b[2Jcleared\r\x9b31mred\u202etxt";
	const plain = await startPlain({ mode: { prompts: [{ text: "go" }] } });
	plain.provider
		.reply([text(hostile), toolCall("bash", { command: `printf 'x\\033[2Jy' # ${hostile}` })])
		.reply("Done.");
	await plain.until("pi: Done.");
	expectPlain(plain);
	expect(plain.text()).toContain("␛");
});

test("a failed request is reported with a hint, and the prompt mark is shown again", async () => {
	const plain = await startPlain();
	plain.provider.reply(httpError(401, {}, "invalid key"));
	await plain.until("> ");
	plain.enter("hi");
	await plain.until(/Error: .*invalid key.* · set an API key with \/login · choose another model with \/model/);
	await plain.until("> ");
	plain.enter("/nosuch");
	await plain.until("Error: Unknown command /nosuch");
	await plain.until("> ");
});

test("a pasted key is not echoed", async () => {
	const plain = await startPlain();
	await plain.until("> ");
	plain.enter("/login openai");
	await plain.until("Your input is hidden");
	expect(plain.echo()).toBe(false);
	plain.enter(`sk-secret-${"0123456789abcdef".repeat(3)}`);
	await plain.until("> ");
	expect(plain.echo()).toBe(true);
	expect(plain.text()).not.toContain("sk-secret");
});

test("the trust question shows the project's code on demand, and an empty line means no", async () => {
	const plain = await startPlain({ files: { ".pi/hooks/deploy.ts": "export default () => {\n};\n" } });
	await plain.until("This project has code that pi would run. It can do anything you can. Run it?");
	await plain.until(/\.pi\/hooks\/deploy\.ts {6}26 B {3}[0-9a-f]{12} {3}new/);
	await plain.until("1. Trust these contents\n  2. This run only (o)\n  3. No\n  4. Show code and changes (v)");
	plain.enter("what");
	await plain.until("Type a number from 1 to 4");
	plain.enter("v");
	await plain.until("1 export default () => {");
	plain.enter("");
	await plain.until("Warning: Project code was not run");
	await plain.until("> ");
	expectPlain(plain);
});

test("a resumed session reports its length, and /branch restores the message as draft", async () => {
	const cwd = tempDir();
	const first = await startPlain({ cwd, session: { kind: "new" } });
	first.provider.reply("Remembered.");
	await first.until("> ");
	first.enter("remember this");
	await first.until("pi: Remembered.");
	await first.until("> ");
	first.end();
	expect(await first.exit).toBe(0);
	await first.until(/Resume this session with pi --session \w{8}/);
	const { agentDir } = first;
	const second = await startPlain({ cwd, agentDir, session: { kind: "continue" } });
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

test("the end of a call is reported with its title while other calls are running", async () => {
	const plain = await startPlain({ files: { "a.ts": "1\n", "b.ts": "1\n2\n" } });
	plain.provider.reply([toolCall("read", { path: "a.ts" }), toolCall("read", { path: "b.ts" })]).reply("Read.");
	await plain.until("> ");
	plain.enter("read both");
	await plain.until("running read b.ts");
	await plain.until(/done: read [ab]\.ts, in 0\.\d s, [12] lines?\ndone in/);
});

test("a compaction prints its summary first, and the user uses it, requests another one or cancels", async () => {
	const plain = await startPlain();
	plain.provider.reply(`one${" and more".repeat(30)}`, "two", "They said hello.", "Two greetings.", "Left alone.");
	await plain.until("> ");
	plain.enter("/settings compaction.keepRecentTokens 10");
	await plain.until("> ");
	plain.enter("first question");
	await plain.until("tokens)");
	await plain.until("> ");
	plain.enter("second question");
	await plain.until("tokens)");
	await plain.until("> ");
	plain.enter("/compact");
	await plain.until("They said hello.");
	await plain.until("number or text");
	plain.enter("another");
	await plain.until("Two greetings.");
	await plain.until("number or text");
	plain.enter("use");
	await plain.until("> ");
	expect(plain.session().entries.findLast(isCompactionEntry)).toMatchObject({
		type: "compaction",
		summary: "Two greetings.",
	});
	expectPlain(plain);
	await expect(stable(plain.text())).toMatchFileSnapshot("../../screens/plain-compaction.txt");
});

test("/setup offers the demo, and choosing it exits the mode to start it", async () => {
	let isAsked = false;
	const plain = await startPlain({ mode: { startDemo: () => (isAsked = true) } });
	await plain.until("> ");
	plain.enter("/setup");
	await plain.until("5. Demo (see pi work offline with a scripted model)");
	await plain.until("empty cancels: ");
	plain.enter("demo");
	expect(await plain.exit).toBe(0);
	expect(isAsked).toBe(true);
});
