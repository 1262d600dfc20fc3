import { describe, expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { isMessageEntry, type RequestFacts } from "../../../src/log/entry.js";
import { run } from "../../cli/subcommands/run.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { writeFiles } from "../../helpers/temp.js";
import { hook } from "../../hooks/support.js";

/** Adds what it knows of the request, so that the request can be computed again only from its record. */
const TELL = hook(`pi.flag("loud", { type: "boolean" });
	pi.on("context", ({ messages, facts }) => ({ messages: [...messages, { role: "user", timestamp: 0, content:
		[facts.model.id, facts.contextWindow, facts.cache.warmTokens, facts.flags.loud, facts.time, facts.estimate(messages)].join(" ") }] }));`);

async function play(test: TestSession, prompts: number): Promise<void> {
	test.provider.on(() => "an answer");
	for (let at = 0; at < prompts; at++) await test.session.prompt(`prompt ${at}`);
	await test.session.dispose();
}

function records({ session }: TestSession) {
	return session.entries.flatMap((entry) => (isMessageEntry(entry) && entry.context ? [entry.context] : []));
}

function verify({ agentDir, cwd, session }: TestSession, flags: string[] = []) {
	const parsed = parseArgs(["context", "--verify", "--session", session.sessionFile ?? "", ...flags]);
	if (parsed.kind !== "subcommand") throw new Error("not a subcommand");
	return run(parsed.command, { agentDir, cwd, ...parsed.options });
}

describe("facts of a request that a context handler reads", () => {
	test("are recorded with the reply, so that every request can be computed again", async () => {
		const test = await startSession({ session: { kind: "new" }, hooks: { "tell.ts": TELL } });
		await play(test, 3);
		const facts = records(test).map((record) => record.facts as RequestFacts);
		expect(facts.map(({ model }) => model?.id)).toEqual(Array(3).fill(test.session.model?.id));
		expect(facts.map(({ cache }) => cache.warmTokens > 0)).toEqual([false, true, true]);
		const last = test.provider.requests.at(-1)?.messages.at(-1)?.text;
		expect(last).toContain(`${facts[2]?.cache.warmTokens} false ${facts[2]?.time}`);
		expect(await verify(test)).toMatchObject({ stdout: "All 3 requests match the recorded ones\n", code: 0 });
	});

	test("are not recorded if no handler reads them", async () => {
		const quiet = hook(`pi.on("context", ({ messages }) => ({ messages: [...messages] }));`);
		const test = await startSession({ session: { kind: "new" }, hooks: { "quiet.ts": quiet } });
		await play(test, 1);
		expect(records(test)[0]).not.toHaveProperty("facts");
	});

	test("contain the flags of the session; pi context takes others, and refuses those that no hook declares", async () => {
		const test = await startSession({
			...{ session: { kind: "new" }, hooks: { "tell.ts": TELL } },
			readFlags: () => ({ values: { loud: true }, problem: null }),
		});
		await play(test, 1);
		expect(records(test)[0]?.facts?.flags).toEqual({ loud: true });
		expect((await verify(test)).code).toBe(0);
		expect((await verify(test, ["--loud"])).code).toBe(0);
		expect((await verify(test, ["--no-loud"])).stdout).toContain("differs from the recorded one");
		await expect(verify(test, ["--quiet"])).rejects.toThrow("unknown option --quiet");
	});
});

describe("the hooks of a request", () => {
	const note = (text: string) =>
		hook(
			`pi.on("context", ({ messages }) => ({ messages: [{ role: "user", content: "${text}", timestamp: 0 }, ...messages] }));`,
		);

	test("are recorded once, and pi context --verify names what has changed since", async () => {
		const test = await startSession({ session: { kind: "new" }, hooks: { "note.ts": note("Be brief.") } });
		await play(test, 2);
		expect(records(test).map(({ hooks }) => hooks)).toEqual([
			[{ name: "note.ts", path: `${test.agentDir}/hooks/note.ts`, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
			{ reply: 2 },
		]);
		writeFiles(test.agentDir, { "hooks/note.ts": note("Be long.") });
		expect((await verify(test)).stdout).toContain("\nnote.ts has changed since\n");
	});

	test("a hook named by --hook adds its tools to the requests of an old session", async () => {
		const test = await startSession({ session: { kind: "new" } });
		await play(test, 1);
		const tool = hook(
			`pi.tool({ name: "fly", description: "Flies.", parameters: { type: "object" }, run: async () => ({ content: [] }) });`,
		);
		writeFiles(test.cwd, { "fly.ts": tool });
		const { agentDir, cwd } = test;
		const { stdout } = await run({ name: "context", verify: false }, { agentDir, cwd, hooks: ["fly.ts"], json: true });
		const { tools, systemPrompt } = JSON.parse(stdout);
		expect(tools).toContainEqual(expect.objectContaining({ name: "fly" }));
		expect(systemPrompt.find(({ id }: { id: string }) => id === "tools").text).toContain("- fly: Flies.");
	});
});
