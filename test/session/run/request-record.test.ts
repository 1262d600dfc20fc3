import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isMessageEntry } from "../../../src/log/entry.js";
import { describeContext } from "../../../src/session/describe-context.js";
import { run } from "../../cli/subcommands/run.js";
import { isObject, objects } from "../../helpers/json.js";
import { LOOPBACK_PROVIDERS, type LoopbackProvider, text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { share } from "../../hooks/support.js";

const REQUESTS = 100;

/** Changes messages, sections and tools at once, differently from request to request, by the entries alone. */
const SHAPE = `
export default (pi) => pi.on("context", ({ entries, messages, systemPrompt, tools }) => {
	const n = entries.length;
	const names = tools.map(({ name }) => name);
	const offered = n % 5 === 0 ? names.filter((_, at) => at % 2 === 0) : n % 7 === 0 ? [...names].reverse() : names;
	const kept = n % 3 === 0 ? systemPrompt.filter(({ id }) => id !== "context-files") : [...systemPrompt];
	if (n % 4 === 0) kept.push({ id: "a-shape:turn", text: "Step " + (n % 12) });
	const note = { role: "user", content: "[note " + (n % 6) + "]", timestamp: 0 };
	return { messages: n % 2 === 0 ? [note, ...messages] : messages, systemPrompt: kept, tools: offered };
});`;
/** Depends on what the first hook leaves; some of its answers are invalid. */
const SECOND = `
export default (pi) => pi.on("context", ({ entries, systemPrompt, tools }) => {
	const n = entries.length;
	if (n % 11 === 0) return { systemPrompt: [], tools: ["read"] };
	if (n % 13 === 0) return { tools: ["read", "fly"] };
	const rule = { id: "b-second:rule", text: systemPrompt.length + " sections, " + tools.length + " tools" };
	const base = systemPrompt.map((one) => (n % 9 === 0 && one.id === "base" ? { ...one, text: one.text + " Be brief." } : one));
	return { systemPrompt: n % 2 ? [rule, ...base] : base, ...(n % 8 === 0 && { tools: tools.slice(1).map(({ name }) => name) }) };
});`;
const MODELS = Object.values(LOOPBACK_PROVIDERS);
const APIS = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] as const;
/** A window in which all requests fit, over each wire format. */
const modelOptions = { contextWindow: 10_000_000, apis: APIS };
const HOOKS = { "a-shape.ts": SHAPE, "b-second.ts": SECOND };
const SKILL = "---\nname: pdf\ndescription: Read PDFs\n---\nRead them.\n";

function toolNames(provider: LoopbackProvider, request: number): unknown[] {
	const tools = objects(provider.requests.at(request)?.body.tools);
	const declared = tools.flatMap((tool) =>
		"functionDeclarations" in tool ? objects(tool.functionDeclarations) : [tool],
	);
	return declared.map((tool) => (isObject(tool.function) ? tool.function.name : tool.name));
}

const systemOf = ({ requests }: LoopbackProvider, request: number) =>
	requests.at(request)?.messages.find(({ role }) => role === "system")?.text ?? "";

async function verify({ agentDir, cwd, session }: TestSession, place: { hooks?: string[] } = {}) {
	const { stdout, code } = await run(
		{ name: "context", verify: true },
		{ agentDir, cwd, session: session.sessionFile ?? "", ...place },
	);
	return { stdout: stdout.trim(), code };
}

/** Answers with tool calls and texts; each fourth request ends a turn. */
function play(provider: LoopbackProvider): void {
	let count = 0;
	provider.on(async () =>
		++count % 4 === 0
			? [text(`answer ${count}`)]
			: [toolCall(count % 2 ? "ls" : "read", { path: count % 2 ? "." : "a.txt" })],
	);
}

