import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/sdk/create-session.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const skill = (description: string) => `---\nname: tea\ndescription: ${description}\n---\nBoil water.\n`;
const tool = (
	text: string,
) => `export default { name: "greet", description: "d", parameters: { type: "object", properties: {} },
	run: async () => ({ content: [{ type: "text", text: ${JSON.stringify(text)} }] }) };`;
const hook = (text: string) =>
	`export default (pi) => pi.command("who", { handler: () => ({ status: ${JSON.stringify(text)} }) });`;

/** A session with one file of each kind, in version `old`. */
async function startWithFiles(): Promise<TestSession> {
	const agentDir = tempAgentDir({
		hooks: { "who.ts": hook("old") },
		files: {
			"skills/tea/SKILL.md": skill("old skill"),
			"prompts/ask.md": "old template",
			"tools/greet/index.ts": tool("old tool"),
		},
	});
	return startSession({ agentDir, userSettings: { queueMode: "all" }, files: { "AGENTS.md": "old rules" } });
}

/** Writes version `new` of each file. */
function edit({ agentDir, cwd, provider }: TestSession): void {
	writeFiles(agentDir, {
		"hooks/who.ts": hook("new hook"),
		"skills/tea/SKILL.md": skill("new skill"),
		"prompts/ask.md": "new template",
		"tools/greet/index.ts": tool("new tool"),
		"settings.json": { queueMode: "one-at-a-time" },
		"models.json": provider.modelsJson({ contextWindow: 54_321 }),
	});
	writeFiles(cwd, { "AGENTS.md": "new rules" });
}

/** What the session uses of each file. */
async function versions({ session, provider }: TestSession): Promise<Record<string, unknown>> {
	provider.reply([toolCall("greet", {})], "ok");
	await session.prompt("/ask");
	const { messages } = provider.requests.at(-1) ?? { messages: [] };
	const system = messages[0]?.text ?? "";
	const who = await session.prompt("/who");
	return {
		hook: who.kind === "command" ? who.status : null,
		skill: /(\w+) skill/.exec(system)?.[0],
		rules: /(\w+) rules/.exec(system)?.[0],
		template: messages.findLast(({ role }) => role === "user")?.text,
		tool: messages.at(-1)?.text,
		settings: session.settings.queueMode,
		window: session.model?.contextWindow,
	};
}

const OLD = {
	hook: "old",
	skill: "old skill",
	rules: "old rules",
	template: "old template",
	tool: "old tool",
	settings: "all",
	window: 128_000,
};
const NEW = {
	hook: "new hook",
	skill: "new skill",
	rules: "new rules",
	template: "new template",
	tool: "new tool",
	settings: "one-at-a-time",
	window: 54_321,
};

test.each(["/reload", "/new"])("%s reads all files again", async (command) => {
	const started = await startWithFiles();
	expect(await versions(started)).toEqual({ ...OLD, window: started.session.model?.contextWindow });
	edit(started);
	await started.session.prompt(command);
	expect(await versions(started)).toEqual(NEW);
});

test("/resume reads all files again", async () => {
	const started = await startWithFiles();
	const { agentDir, cwd, provider } = started;
	provider.reply("one", "two");
	const open = () => startSession({ agentDir, cwd, provider, session: { kind: "new" } });
	const first = await open();
	await first.session.prompt("hi");
	const path = first.session.sessionFile ?? "";
	await first.session.dispose();
	const second = await open();
	await second.session.prompt("hi");
	edit(second);
	await second.session.prompt(`/resume ${path}`);
	expect(await versions(second)).toEqual(NEW);
});

