import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { isCompactionEntry } from "../../src/log/entry.js";
import { createAgentSession } from "../../src/sdk/create-session.js";
import { httpError, text, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const files = (dir: string) => (existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".jsonl")) : []);

describe("the log of a session", () => {
	test("has the prompt on disk before the request is sent, and no file without a message", async () => {
		const sessionDir = tempDir();
		const { session, provider } = await startSession({ sessionDir, session: { kind: "new" } });
		expect(files(sessionDir)).toEqual([]);
		let onDisk = "";
		provider.on(() => {
			onDisk = readFileSync(session.sessionFile ?? "", "utf8");
			return "a1";
		});
		await session.prompt("remember me");
		expect(onDisk.split("\n").map((line) => line && JSON.parse(line).type)).toEqual(["session", "message", ""]);
		expect(onDisk).toContain("remember me");
	});

	test("is continued by --continue with the same model, thinking level and context", async () => {
		const sessionDir = tempDir();
		const agentDir = tempAgentDir();
		const first = await startSession({
			sessionDir,
			agentDir,
			session: { kind: "new" },
			modelOptions: { reasoning: true },
		});
		first.provider.reply("a1");
		await first.session.prompt("one");
		first.session.setThinkingLevel("high");
		const { sessionFile } = first.session;
		await first.session.dispose();

		const second = await startSession({ sessionDir, agentDir, session: { kind: "continue" }, model: undefined });
		expect(second.session.sessionFile).toBe(sessionFile);
		expect(second.session.model?.id).toBe("scripted");
		expect(second.session.thinkingLevel).toBe("high");
		second.provider.reply("a2");
		await second.session.prompt("two");
		expect(second.sent(1)).toEqual(["user: one", "assistant: a1", "user: two"]);
	});

	test("refuses a second pi on the same file and names the owner's pid; --continue uses another file", async () => {
		const sessionDir = tempDir();
		const { session, provider, agentDir, cwd } = await startSession({ sessionDir, session: { kind: "new" } });
		provider.reply("a1");
		await session.prompt("one");
		const options = {
			sessionDir,
			cwd,
			env: { PI_CODING_AGENT_DIR: agentDir },
			localServers: { ports: {} },
			model: "loopback/scripted",
		};
		await expect(
			createAgentSession({ ...options, session: { kind: "open", target: session.sessionFile ?? "" } }),
		).rejects.toMatchObject({ code: "log_locked", message: expect.stringContaining(String(process.pid)) });
		const other = await createAgentSession({ ...options, session: { kind: "continue" } });
		expect(other.sessionFile).not.toBe(session.sessionFile);
		await other.dispose();
		const copy = await createAgentSession({
			...options,
			session: { kind: "open", target: session.sessionFile ?? "", copy: true },
		});
		expect(copy.entries.slice(1)).toEqual(session.entries.slice(1));
		expect(copy.entries[0]).toMatchObject({ branchedFrom: session.sessionFile });
		await copy.dispose();
	});

	test.each([
		["a directory", (dir: string) => dir],
		[
			"a file of another program",
			(dir: string) => {
				writeFileSync(join(dir, "notes.txt"), "dear diary\n");
				return join(dir, "notes.txt");
			},
		],
	])("refuses %s by name and leaves it unchanged", async (_, make) => {
		const target = make(tempDir());
		const before = existsSync(target) && !target.endsWith(".txt") ? null : readFileSync(target, "utf8");
		await expect(startSession({ session: { kind: "open", target }, sessionDir: tempDir() })).rejects.toThrow(target);
		if (before !== null) expect(readFileSync(target, "utf8")).toBe(before);
	});
});

describe("changing the session", () => {
	test("a branch copies the entries before a message and returns its text", async () => {
		const sessionDir = tempDir();
		const { session, provider, sent } = await startSession({ sessionDir, session: { kind: "new" } });
		provider.reply("a1", "a2", "b2");
		await session.prompt("one");
		await session.prompt("two");
		const original = session.sessionFile;
		expect(await session.branch(3)).toBe("two");
		expect(session.sessionFile).not.toBe(original);
		expect(session.entries[0]).toMatchObject({ branchedFrom: original });
		await session.prompt("other two");
		expect(sent(3)).toEqual(["user: one", "assistant: a1", "user: other two"]);
		expect(files(sessionDir).length).toBe(2);
	});

	test("/resume lists the other sessions and switches", async () => {
		const sessionDir = tempDir();
		const { session, provider } = await startSession({
			sessionDir,
			session: { kind: "new" },
			ui: { select: async <T>(_: string, options: readonly unknown[]) => (options[0] as { value: T }).value },
		});
		provider.reply("a1", "a2");
		await session.prompt("first session");
		const original = session.sessionFile;
		await session.prompt("/new");
		await session.prompt("second session");
		await session.prompt("/resume");
		expect(session.sessionFile).toBe(original);
		expect(session.entries.length).toBe(3);
	});

	test("/name sets the name, and a resumed session has it", async () => {
		const { session } = await startSession();
		await session.prompt("/name  my work ");
		expect(session.sessionName).toBe("my work");
	});
});

