import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { SharedRequests } from "../../src/context-bench/bench.js";
import type { SessionHandle } from "../../src/hooks/types.js";
import { isMessageEntry, isRequestUsageEntry } from "../../src/log/entry.js";
import type { AgentSession } from "../../src/sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../src/sdk/create-session.js";
import { UsageIndex } from "../../src/usage/usage-index.js";
import { run } from "../cli/subcommands/run.js";
import { type JsonObject, objects } from "../helpers/json.js";
import {
	LOOPBACK_PROVIDERS,
	type LoopbackApi,
	type ProviderRequest,
	text,
	thinking,
	toolCall,
} from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { hook, share } from "../hooks/support.js";

/** Passes `ctx.session` on, and has a tool in which a test may run. */
const PARENT = hook(`
	pi.on("session", (_, ctx) => globalThis.__handle?.(ctx.session));
	pi.tool({ name: "outer", description: "d", parameters: { type: "object", properties: {} }, async run(_, { ctx }) {
		return { content: [{ type: "text", text: await globalThis.__outer(ctx) }] };
	} });`);

/** A session, and forks of it. */
async function start(options: TestSessionOptions = {}) {
	let handle: SessionHandle | null = null;
	share("__handle", (given: SessionHandle) => {
		handle ??= given;
	});
	const t = await startSession({ ...options, hooks: { "parent.ts": PARENT, ...options.hooks } });
	const fork = async (own: CreateAgentSessionOptions = {}) => {
		const session = await createAgentSession({
			parent: handle ?? expect.fail("no handle"),
			from: t.session.entries.length,
			...own,
		});
		onTestFinished(() => session.dispose());
		await session.start();
		return session;
	};
	return { ...t, fork };
}

/** The parts of a request in the order in which a provider caches them, without cache markers. */
function cachedForm(body: JsonObject): string[] {
	const { tools, system, instructions } = body;
	const withoutMarkers = (key: string, value: unknown) => (key === "cache_control" ? undefined : value);
	const blocks = objects(body.messages ?? body.input).flatMap(({ content, ...rest }) => {
		const list = Array.isArray(content)
			? content
			: [typeof content === "string" ? { type: "text", text: content } : content];
		return list.map((part) => ({ ...rest, part }));
	});
	return [{ tools, system, instructions }, ...blocks].map((part) => JSON.stringify(part, withoutMarkers));
}

/** Everything else of a request. */
function parameters({ messages: _, input: __, system: ___, ...rest }: JsonObject): string {
	return JSON.stringify(rest, (key, value) => (key === "cache_control" ? undefined : value));
}

const APIS: readonly LoopbackApi[] = ["anthropic-messages", "openai-responses", "openai-completions"];

/** What tells a provider which cache to use, besides the body. */
function affinity({ headers }: ProviderRequest): unknown {
	return headers["x-session-affinity"] ?? headers["x-client-request-id"];
}

