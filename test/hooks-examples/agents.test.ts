import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { listSessions } from "../../src/log/catalog.js";
import { isMessageEntry, isRequestUsageEntry } from "../../src/log/entry.js";
import { removeSession } from "../../src/log/manage-sessions.js";
import { drawnLines } from "../../src/testing/create-hook-test.js";
import { type ProviderRequest, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";
import { answerBySystemPrompt, callAgent, SCOUT } from "./sub-agents.js";

const WRITER = "---\nname: writer\ndescription: writes texts\n---\nYou are a writer.\n";
const BOSS = "---\nname: boss\ndescription: delegates\ntools: agent, ls\n---\nYou are a boss.\n";

interface Options extends TestSessionOptions {
	/** Definitions in the agent directory. */
	agents?: Record<string, string>;
}

/** Lines that hooks showed in the current test. */
let notified: string[] = [];
beforeEach(() => {
	notified = [];
});

function start({
	agents = { "scout.md": SCOUT, "writer.md": WRITER },
	...options
}: Options = {}): Promise<TestSession> {
	const agentDir = options.agentDir ?? tempAgentDir();
	writeFiles(join(agentDir, "agents"), agents);
	return startSession({
		ui: { notify: (message) => void notified.push(message) },
		...options,
		agentDir,
		hookFiles: [example("agents.ts"), ...(options.hookFiles ?? [])],
	});
}

const toolNames = ({ body }: ProviderRequest) =>
	(Array.isArray(body.tools) ? body.tools : []).map((tool: unknown) => Object(tool).function?.name);

/** The last result of the tool. */
function lastResult({ session }: TestSession) {
	const entry = session.entries.findLast((entry) => isMessageEntry(entry) && entry.message.role === "toolResult");
	return isMessageEntry(entry) && entry.message.role === "toolResult" ? entry.message : expect.fail("no result");
}

function textOf(t: TestSession): string {
	return lastResult(t)
		.content.map((block) => (block.type === "text" ? block.text : ""))
		.join("");
}

/** Draws the last result without styles. */
function draw(t: TestSession, width: number, expanded = false): Promise<string[]> {
	const render = t.session.toolRenderer("agent")?.renderResult ?? expect.fail("no renderer");
	const { content, details, isError } = lastResult(t);
	const options = { expanded, isPartial: false, isError };
	return drawnLines(render({ content, details, isError }, PLAIN_THEME, options), width);
}

test("a sub-agent has its own system prompt, tools and context, and the model receives only its last reply", async () => {
	const t = await start({ files: { "a.txt": "one" } });
	t.provider.reply(
		callAgent({ agent: "scout", prompt: "Which files?" }),
		[toolCall("ls", {})],
		"Only a.txt.",
		"Thanks.",
	);
	await t.session.prompt("look");
	const [first, scout, , last] = t.provider.requests;
	expect(scout?.messages[0]?.text).toMatch(/^You are a scout\./);
	expect(scout && toolNames(scout)).toEqual(["read", "ls"]);
	expect(t.sent(2)).toEqual(["user: Which files?"]);
	expect(last?.messages.at(-1)?.text).toBe("Only a.txt.");
	expect(JSON.stringify(first?.body.tools)).toContain("scout: finds files");
	expect(t.notices()).toEqual([]);
});

test("a definition that other users can change is not used", async () => {
	const agentDir = tempAgentDir();
	writeFiles(join(agentDir, "agents"), { "scout.md": SCOUT });
	chmodSync(join(agentDir, "agents", "scout.md"), 0o666);
	const t = await start({ agentDir, agents: {} });
	expect(notified).toEqual([expect.stringMatching(/scout\.md: other users can write to/)]);
	t.provider.reply("ok");
	await t.session.prompt("go");
	expect(t.provider.requests.flatMap(toolNames)).not.toContain("agent");
});

test("a sub-agent without a list of tools has all of the session except agent, and at most those that are on", async () => {
	const t = await start({ tools: ["read", "bash", "agent"] });
	t.provider.reply(callAgent({ agent: "writer", prompt: "Write." }), "Text.", "Thanks.");
	await t.session.prompt("go");
	const [, writer] = t.provider.requests;
	expect(writer && toolNames(writer)).toEqual(["read", "bash"]);
});

test("at most four sub-agents run at the same time, and results keep the order of the tasks", async () => {
	const t = await start();
	let running = 0;
	let most = 0;
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	answerBySystemPrompt(t.provider, {
		"You are a scout.": (async ({ messages }: ProviderRequest) => {
			most = Math.max(most, ++running);
			await hold;
			running--;
			return `found ${messages.at(-1)?.text}`;
		}) as never,
		"": ({ messages }) =>
			messages.at(-1)?.role === "tool"
				? "Thanks."
				: callAgent({ tasks: Array.from({ length: 6 }, (_, at) => ({ agent: "scout", prompt: `task ${at}` })) }),
	});
	const prompted = t.session.prompt("go");
	await vi.waitFor(() => expect(running).toBe(4), 10_000);
	const update = t.events.findLast((event) => event.type === "tool_execution_update");
	const { agents = [] } = Object(update?.partialResult.details) as { agents?: { state: string }[] };
	const states = ["running", "running", "running", "running", "waiting", "waiting"];
	expect(agents.map(({ state }) => state)).toEqual(states);
	release();
	await prompted;
	expect(most).toBe(4);
	expect(textOf(t).match(/^## .*|^found .*/gm)).toEqual(
		Array.from({ length: 6 }, (_, at) => [`## ${at + 1}. scout: done`, `found task ${at}`]).flat(),
	);
	expect(await draw(t, 60)).toHaveLength(6);
});

test("the session file is in a directory named after the parent's file, and not listed", async () => {
	const sessionDir = tempDir();
	const t = await start({ session: { kind: "new" }, sessionDir });
	t.provider.reply(callAgent({ agent: "scout", prompt: "Which files?" }), "None.", "Thanks.");
	await t.session.prompt("look");
	const parent = t.session.sessionFile ?? expect.fail("no file");
	const dir = parent.replace(/\.jsonl$/, ".agents");
	const [file, ...others] = readdirSync(dir).filter((name) => name.endsWith(".jsonl"));
	expect(others).toEqual([]);
	const lines = readFileSync(join(dir, file ?? ""), "utf8");
	expect(lines).toContain('"agent":"scout"');
	expect(lines).toContain("Which files?");
	expect(readdirSync(sessionDir).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
	expect(await listSessions(sessionDir)).toEqual([expect.objectContaining({ path: parent, subSessions: 1 })]);
	expect(await draw(t, 200, true)).toContain(join(dir, file ?? ""));
	await t.session.dispose();
	removeSession(parent);
	expect(existsSync(dir)).toBe(false);
});

test("tokens and cost of sub-agents count as those of the session", async () => {
	const t = await start();
	const usage = { input: 1000, output: 100 };
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), { text: "Done.", usage } as never, "Thanks.");
	const before = t.session.stats().tokens.total;
	await t.session.prompt("look");
	const entries = t.session.entries.filter(isRequestUsageEntry);
	expect(entries).toEqual([expect.objectContaining({ purpose: "hook agents", modelId: "scripted" })]);
	expect(t.session.stats().tokens.total - before).toBeGreaterThanOrEqual(entries[0]?.usage.totalTokens ?? 0);
	expect(lastResult(t).details).toEqual({
		agents: [expect.objectContaining({ state: "done", tokens: entries[0]?.usage.totalTokens })],
	});
});

test("stopping the session cancels its sub-agents", async () => {
	const t = await start();
	let stopped: Promise<boolean> = Promise.resolve(false);
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), async () => {
		await new Promise(() => {});
		return "never";
	});
	const run = t.session.prompt("look");
	({ closed: stopped } = await t.provider.request(2));
	await t.session.abort();
	await run;
	expect(await stopped).toBe(false);
	expect(t.provider.requests).toHaveLength(2);
});

