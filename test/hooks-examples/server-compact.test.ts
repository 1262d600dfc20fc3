import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isCompactionEntry, isMessageEntry, type SessionEntry } from "../../src/log/entry.js";
import { describeContext } from "../../src/session/describe-context.js";
import { run } from "../cli/subcommands/run.js";
import { type LoopbackProvider, text } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("server-compact.ts");
const MODEL = "loopback-responses/scripted";
const COMPACTION = { id: "cmp_1", type: "compaction", encrypted_content: "gAAAA" };

/** Three turns, the first two of which are compacted. */
async function compacted(answer: unknown, options: Parameters<typeof startSession>[0] = {}) {
	const notices: string[] = [];
	const bodies: { model?: unknown; input?: unknown }[] = [];
	const test = await startSession({
		hookFiles: [HOOK],
		model: MODEL,
		modelOptions: { apis: ["openai-completions", "openai-responses"] },
		session: { kind: "new" },
		userSettings: { compaction: { keepRecentTokens: 1 } },
		ui: { notify: (message) => void notices.push(message) },
		...options,
	});
	test.provider.route("/v1/responses/compact", (body) => {
		bodies.push(Object(body));
		return answer;
	});
	test.provider.reply("a1", "a2", "Talked about u1 and u2.", "a3", "a4");
	for (const prompt of ["u1", "u2"]) await test.session.prompt(prompt);
	await test.session.compact();
	const entryIndex = test.session.entries.findLastIndex(isCompactionEntry);
	const entry = test.session.entries[entryIndex];
	return { ...test, bodies, entry, entryIndex, notices };
}

function inputOf({ requests }: LoopbackProvider): unknown[] {
	const { input } = Object(requests.at(-1)?.body);
	return input;
}

/** Each item of the input, briefly. */
function brief(test: Pick<TestSession, "provider">): string[] {
	return inputOf(test.provider).map((item) => {
		const { type, role, content } = Object(item);
		return type === "compaction" ? "compaction" : `${role}: ${JSON.stringify(content)?.slice(0, 90)}`;
	});
}

/** The compaction that each request had in its provider's own form, as the replies record it. */
function recordedForms(entries: readonly SessionEntry[]): (number | undefined)[] {
	return entries.flatMap((entry) => (isMessageEntry(entry) && entry.context ? [entry.context.native] : []));
}

async function verify(
	{ session, agentDir, cwd }: Pick<TestSession, "session" | "agentDir" | "cwd">,
	hooks = [HOOK],
): Promise<string> {
	const place = { agentDir, cwd, session: session.sessionFile ?? "", hooks };
	return (await run({ name: "context", verify: true }, place)).stdout;
}

test("models of the provider get its own compaction, everyone else the summary", async () => {
	const test = await compacted({ object: "response.compaction", output: [COMPACTION] });
	const { session, provider, bodies, entry, entryIndex, notices } = test;
	expect(bodies).toEqual([
		{ model: "scripted", input: expect.arrayContaining([expect.objectContaining({ role: "user" })]) },
	]);
	expect(JSON.stringify(bodies[0]?.input)).toContain("u1");
	expect(entry).toMatchObject({
		summary: expect.stringContaining("Talked about u1 and u2."),
		native: { api: "openai-responses", provider: "loopback-responses", items: [COMPACTION] },
	});
	await session.prompt("u3");
	expect(inputOf(provider)).toContainEqual(COMPACTION);
	expect(JSON.stringify(inputOf(provider))).not.toContain("Talked about");
	expect(notices).toEqual([]);
	expect(recordedForms(session.entries)).toEqual([undefined, undefined, entryIndex]);

	await session.prompt("/model loopback/scripted");
	await session.prompt("u4");
	expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Talked about u1 and u2.");
	expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain("gAAAA");

	expect(recordedForms(session.entries)).toEqual([undefined, undefined, entryIndex, undefined]);
	expect(await verify(test)).toBe("All 4 requests match the recorded ones\n");
});

const FORM = "in the provider's own form";

test.each([
	[
		"a reply that does not say so",
		(line: string, entry: number) => line.replace(`,"native":${entry}`, ""),
		`The compaction in entry 5 is sent ${FORM}, but its summary was recorded. The session file was edited`,
	],
	[
		"a compaction that has lost it",
		(line: string) => line.replace('"native":{"api":', '"native":{"wire":'),
		`The compaction in entry 5 was recorded ${FORM}, but its summary is sent. The session file was edited`,
	],
])("pi context --verify names %s", async (_what, edit, reason) => {
	const test = await compacted({ output: [COMPACTION] });
	await test.session.prompt("u3");
	expect(await verify(test)).toBe("All 3 requests match the recorded ones\n");
	const path = test.session.sessionFile ?? "";
	const lines = readFileSync(path, "utf8");
	const edited = edit(lines, test.entryIndex);
	expect(edited).not.toBe(lines);
	writeFileSync(path, edited);
	expect(await verify(test)).toBe(
		`The request answered by entry 8 differs from the recorded one: same messages, but a compaction in another form\n${reason}\n`,
	);
});