describe.each(APIS)("over %s", (api) => {
	const place = (): TestSessionOptions => ({
		model: `${LOOPBACK_PROVIDERS[api]}/scripted`,
		thinkingLevel: "high",
		modelOptions: {
			apis: APIS,
			reasoning: true,
			contextWindow: 1_000_000,
			compat: { sendSessionAffinityHeaders: true },
		},
		files: { "notes.txt": "a note\n", "AGENTS.md": "Be brief.\n" },
		session: { kind: "new" },
		sessionDir: tempDir(),
		userSettings: { cacheRetention: "long" },
	});

	test("the first request of a fork begins with the bytes of the parent's last one, with its parameters and cache key", async () => {
		const { session, provider, fork, cwd, agentDir } = await start({
			...place(),
			hooks: {
				"tail.ts": hook(`pi.on("context", ({ messages, systemPrompt }) => ({
					messages: messages.filter(({ message }) => !JSON.stringify(message.content).includes("hide me")),
					systemPrompt: [...systemPrompt, { id: "tail:rule", text: "A rule." }],
				}));`),
			},
		});
		provider.reply(
			[thinking("hm"), toolCall("read", { path: "notes.txt" })],
			"one",
			[thinking("so"), text("two")],
			"last",
			"aside",
		);
		await session.prompt("first");
		await session.prompt("hide me");
		await session.prompt("second");
		const last = provider.requests.at(-1) ?? expect.fail("no request");
		// What a computation of today would use.
		writeFiles(cwd, { "AGENTS.md": "Be verbose.\n" });
		writeFiles(agentDir, { "AGENTS.md": "In all projects.\n" });
		const forked = await fork();
		await forked.send("question");
		const request = provider.requests.at(-1) ?? expect.fail("no request");
		const [before, after] = [cachedForm(last.body), cachedForm(request.body)];
		expect(after.slice(0, before.length)).toEqual(before);
		expect(request.messages.slice(last.messages.length).map(({ role, text }) => [role, text])).toEqual([
			["assistant", "last"],
			["user", "question"],
		]);
		expect(parameters(request.body)).toBe(parameters(last.body));
		expect([affinity(request), affinity(last)]).toEqual([session.sessionId, session.sessionId]);
		expect(JSON.stringify(request.body)).toContain("A rule.");
		if (api === "openai-responses") expect(request.body.prompt_cache_key).toBe(session.sessionId);
		expect(provider.violations).toEqual([]);
	});

	test("a fork in a tool gives the open calls results, after what it shares with the parent", async () => {
		const { session, provider, fork } = await start(place());
		let forked: ProviderRequest | undefined;
		share("__outer", async () => {
			const sub = await fork({ session: { kind: "memory" } });
			await sub.send("question");
			forked = provider.requests.at(-1);
			return "done";
		});
		provider.reply([toolCall("outer", {})], "aside", "end");
		await session.prompt("go");
		const [first] = provider.requests;
		const [before, after] = [cachedForm(first?.body ?? {}), cachedForm(forked?.body ?? {})];
		expect(after.slice(0, before.length)).toEqual(before);
		expect(forked?.messages.slice(2).map(({ role }) => role)).toEqual(["assistant", "tool", "user"]);
		expect(provider.violations).toEqual([]);
	});
});

test("a session without a directory branches into memory, also from a file that it has opened", async () => {
	const before = await startSession({ session: { kind: "new" }, sessionDir: tempDir() });
	before.provider.reply("one");
	await before.session.prompt("first");
	await before.session.dispose();
	const { session } = await startSession();
	await session.switchSession(before.session.sessionFile ?? "");
	expect(await session.branch(1)).toBe("first");
	expect(session.sessionFile).toBeNull();
});