test("disposing the session cancels its sub-agents", async () => {
	const t = await start();
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), async () => {
		await new Promise(() => {});
		return "never";
	});
	void t.session.prompt("look");
	const { closed } = await t.provider.request(2);
	await t.session.dispose();
	expect(await closed).toBe(false);
});

test("a sub-agent whose tools name agent can start others, three levels deep", async () => {
	const t = await start({ agents: { "boss.md": BOSS } });
	const depths: (string | undefined)[] = [];
	t.provider.on(({ messages }) => {
		const last = messages.at(-1);
		if (last?.role !== "tool") return callAgent({ agent: "boss", prompt: "Delegate" });
		depths.push(last.text);
		return `got ${last.text}`;
	});
	await t.session.prompt("go");
	const refusal = "Sub-agents cannot be nested deeper than 3. Do the work yourself.";
	expect(depths).toEqual([refusal, `got ${refusal}`, `got got ${refusal}`, `got got got ${refusal}`]);
});

test("failures are results: the model learns the reason, and other tasks continue", async () => {
	const t = await start();
	answerBySystemPrompt(t.provider, {
		"You are a scout.": () => ({ fault: { kind: "http", status: 400, message: "no luck" } }) as never,
		"You are a writer.": () => "Text.",
		"": ({ messages }) =>
			messages.at(-1)?.role === "tool"
				? "Thanks."
				: callAgent({ tasks: ["scout", "writer"].map((agent) => ({ agent, prompt: "Go" })) }),
	});
	await t.session.prompt("go");
	expect(textOf(t)).toMatch(/^## 1\. scout: failed\n\nFailed: .*no luck.*\n\n## 2\. writer: done\n\nText\.$/s);
	expect(lastResult(t).isError).toBe(false);
	expect((await draw(t, 60))[0]).toMatch(/^✗ scout .*no luck/);
});

test.each<[object, RegExp]>([
	[{ agent: "nobody", prompt: "Go" }, /^There is no agent "nobody", only scout, writer\.$/],
	[{ agent: "scout" }, /^Pass either agent and prompt, or tasks\.$/],
	[{ agent: "scout", prompt: "Go", tasks: [{ agent: "scout", prompt: "Go" }] }, /^Pass either/],
	[{ tasks: [] }, /tasks/],
])("the call %j is refused with a reason", async (args, reason) => {
	const t = await start();
	t.provider.reply(callAgent(args), "ok");
	await t.session.prompt("go");
	expect(textOf(t)).toMatch(reason);
	expect(lastResult(t).isError).toBe(true);
});

test("a definition chooses the model", async () => {
	const other = SCOUT.replace("tools: read, ls", "model: loopback-anthropic/scripted");
	const t = await start({ agents: { "scout.md": other, "writer.md": WRITER } });
	const tasks = ["scout", "writer"].map((agent) => ({ agent, prompt: "Go" }));
	answerBySystemPrompt(t.provider, {
		"You are a": ({ api }) => `I am ${api}.`,
		"": ({ messages }) => (messages.at(-1)?.role === "tool" ? "Thanks." : callAgent({ tasks })),
	});
	await t.session.prompt("go");
	expect(textOf(t)).toBe(
		"## 1. scout: done\n\nI am anthropic-messages.\n\n## 2. writer: done\n\nI am openai-completions.",
	);
	const models = t.session.entries.filter(isRequestUsageEntry).map(({ provider }) => provider);
	expect(models.sort()).toEqual(["loopback", "loopback-anthropic"]);
	expect(t.session.model).toMatchObject({ provider: "loopback" });
});

test("an unknown model of a definition is named with file and line", async () => {
	const t = await start({ agents: { "bad.md": SCOUT.replace("tools: read, ls", "model: nothing-like-it") } });
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), "ok");
	await t.session.prompt("go");
	expect(textOf(t)).toBe(
		`Failed: ${join(t.agentDir, "agents", "bad.md")}:4: No model "nothing-like-it" · list them with pi models list`,
	);
});