test.each([
	["hides", "messages.slice(1)"],
	["changes", '[{ role: "user", content: summary.content + " Be brief.", timestamp: 0 }, ...messages.slice(1)]'],
	["repeats", "[{ ...summary }, ...messages]"],
])("a hook that %s the summary gets what it made", async (_what, list) => {
	const cwd = tempDir("pi-project-");
	const hook = join(cwd, "change.ts");
	writeFileSync(
		hook,
		`export default (pi) => pi.on("context", ({ entries, messages }) => {
			if (!entries.some(({ type }) => type === "compaction")) return undefined;
			const summary = messages[0].message;
			return { messages: ${list} };
		});`,
	);
	const test = await compacted({ output: [COMPACTION] }, { cwd, hookFiles: [HOOK, hook] });
	await test.session.prompt("u3");
	expect(brief(test).join()).not.toContain("compaction");
	expect(recordedForms(test.session.entries)).toEqual([undefined, undefined, undefined]);
	expect(await verify(test, [HOOK, hook])).toBe("All 3 requests match the recorded ones\n");
	const without = await verify(test, [HOOK]);
	expect(without).toContain("The request answered by entry 8 differs from the recorded one");
});

test("a hook that copies the summary changes nothing", async () => {
	const hook = `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.map((one) => ({ ...one })) }));`;
	const cwd = tempDir("pi-project-");
	writeFileSync(join(cwd, "copy.ts"), hook);
	const test = await compacted({ output: [COMPACTION] }, { cwd, hookFiles: [HOOK, join(cwd, "copy.ts")] });
	await test.session.prompt("u3");
	expect(inputOf(test.provider)).toContainEqual(COMPACTION);
	expect(await verify(test, [HOOK, join(cwd, "copy.ts")])).toBe("All 3 requests match the recorded ones\n");
});

test("/context and pi context say that the summary is not what the model gets", async () => {
	const test = await compacted({ output: [COMPACTION] });
	const { session } = test;
	await session.prompt("u3");
	const own = `compaction, sent ${FORM}`;
	const shownAt = async (at: number | null) =>
		describeContext(await session.inspector.inspectContext({ at })).filter((line) => line.includes(`(${own})`));
	expect([await shownAt(null), await shownAt(7)]).toEqual([[expect.any(String)], [expect.any(String)]]);
	await session.prompt("/model loopback/scripted");
	expect([await shownAt(null), await shownAt(7)]).toEqual([[], [expect.any(String)]]);
	const { agentDir, cwd, sessionFile } = { ...test, sessionFile: session.sessionFile ?? "" };
	const place = { agentDir, cwd, session: sessionFile, hooks: [HOOK] };
	const shown = await run({ name: "context", verify: false, at: 7 }, place);
	expect(shown.stdout.split("\n").filter((line) => line.includes(own))).toHaveLength(1);
	const json = await run({ name: "context", verify: false, at: 7 }, { ...place, json: true });
	const { messages } = JSON.parse(json.stdout);
	expect(messages.filter(({ native }: { native?: true }) => native)).toEqual([
		expect.objectContaining({ position: 0, native: true, text: expect.stringContaining("Talked about u1 and u2.") }),
	]);
	const last = await run({ name: "context", verify: false }, place);
	expect(last.stdout).not.toContain(own);
});

test("what the provider counts for its own form does not calibrate estimates", async () => {
	const cwd = tempDir("pi-project-");
	writeFileSync(join(cwd, "read.ts"), `export default (pi) => pi.on("context", ({ facts }) => void facts.time);`);
	const test = await compacted({ output: [COMPACTION] }, { cwd, hookFiles: [HOOK, join(cwd, "read.ts")] });
	const { session, provider } = test;
	provider.reply({ content: [text("a5")], usage: { input: 90_000, output: 1 } }, "a6");
	for (const prompt of ["u3", "u4", "u5", "u6"]) await session.prompt(prompt);
	const ratios = session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.context?.facts ? [entry.context.facts.ratio] : [],
	);
	expect(ratios.at(-1)).toBe(ratios.at(-2));
});

test("branches keep it, and every export has the summary", async () => {
	const test = await compacted({ output: [COMPACTION] });
	const { session, provider, agentDir, cwd } = test;
	await session.prompt("u3");
	const [file, out] = [session.sessionFile ?? "", tempDir("pi-out-")];
	for (const format of ["html", "markdown", "claude", "atif"] as const) {
		const path = join(out, format);
		const exported = { name: "sessions", action: "export", target: file, out: path, format } as const;
		expect(await run(exported, { agentDir, cwd })).toMatchObject({ code: 0 });
		const written = readFileSync(path, "utf8");
		expect([format, written.includes("Talked about u1 and u2.")]).toEqual([format, true]);
	}
	const [{ entryIndex } = { entryIndex: 0 }] = session.branchTargets().slice(-1);
	await session.branch(entryIndex);
	await session.prompt("b3");
	expect(inputOf(provider)).toContainEqual(COMPACTION);
	expect(await verify(test)).toBe("All 3 requests match the recorded ones\n");
	expect((await run({ name: "sessions", action: "check" }, { agentDir, cwd })).code).toBe(0);
});

test.each([
	["an answer without a compaction", { output: [{ type: "message" }] }, "its answer has no compaction"],
	["no such endpoint", undefined, "it answered with status 404"],
])("%s leaves the summary", async (_what, answer, reason) => {
	const test = await compacted(answer);
	expect(test.entry).not.toHaveProperty("native");
	expect(test.notices.join()).toContain(reason);
	await test.session.prompt("u3");
	expect(brief(test).join()).toContain("replaced by a summary");
});

test("a model of another API is not asked", async () => {
	const { bodies, entry } = await compacted({ output: [COMPACTION] }, { model: "loopback/scripted" });
	expect(bodies).toEqual([]);
	expect(entry).not.toHaveProperty("native");
});