describe("a session whose requests hooks shape", () => {
	test(`of ${REQUESTS} requests is verified, also after AGENTS.md, skills and tools changed`, async () => {
		const cwd = tempDir("pi-project-");
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "skills/pdf/SKILL.md": SKILL });
		const place = { agentDir, cwd, sessionDir: tempDir() };
		let test = await startSession({
			...place,
			session: { kind: "new" },
			hooks: HOOKS,
			files: { "AGENTS.md": "Use tabs.", "a.txt": "a" },
			modelOptions,
		});
		const { provider } = test;
		play(provider);
		for (let prompt = 0; provider.requests.length < REQUESTS; prompt++) {
			await test.session.prompt(`/model ${MODELS[prompt % MODELS.length]}/scripted`);
			await test.session.prompt(`prompt ${prompt}`);
			if (prompt !== REQUESTS / 10) continue;
			// Half of the session is computed with other instructions, skills and tools.
			const file = test.session.sessionFile ?? "";
			await test.session.dispose();
			writeFiles(cwd, { "AGENTS.md": "Use spaces." });
			rmSync(join(agentDir, "skills"), { recursive: true });
			test = await startSession({
				...place,
				provider,
				session: { kind: "open", target: file },
				tools: ["read", "ls", "grep", "edit"],
				modelOptions,
			});
		}
		const count = provider.requests.length;
		expect(count).toBeGreaterThanOrEqual(REQUESTS);
		// Every request reached the provider in a legal form, which the provider checks.
		expect(provider.violations).toEqual([]);
		expect(new Set(provider.requests.map(({ api }) => api)).size).toBe(4);
		for (const at of provider.requests.keys()) {
			const names = toolNames(provider, at);
			expect(names).not.toEqual([]);
			expect(new Set(names).size).toBe(names.length);
			expect(systemOf(provider, at)).not.toBe("");
		}
		expect(new Set(provider.requests.map((_, at) => systemOf(provider, at))).size).toBeGreaterThan(15);
		expect(test.events.filter(({ type }) => type === "hook_error").length).toBeGreaterThan(5);
		await test.session.dispose();
		expect(await verify(test)).toEqual({ stdout: `All ${count} requests match the recorded ones`, code: 0 });
		writeFiles(cwd, { "AGENTS.md": "Use nothing." });
		writeFiles(agentDir, { "skills/other/SKILL.md": SKILL.replace("pdf", "other") });
		expect(await verify(test)).toEqual({ stdout: `All ${count} requests match the recorded ones`, code: 0 });
		rmSync(join(agentDir, "hooks", "b-second.ts"));
		expect((await verify(test)).code).toBe(1);
	}, 120_000);

	test("names the section that differs when a hook has changed since", async () => {
		const rule = (said: string) =>
			`export default (pi) => pi.on("context", ({ systemPrompt }) => ({ systemPrompt: [...systemPrompt, { id: "rule:one", text: ${JSON.stringify(said)} }] }));`;
		const test = await startSession({ session: { kind: "new" }, hooks: { "rule.ts": rule("Be kind.") } });
		test.provider.reply("a1");
		await test.session.prompt("u1");
		await test.session.dispose();
		expect((await verify(test)).code).toBe(0);
		writeFiles(test.agentDir, { "hooks/rule.ts": rule("Be rude.") });
		const changed = await verify(test);
		expect(changed.code).toBe(1);
		expect(changed.stdout).toContain("same messages, but not the system prompt");
		expect(changed.stdout).toContain("Section rule:one is different now. rule.ts has changed since");
		rmSync(join(test.agentDir, "hooks", "rule.ts"));
		expect((await verify(test)).stdout).toContain(
			"Section rule:one is missing now. rule.ts was loaded then: load it with --hook ",
		);
	});

	test("is verified after an abort in its context handlers: the reply that no request was sent for has no context", async () => {
		const slow = `export default (pi) => pi.on("context", async ({ messages }) => {
			if (messages.length > 2) await globalThis.__third?.();
			return { messages: [{ role: "user", content: "[note]", timestamp: 0 }, ...messages] };
		});`;
		const test = await startSession({ session: { kind: "new" }, hooks: { "slow.ts": slow } });
		const { session, provider } = test;
		provider.reply("a1");
		await session.prompt("u1");
		share("__third", () => void session.abort());
		await session.prompt("u2");
		share("__third", undefined);
		provider.reply("a3");
		await session.prompt("u3");
		const replies = session.entries.filter((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
		expect(replies.map((entry) => isMessageEntry(entry) && entry.context !== undefined)).toEqual([true, false, true]);
		expect(provider.requests).toHaveLength(2);
		await session.dispose();
		expect(await verify(test)).toEqual({ stdout: "All 2 requests match the recorded ones", code: 0 });
	});

	test("costs few bytes for each reply while its system prompt and tools do not change", async () => {
		const test = await startSession({ session: { kind: "new" }, files: { "AGENTS.md": "x".repeat(20_000) } });
		const file = test.session.sessionFile ?? "";
		const sizes: number[] = [];
		for (let turn = 0; turn < 4; turn++) {
			test.provider.reply("a");
			await test.session.prompt("u");
			sizes.push(statSync(file).size);
		}
		expect(sizes[0]).toBeGreaterThan(20_000);
		const added = sizes.slice(1).map((size, at) => size - (sizes[at] ?? 0));
		expect(Math.max(...added)).toBeLessThan(1200);
		const records = test.session.entries.flatMap((entry) =>
			isMessageEntry(entry) && entry.context ? [entry.context] : [],
		);
		expect(records.slice(1).map(({ preamble }) => preamble)).toEqual([{ reply: 2 }, { reply: 2 }, { reply: 2 }]);
	});
});

