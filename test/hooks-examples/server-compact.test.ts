import { expect, test } from "vitest";
import { isCompactionEntry } from "../../src/log/entry.js";
import { run } from "../cli/subcommands/run.js";
import type { LoopbackProvider } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
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
	const entry = test.session.entries.findLast(isCompactionEntry);
	return { ...test, bodies, entry, notices };
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

test("models of the provider get its own compaction, everyone else the summary", async () => {
	const test = await compacted({ object: "response.compaction", output: [COMPACTION] });
	const { session, provider, bodies, entry, notices } = test;
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
	provider.takeViolations();

	await session.prompt("/model loopback/scripted");
	await session.prompt("u4");
	expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Talked about u1 and u2.");
	expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain("gAAAA");

	const path = session.sessionFile ?? "";
	await session.dispose();
	const verified = await run(
		{ name: "context", verify: true },
		{ agentDir: test.agentDir, cwd: test.cwd, session: path, hooks: [HOOK] },
	);
	expect(verified.stdout).toBe("All 4 requests match the recorded ones\n");
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