describe("compaction", () => {
	const SMALL = { compaction: { enabled: true, reserveTokens: 900, keepRecentTokens: 10 } };

	test("starts automatically when the window is nearly full", async () => {
		const { session, provider, sent, events } = await startSession({
			userSettings: SMALL,
			modelOptions: { contextWindow: 8192 },
		});
		provider.reply("a1", { content: [text("b1")], usage: { input: 6200, output: 2000 } }, "SUMMARY", "c1");
		await session.prompt(`one ${"and more ".repeat(300)}`);
		await session.prompt("two");
		const ended = events.find(({ type }) => type === "auto_compaction_end");
		expect(ended).toMatchObject({ aborted: false, result: { type: "compaction", summary: "SUMMARY" } });
		await session.prompt("three");
		expect(sent(4)[0]).toContain("SUMMARY");
	});

	test("after an overflow sends the request again, shorter, and does not log the failure", async () => {
		const turns = `export default (pi) => {
			for (const event of ["turn_start", "turn_end"])
				pi.on(event, ({ turnIndex }, { ui }) => ui.notify(event + " " + turnIndex));
		};`;
		const hooked: string[] = [];
		const { session, provider, sent, events } = await startSession({
			userSettings: { compaction: { enabled: true, reserveTokens: 1, keepRecentTokens: 5 } },
			hooks: { "turns.ts": turns },
			ui: { notify: (text) => void hooked.push(text) },
		});
		provider.reply("a1", httpError(400, {}, "prompt is too long: 300000 tokens > 200000 maximum"), "SHORT", "fine");
		await session.prompt(`one ${"and more ".repeat(300)}`);
		await session.prompt("two");
		expect(sent(4)).toEqual([expect.stringContaining("SHORT"), "user: two"]);
		expect(session.entries.map(({ type }) => type)).toEqual([
			"session",
			"message",
			"message",
			"message",
			"compaction",
			"request_usage",
			"message",
		]);
		const turn = ["turn_start 0", "turn_end 0"];
		const emitted = events.flatMap((event) =>
			event.type === "turn_start" || event.type === "turn_end" ? [`${event.type} ${event.turnIndex}`] : [],
		);
		expect(emitted).toEqual([...turn, ...turn]);
		expect(hooked).toEqual([...turn, ...turn]);
	});

	test("reports when there is nothing to compact, and writes the summary itself when the model returns none", async () => {
		const { session, provider, notices } = await startSession({
			userSettings: { ...SMALL, retry: { enabled: false } },
		});
		await expect(session.compact()).rejects.toMatchObject({ code: "compaction_failed" });
		provider.reply("a1", "a2", httpError(400, {}, "no"));
		await session.prompt("one");
		await session.prompt("two");
		await session.compact();
		expect(notices().join()).toContain("Scripted returned no summary");
		const compaction = session.entries.find(isCompactionEntry);
		expect(compaction?.details).toMatchObject({ model: null, reason: expect.stringContaining("returned no summary") });
		expect(compaction?.summary).toContain("- one");
	});
});