test("an invalid section or tool is reported as a sentence, and the request goes out without the answer", async () => {
	const answers = ["{ systemPrompt: [...systemPrompt, systemPrompt[0]] }", '{ tools: ["read", "fly"], messages: [] }'];
	const hook = (answer: string) => `export default (pi) => pi.on("context", ({ systemPrompt }) => (${answer}));`;
	const hooks = Object.fromEntries(answers.map((answer, at) => [`h${at}.ts`, hook(answer)]));
	const { session, provider, notices } = await startSession({ hooks });
	provider.reply("a1");
	await session.prompt("u1");
	expect(new Set(notices())).toEqual(
		new Set([
			"context: systemPrompt[3] has the id of an earlier section; its answer was dropped",
			"context: tools[1] is not the name of a tool that is on; its answer was dropped",
		]),
	);
	expect(toolNames(provider, 0)).toHaveLength(8);
	const status = expect.stringMatching(
		/h1\.ts: tools\[1\] is not the name of a tool that is on\n\nso far .* tokens sent/,
	);
	expect(await session.prompt("/context")).toEqual({ kind: "command", status });
});

test("/context without a screen and pi context print sections and tools, and what a hook removed", async () => {
	const hook = `export default (pi) => pi.on("context", ({ systemPrompt, tools }) => ({
		tools: tools.slice(0, 6).map(({ name }) => name),
		systemPrompt: [...systemPrompt.filter(({ id }) => id !== "base"), { id: "look:x", text: "Only look." }],
	}));`;
	const test = await startSession({ session: { kind: "new" }, hooks: { "look.ts": hook } });
	test.provider.reply("a1");
	await test.session.prompt("u1");
	const lines = describeContext(await test.session.inspector.inspectContext());
	const shown = lines
		.filter((line) => /^[▎┆]/.test(line))
		.map((line) => line.replace(/ {2,}/g, " ").replace(/\d+ tok/, "N tok"));
	expect(shown).toEqual([
		"▎ tools N tok cached 6 tools: read, bash, edit, write, grep, find",
		expect.stringMatching(/^▎ system N tok cached tools: # Tools - read: /),
		expect.stringMatching(/^▎ system N tok cached environment: Date: /),
		"▎ system N tok cached look:x: Only look. (hook look)",
		"▎ 1 user N tok cached u1",
		"▎ 2 assistant N tok new a1",
		"┆ system base (by look)",
		"┆ tool ls (by look)",
		"┆ tool jobs (by look)",
	]);
	await test.session.dispose();
	const { agentDir, cwd } = test;
	const { stdout } = await run({ name: "context", verify: false }, { agentDir, cwd });
	expect(stdout).toMatch(/\n- +system +3 tok +cached +\S+look\.ts +look:x: Only look\.\n/);
	expect(stdout).toMatch(
		/\nhidden:\n- +system base +\d+ tok +by \S+look\.ts\n- +tool ls +\d+ tok +by \S+look\.ts\n- +tool jobs +\d+ tok +by \S+look\.ts\n/,
	);
});

test("the request without a hook has no tools of it, in /context and in pi context --without", async () => {
	const shout = `export default (pi) => {
		pi.tool({ name: "shout", description: "Shouts", parameters: { type: "object" }, run: async () => ({ content: [] }) });
		pi.on("context", () => {});
	};`;
	const test = await startSession({ session: { kind: "new" }, hooks: { "shout.ts": shout } });
	test.provider.reply("a1");
	await test.session.prompt("u1");
	const { inspector, loaded } = test.session;
	const path = loaded.hooks.find(({ name }) => name === "shout")?.path ?? "";
	const { preamble } = (await inspector.inspectContext({ without: new Set([path]) })).context;
	expect(preamble.tools.map(({ name }) => name)).not.toContain("shout");
	expect(preamble.systemPrompt).not.toContain("shout");
	expect((await inspector.inspectContext()).context.preamble.systemPrompt).toContain("- shout: Shouts");
	await test.session.dispose();
	const { agentDir, cwd } = test;
	const context = async (without: string[]) =>
		(await run({ name: "context", verify: false, without }, { agentDir, cwd, json: true })).stdout;
	expect(await context([])).toContain("shout: Shouts");
	expect(await context([path])).not.toContain("shout: Shouts");
});

describe("tools that a hook does not offer", () => {
	const RO = `export default (pi) => pi.on("context", ({ tools }) => ({ tools: tools.filter(({ name }) => name !== "bash").map(({ name }) => name) }));`;

	test("are not sent, not listed in the prompt and not run, and make the request smaller", async () => {
		const test = await startSession({ hooks: { "ro.ts": RO } });
		const { session, provider } = test;
		provider.reply([toolCall("bash", { command: "echo ran > out.txt" })], "done");
		await session.prompt("run it");
		expect(toolNames(provider, 0)).toEqual(["read", "edit", "write", "grep", "find", "ls", "jobs"]);
		expect(systemOf(provider, 0)).not.toContain("- bash:");
		expect(provider.requests[1]?.messages.at(-1)?.text).toMatch(
			/^There is no tool "bash"\. The tools are: read, edit, /,
		);
		const { context, ledger } = await session.inspector.inspectContext();
		const without = await session.inspector.inspectContext({
			without: new Set(test.session.loaded.hooks.map(({ path }) => path)),
		});
		expect(without.context.preamble.tools).toHaveLength(8);
		expect(without.ledger.tokens).toBeGreaterThan(ledger.tokens + 100);
		expect(context.preamble.hiddenTools.map(({ tool }) => tool.name)).toEqual(["bash"]);
		const status = session.inspector.hookStatuses().find(({ name }) => name === "ro");
		expect(status?.share).toEqual({ added: 0, removed: ledger.removed.reduce((sum, { tokens }) => sum + tokens, 0) });
	});

	test("are attributed to the hook when the provider's cache is lost", async () => {
		const lateRo = RO.replace("({ tools }) => ({", "({ tools, entries }) => entries.length < 4 ? undefined : ({");
		const { session, provider, events } = await startSession({ hooks: { "ro.ts": lateRo } });
		provider.reply("a1", "a2");
		await session.prompt("u1");
		const { tokens = 0 } = (await session.inspector.inspectContext()).ledger.prefix ?? {};
		await session.prompt("u2");
		const [loss] = events.flatMap((event) => (event.type === "cache_lost" ? [event] : []));
		expect(loss).toMatchObject({
			by: { kind: "hook", hook: expect.stringMatching(/ro\.ts$/) },
			changed: { kind: "tools" },
		});
		expect(loss?.resent).toBeGreaterThan(1000);
		expect(tokens).toBeGreaterThanOrEqual(0);
	});
});

test("ctx.systemPrompt is the list of sections of the last computed request, frozen", async () => {
	const hook = `export default (pi) => {
		pi.on("context", ({ systemPrompt }) => ({ systemPrompt: [...systemPrompt, { id: "look:x", text: "X" }] }));
		pi.command("look", { handler: async (ctx) => ({ status: ctx.systemPrompt.map(({ id }) => id).join() + Object.isFrozen(ctx.systemPrompt) }) });
	};`;
	const { session } = await startSession({ hooks: { "look.ts": hook } });
	expect(await session.prompt("/look")).toMatchObject({ status: "base,tools,environment,look:xtrue" });
});

test("a past request has the system prompt and tools of then, without a hook too", async () => {
	const hook = `export default (pi) => pi.on("context", ({ systemPrompt }) => ({ systemPrompt: [...systemPrompt, { id: "look:x", text: "X" }] }));`;
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-"), sessionDir: tempDir() };
	const first = await startSession({
		...place,
		session: { kind: "new" },
		hooks: { "look.ts": hook },
		files: { "AGENTS.md": "Old." },
		tools: ["read"],
	});
	first.provider.reply("a1");
	await first.session.prompt("u1");
	const target = first.session.sessionFile ?? "";
	await first.session.dispose();
	writeFiles(place.cwd, { "AGENTS.md": "New." });
	const { session } = await startSession({ ...place, provider: first.provider, session: { kind: "open", target } });
	const past = await session.inspector.inspectContext({ at: 1 });
	expect(past.context.preamble.systemPrompt).toBe(systemOf(first.provider, 0));
	expect(past.context.preamble.tools.map(({ name }) => name)).toEqual(["read"]);
	expect(past.isPreambleCurrent).toBe(false);
	const without = await session.inspector.inspectContext({
		at: 1,
		without: new Set(past.hooks.map(({ path }) => path)),
	});
	expect(`${without.context.preamble.systemPrompt}\n\nX`).toBe(systemOf(first.provider, 0));
	expect((await session.inspector.inspectContext()).loss).toMatchObject({
		by: { kind: "other" },
		changed: { kind: "tools" },
	});
});

test("the error of a hook that adds its section again after a freeze says how to undo the freeze", async () => {
	const hook = `export default (pi) => {
		pi.on("context", ({ systemPrompt }) => ({ systemPrompt: [...systemPrompt, { id: "mode:x", text: "Only look." }] }));
		pi.command("mark", { handler: async (ctx) => { await ctx.saveEntry({ type: "mark" }); } });
	};`;
	const first = await startSession({ session: { kind: "new" }, hooks: { "mode.ts": hook } });
	const { provider, agentDir, cwd } = first;
	await first.session.prompt("/mark");
	provider.reply("a1", "a2");
	await first.session.prompt("u1");
	const target = first.session.sessionFile ?? "";
	await first.session.dispose();
	const file = join(agentDir, "hooks", "mode.ts");
	rmSync(file);
	const place = { agentDir, cwd, provider, session: { kind: "open", target } } as const;
	const without = await startSession(place);
	await without.session.freezeContext();
	await without.session.dispose();
	writeFileSync(file, hook);
	const { session, events } = await startSession(place);
	await session.prompt("u2");
	const errors = events.flatMap((event) => (event.type === "hook_error" ? [event.error] : []));
	expect([...new Set(errors)]).toEqual([
		expect.stringMatching(
			/^systemPrompt\[\d\] has the id of an earlier section, which the frozen context kept \(\/uncompact undoes the freeze\); its answer was dropped$/,
		),
	]);
	await session.prompt("/uncompact");
	expect(session.context.problems).toEqual([]);
});

test("a freeze keeps the system prompt and tools of a hook that is gone, until it is undone", async () => {
	const hook = `export default (pi) => {
		pi.on("context", ({ entries, systemPrompt }) => entries.some(({ type }) => type === "mark")
			? { systemPrompt: [...systemPrompt.slice(1), { id: "mode:x", text: "Only look." }], tools: ["read"] } : undefined);
		pi.command("mark", { handler: async (ctx) => { await ctx.saveEntry({ type: "mark" }); } });
	};`;
	const first = await startSession({ session: { kind: "new" }, hooks: { "mode.ts": hook } });
	const { provider, agentDir, cwd } = first;
	await first.session.prompt("/mark");
	provider.reply("a1", "a2", "a3");
	await first.session.prompt("u1");
	const target = first.session.sessionFile ?? "";
	await first.session.dispose();
	rmSync(join(agentDir, "hooks", "mode.ts"));
	const place = { agentDir, cwd, provider, session: { kind: "open", target } } as const;
	const { session, notices } = await startSession(place);
	expect(notices()).toEqual([expect.stringMatching(/and another system prompt or other tools$/)]);
	expect(session.missingHooks?.difference).toMatchObject({ isPreambleDifferent: true, canFreeze: true });
	await session.freezeContext();
	await session.prompt("u2");
	expect(systemOf(provider, 1)).toBe(systemOf(provider, 0));
	expect(toolNames(provider, 1)).toEqual(["read"]);
	expect(session.context.preamble.sections.map(({ origin }) => origin.kind)).toEqual(["freeze", "freeze", "freeze"]);
	await session.dispose();
	const checked = await run({ name: "context", verify: true }, { agentDir, cwd, session: target, json: true });
	// Only the request of the missing hook differs: the frozen one is computed from the record.
	expect(JSON.parse(checked.stdout)).toMatchObject({ requests: 1, mismatch: { entryIndex: 3 } });
	const again = await startSession(place);
	await again.session.prompt("/uncompact");
	await again.session.prompt("u3");
	expect(toolNames(provider, 2)).toHaveLength(8);
});