test("/reload says what it read and what failed in one line, and broken files keep their last good state", async () => {
	const started = await startWithFiles();
	const { session, agentDir, cwd, notices } = started;
	expect(await session.prompt("/reload")).toMatchObject({
		status: expect.stringMatching(
			/^1 hook loaded · read again: settings, \d+ models, 1 context file, 1 skill, 1 prompt, \d+ tools$/,
		),
	});
	const before = await versions(started);
	writeFiles(agentDir, {
		"hooks/who.ts": "export default (pi) => {\n\toops oops\n}",
		"skills/tea/SKILL.md": "---\nname: tea\ndescription: [\n---\nBoil water.\n",
		"prompts/ask.md": "---\ndescription: [\n---\nbroken template\n",
		"tools/greet/index.ts": "export default {\n\toops oops }",
		"settings.json": '{\n"queueMode": one }',
		"models.json": '{\n"providers": }',
	});
	rmSync(join(cwd, "AGENTS.md"));
	mkdirSync(join(cwd, "AGENTS.md"));
	const told = notices().length;
	const reloaded = await session.prompt("/reload");
	const status = reloaded.kind === "command" ? (reloaded.status ?? "") : "";
	expect(status).toMatch(/^1 hook loaded · read again: .* · kept the previous version of \S+who\.ts · failed: /);
	for (const place of [
		/settings\.json:2:14/,
		/models\.json:2:14/,
		/AGENTS\.md/,
		/SKILL\.md:\d/,
		/ask\.md:\d/,
		/index\.ts:\d/,
		/who\.ts:\d/,
	]) {
		expect(status).toMatch(place);
		expect(notices().slice(told, -1).join("\n")).toMatch(place);
	}
	expect(await versions(started)).toEqual(before);
	expect(session.loaded).toMatchObject({ skills: ["tea"], templates: ["ask"], contextFiles: [join(cwd, "AGENTS.md")] });
});

describe("/new", () => {
	test("keeps the state of hooks and tools whose files did not change", async () => {
		const counter = "let n = 0; export default (pi) => pi.command('n', { handler: () => ({ status: String(++n) }) });";
		const { session } = await startSession({ hooks: { "n.ts": counter } });
		expect(await session.prompt("/n")).toMatchObject({ status: "1" });
		await session.prompt("/new");
		expect(await session.prompt("/n")).toMatchObject({ status: "2" });
	});

	test("reports a problem once, after the new session has begun", async () => {
		const { session, agentDir, events } = await startSession();
		writeFiles(agentDir, { "models.json": "{" });
		await session.prompt("/new");
		const types = events.map((event) => (event.type === "notice" ? event.message.replace(/ ·.*/, "") : event.type));
		expect(types.findLastIndex((type) => /models\.json:1:2: /.test(type))).toBeGreaterThan(
			types.lastIndexOf("session_changed"),
		);
		await session.prompt("/new");
		expect(events.filter((event) => event.type === "notice" && /models\.json/.test(event.message))).toHaveLength(1);
	});
});

test("a session without a model uses one that was added to models.json", async () => {
	const provider = await startProvider();
	const agentDir = tempAgentDir();
	const session = await createAgentSession({
		cwd: tempDir(),
		home: tempDir(),
		env: { PI_CODING_AGENT_DIR: agentDir },
		session: { kind: "memory" },
		localServers: { ports: {} },
	});
	onTestFinished(() => session.dispose());
	await session.start();
	expect(session.model).toBeNull();
	writeFiles(agentDir, { "models.json": provider.modelsJson() });
	await session.prompt("/reload");
	expect(session.model?.id).toBe("scripted");
});

/** A hook whose start takes until the gate opens. */
const SLOW = `export default (pi) => pi.on("session", async ({ reason }) => { if (reason === "start") await globalThis.__reloadGate; });`;