describe("a fork", () => {
	const saved = (): TestSessionOptions => ({ session: { kind: "new" }, sessionDir: tempDir() });

	test("has copies of the entries in a file next to the parent's, which adds nothing to the parent but its usage", async () => {
		const { session, provider, fork } = await start(saved());
		provider.reply("one", "two");
		await session.prompt("first");
		const before = session.entries;
		const forked = await fork();
		await forked.send("question");
		const parentFile = session.sessionFile ?? "";
		expect(dirname(forked.sessionFile ?? "")).toBe(parentFile.replace(/\.jsonl$/, ".agents"));
		expect(forked.entries.slice(1, before.length)).toEqual(before.slice(1));
		expect(forked.entries[0]).toMatchObject({ type: "session", branchedFrom: parentFile });
		expect(forked.sessionId).not.toBe(session.sessionId);
		const added = session.entries.slice(before.length);
		expect(added).toEqual([expect.objectContaining({ type: "request_usage", purpose: "hook parent" })]);
	});

	test("in memory leaves no file", async () => {
		const { session, provider, fork } = await start(saved());
		provider.reply("one", "two");
		await session.prompt("first");
		const forked = await fork({ session: { kind: "memory" } });
		await forked.send("question");
		expect(forked.sessionFile).toBeNull();
		expect(existsSync((session.sessionFile ?? "").replace(/\.jsonl$/, ".agents"))).toBe(false);
		expect(provider.requests[1]?.messages.map(({ text }) => text).slice(1)).toEqual(["first", "one", "question"]);
	});

	test("begins before an entry, with the model and level of the last request before it", async () => {
		const { session, provider, fork } = await start({
			...saved(),
			modelOptions: { reasoning: true },
			thinkingLevel: "low",
		});
		provider.reply("one", "two", "aside");
		await session.prompt("first");
		const from = session.entries.length;
		await session.setModel("loopback-anthropic/scripted");
		session.setThinkingLevel("high");
		await session.prompt("second");
		const forked = await fork({ from });
		expect([forked.model?.provider, forked.thinkingLevel]).toEqual(["loopback", "low"]);
		await forked.send("question");
		expect(provider.requests[2]?.messages.map(({ text }) => text).slice(1)).toEqual(["first", "one", "question"]);
		const current = await fork();
		expect([current.model?.provider, current.thinkingLevel]).toEqual(["loopback-anthropic", "high"]);
	});

	test("of a fork has the cache key of the first parent", async () => {
		const { session, provider, fork } = await start({
			...saved(),
			model: "loopback-responses/scripted",
			modelOptions: { apis: APIS },
		});
		provider.reply("one", "two", "three");
		await session.prompt("first");
		const handles: SessionHandle[] = [];
		const forked = await fork({ hooks: [(pi) => pi.on("session", (_, ctx) => void handles.push(ctx.session))] });
		await forked.send("question");
		const second = await createAgentSession({ parent: handles[0] ?? expect.fail(), from: forked.entries.length });
		onTestFinished(() => second.dispose());
		await second.start();
		await second.send("again");
		expect(provider.requests.map(({ body }) => body.prompt_cache_key)).toEqual(Array(3).fill(session.sessionId));
		await forked.newSession();
		provider.reply("four");
		await forked.send("new");
		expect(provider.requests[3]?.body.prompt_cache_key).toBe(forked.sessionId);
	});

	test("sends what its own options and hooks change, and the rest as recorded", async () => {
		const { session, provider, fork, cwd } = await start({ ...saved(), files: { "AGENTS.md": "Be brief.\n" } });
		provider.reply("one");
		await session.prompt("first");
		writeFiles(cwd, { "AGENTS.md": "Be verbose.\n" });
		const sent = async (own: CreateAgentSessionOptions) => {
			provider.reply("ok");
			const forked = await fork(own);
			await forked.send("question");
			return provider.requests.at(-1) ?? expect.fail();
		};
		const names = ({ body }: ProviderRequest) => objects(body.tools).map((tool) => Object(tool.function).name);
		const first = names(provider.requests[0] ?? expect.fail());
		const prompted = await sent({ systemPrompt: "You are short." });
		expect(prompted.messages[0]?.text).toMatch(/^You are short\.[\s\S]*Be verbose/);
		expect(names(await sent({ tools: ["read"] }))).toEqual(["read"]);
		const extra = await sent({
			hooks: [
				function own(pi) {
					pi.tool({
						name: "own_tool",
						description: "d",
						parameters: { type: "object", properties: {} } as never,
						run: () => ({ content: [] }),
					});
				},
			],
		});
		expect(names(extra)).toEqual([...first, "own_tool"]);
		expect(extra.messages[0]?.text).toContain("Be brief.");
		expect(extra.messages[0]?.text).toContain("- own_tool:");
		const off = await sent({
			hooks: [(pi) => pi.on("session", (_, { tools }) => tools.setActive(["read", "ls"]))],
		});
		expect(names(off)).toEqual(first.filter((name) => name === "read" || name === "ls"));
	});

	test("shares the beginning also if the notes of the project have changed", async () => {
		const { session, provider, fork } = await start({
			...saved(),
			hookFiles: [fileURLToPath(new URL("../../hooks-examples/notes.ts", import.meta.url))],
		});
		provider.reply([toolCall("note", { add: "Tests: npm test" })], "noted", "aside");
		await session.prompt("first");
		const forked = await fork();
		await forked.send("question");
		const [last, request] = provider.requests.slice(-2).map(({ body }) => cachedForm(body));
		expect(request?.slice(0, last?.length)).toEqual(last);
	});

	test.each<[string, object, string]>([
		["0", { from: 0 }, "from must be a number of entries from 1 to "],
		["more than there are", { from: 99 }, "from must be a number of entries from 1 to "],
		["a fraction", { from: 1.5 }, "from must be a number of entries from 1 to "],
		["a text", { from: "1" }, "from must be a number"],
		["no parent", { parent: undefined }, "from needs a parent"],
		["another session", { session: { kind: "continue" } }, "session.kind must be new or memory with from"],
	])("is refused: %s", async (_, own, message) => {
		const { session, provider, fork } = await start(saved());
		provider.reply("one");
		await session.prompt("first");
		const error = await fork(own).catch((error: unknown) => Object(error));
		expect([error.code, error.message]).toEqual(["bad_arguments", expect.stringContaining(message)]);
	});

	test("of a session in memory cannot have a file", async () => {
		const { fork } = await start();
		await expect(fork({ session: { kind: "new" } })).rejects.toMatchObject({ code: "bad_arguments" });
		expect((await fork()).sessionFile).toBeNull();
	});

	test("is counted once, by usage, budget and bench", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		const { session, provider, fork } = await start({
			...saved(),
			...{
				agentDir,
				sessionDir,
				model: "loopback/scripted",
				modelOptions: { cost: { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0 } },
			},
			userSettings: { budget: { perSession: 25 } },
		});
		const usage = { input: 10, output: 1 };
		provider.reply(
			{ text: "one", usage } as never,
			{ text: "aside", usage } as never,
			{ text: "aside 2", usage } as never,
		);
		await session.prompt("first");
		const forked = await fork();
		await forked.send("question");
		await forked.dispose();
		expect(session.stats().cost).toBe(20);
		// The copied request would exceed the budget.
		const other = await fork();
		expect(await other.send("again")).toMatchObject({ outcome: { stopped: null } });
		const dirs = [sessionDir, (session.sessionFile ?? "").replace(/\.jsonl$/, ".agents")];
		const counted = async (list: string[]) => {
			const index = new UsageIndex(`${tempDir()}/usage.json`, () => list);
			await index.refresh();
			return [...index.requests()].length;
		};
		expect(await counted(dirs.slice(0, 1))).toBe(3);
		const bench = new SharedRequests();
		expect(bench.add(session.entries).size).toBe(0);
		expect(bench.add(forked.entries).size).toBe(1);
		expect(session.entries.filter(isRequestUsageEntry)).toHaveLength(2);
	});

	test("can be computed again from its file", async () => {
		const { session, provider, fork, agentDir, cwd } = await start(saved());
		provider.reply([toolCall("outer", {})], "aside", "end");
		let file = "";
		share("__outer", async () => {
			const forked: AgentSession = await fork();
			await forked.send("question");
			file = forked.sessionFile ?? "";
			await forked.dispose();
			return "done";
		});
		await session.prompt("go");
		const replies = readFileSync(file, "utf8")
			.split("\n")
			.filter((line) => line.includes('"role":"assistant"'));
		expect(replies).toHaveLength(2);
		const parsed = parseArgs(["context", "--verify", "--session", file]);
		if (parsed.kind !== "subcommand") throw new Error("not a subcommand");
		const { code, stdout } = await run(parsed.command, { agentDir, cwd, ...parsed.options });
		expect([code, stdout]).toEqual([0, "All 2 requests match the recorded ones\n"]);
		expect(session.entries.filter(isMessageEntry)).toHaveLength(4);
	});
});

test("a fork does not offer the tool for an answer that the parent was asked for", async () => {
	const { session, provider, fork } = await start();
	provider.reply([toolCall("answer", { city: "Paris" })], "Hello.");
	const outputSchema = { type: "object", properties: { city: { type: "string" } } };
	expect(await session.prompt("which city?", { outputSchema })).toMatchObject({
		outcome: { structured: { city: "Paris" } },
	});
	await (await fork()).prompt("hi");
	const offers = provider.requests.map(({ body }) => JSON.stringify(body.tools).includes('"answer"'));
	expect(offers).toEqual([true, false]);
});