test.each<[string, string, string]>([
	["no front matter", "You are x.", "1: begin the file with a name and a description between --- lines; agent ignored"],
	["an open block", "---\nname: x\n", "1: the front matter has no closing --- line; agent ignored"],
	[
		"a name",
		"---\ndescription: d\nname: a b\n---\nx",
		"3: name must be up to 64 letters, digits, _ and -; agent ignored",
	],
	[
		"no description",
		"---\nname: x\n---\nx",
		"1: description must be a text that says when to use the agent; agent ignored",
	],
	[
		"tools",
		"---\ndescription: d\ntools: {a: b}\n---\nx",
		"3: tools must be a list of names, such as read, ls; agent ignored",
	],
	["a model", "---\ndescription: d\nmodel: 7\n---\nx", "3: model must be the id of a model; agent ignored"],
	["no prompt", "---\ndescription: d\n---\n", "4: the system prompt below the front matter is missing; agent ignored"],
	["a field", "---\ndescription: d\ncolor: red\n---\nx", '3: unknown field "color"'],
])("a definition with a malformed part (%s) is named with file and line", async (_, text, problem) => {
	const t = await start({ agents: { "bad.md": text } });
	const path = join(t.agentDir, "agents", "bad.md");
	expect(notified).toEqual([`${path}:${problem}`]);
	expect(await t.session.prompt("/agents")).toMatchObject({ status: expect.stringContaining(`${path}:${problem}`) });
});