test("a command of a hook waits for the reload that runs", async () => {
	let open = () => {};
	onTestFinished(() => void Reflect.deleteProperty(globalThis, "__reloadGate"));
	const { session, agentDir } = await startSession({
		hooks: {
			"a-slow.ts": SLOW,
			"old.ts": `export default (pi) => pi.command("old", { handler: () => ({ status: "version 1" }) });`,
		},
	});
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	Reflect.set(globalThis, "__reloadGate", opened);
	writeFiles(agentDir, {
		"hooks/fresh.ts": `export default (pi) => pi.command("fresh", { handler: () => ({ status: "fresh" }) });`,
		"hooks/old.ts": `export default (pi) => pi.command("old", { handler: () => ({ status: "version 2" }) });`,
	});
	const reloading = session.reload();
	const commands = [session.prompt("/fresh"), session.prompt("/old"), session.prompt("/gone")];
	const results = Promise.allSettled(commands);
	expect(await session.prompt("/name shop")).toMatchObject({ kind: "command" });
	expect(session.activity.state).toBe("switching");
	open();
	await reloading;
	expect(await results).toMatchObject([
		{ value: { status: "fresh" } },
		{ value: { status: "version 2" } },
		{ reason: { code: "bad_arguments", message: "Unknown command /gone" } },
	]);
});

test("/reload says that files have failed only of those that could not be used", async () => {
	const hook = (name: string) =>
		`export default (pi) => { pi.command("${name}", { handler() {} }); pi.command("both", { handler() {} }); };`;
	const { session, agentDir } = await startSession({ hooks: { "one.ts": hook("one"), "two.ts": hook("two") } });
	const status = async () => {
		const result = await session.prompt("/reload");
		return result.kind === "command" ? (result.status ?? "").split(" · ").slice(2) : [];
	};
	expect(await status()).toEqual(["problems: one.ts, two.ts"]);
	writeFiles(agentDir, { "hooks/three.ts": "export default 7;", "hooks/model.ts": hook("model") });
	expect(await status()).toEqual(["failed: three.ts", "problems: model.ts:1:29, one.ts, two.ts"]);
	writeFiles(agentDir, { "settings.json": { hooks: [`${agentDir}/absent.ts`] } });
	rmSync(join(agentDir, "hooks/three.ts"));
	expect(await status()).toEqual(["failed: absent.ts", "problems: model.ts:1:29, one.ts, two.ts"]);
});

test("/reload names a failed index.ts by its folder: hooks, tools and extensions", async () => {
	const { session, agentDir } = await startSession({});
	writeFiles(agentDir, {
		"hooks/gate/index.ts": "export default 7;",
		"tools/count/index.ts": "export default 7;",
		"extensions/plan/index.ts": "export default 7;",
	});
	const result = await session.prompt("/reload");
	const status = result.kind === "command" ? (result.status ?? "") : "";
	const failed = status.split(" · ").find((part) => part.startsWith("failed: ")) ?? "";
	expect(failed.replace("failed: ", "").split(", ").sort()).toEqual([
		"count/index.ts",
		"gate/index.ts",
		"plan/index.ts",
	]);
});

test("the problem of a hook file is gone with the first load that succeeds, also with /new", async () => {
	const cwd = tempDir();
	const path = join(cwd, "who.ts");
	writeFiles(cwd, { "who.ts": hook("old") });
	const { session } = await startSession({ cwd, hookFiles: [path] });
	writeFiles(cwd, { "who.ts": "export default (pi) => {" });
	await session.prompt("/reload");
	const broken = [expect.stringMatching(/who\.ts:1:\d+ did not load/)];
	expect(session.loaded.warnings).toEqual(broken);
	writeFiles(cwd, { "who.ts": "export default (pi) => { //" });
	await session.prompt("/new");
	expect(session.loaded.warnings).toEqual(broken);
	writeFiles(cwd, { "who.ts": hook("new") });
	await session.prompt("/new");
	expect(await session.prompt("/who")).toMatchObject({ status: "new" });
	expect(session.loaded.warnings).toEqual([]);
});

test("/reload does not count the task list as a hook", async () => {
	const { session } = await startSession({ userSettings: { features: { tasks: true } } });
	expect(await session.prompt("/reload")).toMatchObject({
		status: expect.stringMatching(/^only pi's own hooks loaded/),
	});
});