describe("/compact", () => {
	const TASK = "rename the price field of every product to amount, and tell me which callers change";
	const READ = [toolCall("read", { path: "a.txt" })];

	test("anyway also replaces recent messages, with a focus", async () => {
		const { session, provider } = await startSession();
		provider.reply("Long answer. ".repeat(30), "## Goal\nShort.");
		await session.prompt("one");
		await session.prompt("/compact anyway the names");
		expect(provider.requests[1]?.messages.at(-1)?.text).toContain("particular attention to: the names");
		expect(session.entries.find(isCompactionEntry)?.summary).toContain("Short.");
	});

	test("refuses without asking the model when even an empty summary would not shorten the context", async () => {
		const { session, provider } = await startSession();
		provider.reply("a1", "a2");
		await session.prompt("one");
		await expect(session.prompt("/compact")).rejects.toMatchObject({
			message:
				"There is nothing to compact yet: the last 20,000 tokens stay as they are (setting compaction.keepRecentTokens)",
			hint: "/compact anyway includes them",
		});
		await session.prompt("two");
		await expect(session.prompt("/compact")).rejects.toThrow(
			/^A summary would not shorten the context: \d+ → at least \d+ tokens$/,
		);
		expect(provider.requests).toHaveLength(2);
		expect(session.entries.map(({ type }) => type)).not.toContain("compaction");
	});

	test("refuses a summary that is longer than what it replaces, with figures", async () => {
		const { session, provider } = await startSession({ userSettings: { compaction: { keepRecentTokens: 10 } } });
		provider.reply(`a1 ${"x".repeat(400)}`, "a2", "word ".repeat(200));
		await session.prompt("one");
		await session.prompt("two");
		await expect(session.prompt("/compact")).rejects.toThrow(
			/^A summary would not shorten the context: \d+ → \d+ tokens$/,
		);
		expect(session.entries.map(({ type }) => type)).not.toContain("compaction");
	});

	test("refuses to summarize only the summary of the last compaction again", async () => {
		const { session, provider } = await startSession({ userSettings: { compaction: { keepRecentTokens: 10 } } });
		provider.reply(`a1 ${"x".repeat(4000)}`, `a2 ${"y".repeat(400)}`, "word ".repeat(100));
		await session.prompt("one");
		await session.prompt("two");
		await session.prompt("/compact");
		const count = session.entries.length;
		await expect(session.prompt("/compact")).rejects.toThrow(
			/^There is nothing to compact yet: the last 10 tokens stay/,
		);
		expect([provider.requests.length, session.entries.length]).toEqual([3, count]);
	});

	test("keeps the only task verbatim in the next request", async () => {
		const { session, provider, sent } = await startSession({
			files: { "a.txt": "price ".repeat(400) },
			userSettings: { compaction: { keepRecentTokens: 5 } },
		});
		provider.reply(READ, "I have read it.", "## Done\na.txt was read", "fine");
		await session.prompt(TASK);
		await session.prompt("/compact");
		await session.prompt("go on");
		expect(sent(4)[0]).toContain("## Done\na.txt was read");
		expect(sent(4)[1]).toBe(`user: ${TASK}`);
	});
});

test("a prompt sent while a run is ending starts a new run", async () => {
	const { session, provider, sent } = await startSession();
	provider.reply("a1", "a2");
	let late: Promise<unknown> = Promise.resolve();
	session.subscribe((event) => {
		if (event.type === "agent_end" && provider.requests.length === 1) late = session.prompt("just in time");
	});
	await session.prompt("one");
	await late;
	expect(sent(2)).toEqual(["user: one", "assistant: a1", "user: just in time"]);
});

test("a prompt sent while the context is computed gets its own request", async () => {
	const { session, provider, sent } = await startSession({
		hooks: {
			"slow.ts": `export default (pi) => pi.on("context", () => new Promise((resolve) => { (globalThis.__release ??= []).push(resolve); }));`,
		},
		userSettings: { hookTimeout: 200 },
	});
	provider.reply("a1");
	void session.rebuildContext();
	await session.prompt("one");
	expect(sent(1)).toEqual(["user: one"]);
	Reflect.deleteProperty(globalThis, "__release");
});

describe("models", () => {
	test("suggests the nearest model for an unknown name", async () => {
		await expect(startSession({ model: "scriptd" })).rejects.toMatchObject({
			code: "model_unknown",
			hint: expect.stringContaining("scripted"),
		});
	});

	test("names /model as the list for a name that resembles no other", async () => {
		const { session } = await startSession();
		await expect(session.prompt("/model zzzzzzzzzzz")).rejects.toMatchObject({
			code: "model_unknown",
			hint: "list them with pi models list",
		});
	});

	test("opens the session without any model; a prompt reports what to do", async () => {
		const session = await createAgentSession({
			cwd: tempDir(),
			home: tempDir(),
			env: { PI_CODING_AGENT_DIR: tempAgentDir() },
			session: { kind: "memory" },
			localServers: { ports: {} },
		});
		await session.start();
		await expect(session.prompt("hi")).rejects.toMatchObject({
			code: "model_missing",
			hint: expect.stringContaining("pi --demo"),
		});
		await session.dispose();
	});

	test("cycles with Ctrl+P through the models of --models, and the next request uses the new one", async () => {
		const { session, provider } = await startSession({ models: ["loopback/scripted", "loopback-anthropic/scripted"] });
		await session.cycleModel(1);
		expect(session.model?.provider).toBe("loopback-anthropic");
		provider.reply("a1");
		await session.prompt("one");
		expect(provider.requests[0]?.api).toBe("anthropic-messages");
		expect(session.entries.map(({ type }) => type)).toEqual(["session", "model_change", "message", "message"]);
	});

	test("a broken settings, models or hook file is reported with its line, and everything else works", async () => {
		const agentDir = tempAgentDir({
			files: { "settings.json": '{\n  "theme": "dark",\n  oops\n}' },
			hooks: { "bad.ts": "const = 1" },
		});
		const { session, provider } = await startSession({ agentDir });
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(/settings\.json.*(3|line 3)/),
			expect.stringMatching(/bad\.ts:1/),
		]);
		provider.reply("fine");
		await session.prompt("hi");
		expect(session.entries.length).toBe(3);
		expect(readFileSync(join(agentDir, "settings.json"), "utf8")).toContain("oops");
	});

	test.each(["vim notes.md", "sudo nano /etc/hosts", "vi"])(
		"! %s is refused, because it would wait for keys",
		async (command) => {
			const { session } = await startSession();
			await expect(session.runBash(command)).rejects.toThrow(/needs a terminal, which commands in pi do not have/);
			await session.runBash("echo vim | cat; echo nano");
			expect(session.entries.at(-1)).toMatchObject({ message: { output: "vim\nnano" } });
		},
	);

	test("a prompt template and a skill are commands", async () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, {
			"prompts/review.md": "---\ndescription: Review\n---\nReview $1 with care",
			"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Work with PDF\n---\nUse pdftotext.",
		});
		const { session, provider, sent } = await startSession({ agentDir });
		provider.reply("a", "b");
		await session.prompt("/review src");
		await session.prompt("/skill:pdf read it");
		expect(sent(1)).toEqual(["user: Review src with care"]);
		expect(sent(2).at(-1)).toMatch(/Use pdftotext\.[\s\S]*read it/);
	});
});