test("an unknown tool of a definition is named with file and line", async () => {
	const t = await start({ agents: { "scout.md": SCOUT.replace("read, ls", "read, lss") } });
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), "ok");
	await t.session.prompt("go");
	expect(textOf(t)).toBe(`${join(t.agentDir, "agents", "scout.md")}:4: there is no tool "lss"`);
});

test("/agents lists the agents, and without one says where to put it", async () => {
	const t = await start();
	expect(await t.session.prompt("/agents")).toMatchObject({
		status: "scout   finds files  read, ls\nwriter  writes texts",
	});
	const none = await start({ agents: {} });
	expect(await none.session.prompt("/agents")).toMatchObject({
		status: expect.stringMatching(/^No agents are defined: save/),
	});
	expect(none.session.palette().length).toBeGreaterThan(0);
});

test("the project's agents need trust, and an agent of the project replaces one of the user", async () => {
	const files = { ".pi/agents/scout.md": SCOUT.replace("You are a scout.", "You are the project's scout.") };
	const untrusted = await start({ files });
	expect(untrusted.session.loaded.warnings.join("\n")).toMatch(/not trusted: \.pi\/agents\/scout\.md/);
	untrusted.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), "ok", "ok");
	await untrusted.session.prompt("go");
	expect(untrusted.provider.requests[1]?.messages[0]?.text).toMatch(/^You are a scout\./);
	const trusted = await start({ files, trust: true });
	expect(notified.join("\n")).toMatch(/replaces the agent "scout" of/);
	trusted.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), "ok", "ok");
	await trusted.session.prompt("go");
	expect(trusted.provider.requests[1]?.messages[0]?.text).toMatch(/^You are the project's scout\./);
});

test("a sub-agent runs the project code that its parent runs, whatever the files contain meanwhile", async () => {
	const hook = (word: string) =>
		`export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "${word}" }));\n`;
	const t = await start({
		files: { ".pi/hooks/gate.ts": hook("reviewed") },
		trust: true,
		agents: { "scout.md": SCOUT },
	});
	await t.session.prompt("/agents");
	writeFileSync(join(t.cwd, ".pi/hooks/gate.ts"), hook("changed"));
	mkdirSync(join(t.cwd, ".pi/agents"));
	t.provider.reply(callAgent({ agent: "scout", prompt: "Go" }), "ok");
	await t.session.prompt("go");
	expect(textOf(t)).toContain("reviewed");
	expect(existsSync(join(t.cwd, ".pi/agents"))).toBe(true);
});

test("hooks of a sub-agent ask the user of the session", async () => {
	const asked: string[] = [];
	const t = await start({
		agents: { "writer.md": WRITER },
		hookFiles: [example("permission-gate.ts")],
		ui: {
			notify: () => {},
			confirm: async (title) => {
				asked.push(title);
				return false;
			},
			approve: async ({ question }) => {
				asked.push(question);
				return { allowed: false };
			},
			select: async () => expect.unreachable(),
		},
	});
	t.provider.reply(
		callAgent({ agent: "writer", prompt: "Go" }),
		[toolCall("bash", { command: "touch x" })],
		"It was refused.",
		"ok",
	);
	await t.session.prompt("go");
	expect(asked).toEqual([expect.stringMatching(/^writer: /)]);
	expect(existsSync(join(t.cwd, "x"))).toBe(false);
});

test("long replies are cut, so that each has its share of the result", async () => {
	const t = await start();
	answerBySystemPrompt(t.provider, {
		"You are a scout.": () => "x".repeat(60_000),
		"": ({ messages }) =>
			messages.at(-1)?.role === "tool"
				? "Thanks."
				: callAgent({ tasks: [1, 2].map((at) => ({ agent: "scout", prompt: `task ${at}` })) }),
	});
	await t.session.prompt("go");
	expect(textOf(t).match(/\[Cut; the complete reply is lost\]/g)).toHaveLength(2);
	expect(
		textOf(t)
			.match(/x+/g)
			?.map(({ length }) => length),
	).toEqual([24_000, 24_000]);
});