describe("entries that a hook saves when a session starts", () => {
	const hooks = {
		"mine.ts": `export default (pi) => {
			pi.on("session", async (event, ctx) => {
				if (event.reason === "start") await ctx.saveEntry({ type: "mine", at: await ctx.saveEntry({ type: "mine" }) });
			});
		};`,
	};

	test("leave no file of a session that is not used", async () => {
		const started = await startSession({ hooks, session: { kind: "new" } });
		expect(started.session.entries.map(({ type }) => type)).toEqual(["session", "mine", "mine"]);
		await started.session.dispose();
		expect(existsSync(started.session.sessionFile ?? "")).toBe(false);
	});

	test.each([
		[
			"in the background",
			`pi.on("session", (_, ctx) => void Promise.resolve().then(() => ctx.saveEntry({ type: "mine" })));`,
		],
		[
			"that names it",
			`pi.on("session", ({ reason }, ctx) => { if (reason === "start") ctx.setSessionName("mine"); });`,
		],
		[
			"that changes the thinking level",
			`pi.on("session", async ({ reason }, ctx) => {
				if (reason === "start") { await ctx.saveEntry({ type: "mine" }); ctx.setThinkingLevel("high"); }
			});`,
		],
		[
			"when the model or the level changes",
			`pi.on("thinking_level_changed", async (_, ctx) => { await ctx.saveEntry({ type: "mine" }); });`,
		],
	])("leave no file if a handler %s saves them", async (_, body) => {
		const started = await startSession({
			hooks: { "mine.ts": `export default (pi) => { ${body} };` },
			session: { kind: "new" },
			modelOptions: { reasoning: true },
		});
		const { session } = started;
		session.setThinkingLevel("low");
		await vi.waitFor(() => expect(session.entries.length).toBeGreaterThan(1));
		await session.dispose();
		expect(existsSync(session.sessionFile ?? "")).toBe(false);
	});

	test("are written at once by a command", async () => {
		const command = `export default (pi) => {
			pi.command("mine", { handler: async (ctx) => { await ctx.saveEntry({ type: "mine" }); ctx.setSessionName("mine"); } });
		};`;
		const { session } = await startSession({ hooks: { "mine.ts": command }, session: { kind: "new" } });
		await session.prompt("/mine");
		const text = readFileSync(session.sessionFile ?? "", "utf8");
		expect(text.match(/"type":"\w+"/g)).toEqual(['"type":"session"', '"type":"mine"', '"type":"session_info"']);
	});

	test("are written with its first message, in their places", async () => {
		const started = await startSession({ hooks, session: { kind: "new" } });
		started.provider.reply("hi");
		await started.session.prompt("hello");
		const file = started.session.sessionFile ?? "";
		await started.session.dispose();
		const types = readFileSync(file, "utf8")
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line).type);
		expect(types).toEqual(started.session.entries.map(({ type }) => type));
		expect(types.slice(0, 3)).toEqual(["session", "mine", "mine"]);
		const again = await startSession({ hooks, session: { kind: "open", target: file }, agentDir: started.agentDir });
		expect(again.session.entries.filter(({ type }) => type === "mine")).toHaveLength(4);
	});
});
