import { beforeEach, expect, test, vi } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("macros.ts");
let agentDir: string;

beforeEach(() => {
	agentDir = tempAgentDir();
	vi.stubEnv("PI_CODING_AGENT_DIR", agentDir);
	return () => vi.unstubAllEnvs();
});

async function start(macros?: unknown) {
	if (macros !== undefined) writeFiles(agentDir, { "macros.json": macros });
	const run = await startSession({ hookFiles: [HOOK], agentDir });
	run.provider.on(() => "ok");
	return run;
}

test.each([
	["Fix it. :brief:", "Fix it. Be brief."],
	[":brief: :brief:", "Be brief. Be brief."],
	["at 12:30:45, :unknown: and std::brief::run", "at 12:30:45, :unknown: and std::brief::run"],
])("%j is sent as %j", async (typed, sent) => {
	const run = await start({ brief: "Be brief." });
	await run.session.prompt(typed);
	expect(run.sent(1)).toEqual([`user: ${sent}`]);
	expect(run.notices()).toEqual([]);
});

test("macros work in shell commands, and a change of the file applies at once", async () => {
	const { session } = await start({ hi: "echo hello" });
	await session.runBash(":hi: there");
	writeFiles(agentDir, { "macros.json": { hi: "echo bye" } });
	await session.runBash(":hi:");
	const shells = session.entries.filter(isMessageEntry).map(({ message }) => message);
	expect(shells).toMatchObject([{ output: "hello there" }, { output: "bye" }]);
});

test("the agent directory may begin with ~, as it may for pi", async () => {
	vi.stubEnv("HOME", agentDir);
	vi.stubEnv("PI_CODING_AGENT_DIR", "~/own");
	writeFiles(agentDir, { "own/macros.json": { brief: "Be brief." } });
	const run = await start();
	await run.session.prompt(":brief:");
	expect(run.sent(1)).toEqual(["user: Be brief."]);
});

test("without a file nothing changes", async () => {
	const run = await start();
	await run.session.prompt("say :hi:");
	expect(run.sent(1)).toEqual(["user: say :hi:"]);
});

test.each<[string, unknown, RegExp]>([
	["not JSON", "{", /macros\.json is not valid JSON/],
	["a list", [], /macros\.json is not an object/],
	["a number", { hi: 1 }, /macros\.json: hi is not a text/],
])(
	"a file with %s is reported; the prompt is sent as it is and the shell command does not run",
	async (_, file, reason) => {
		const run = await start(file);
		await run.session.prompt("say :hi:");
		expect(run.sent(1)).toEqual(["user: say :hi:"]);
		expect(run.notices()).toEqual([expect.stringMatching(reason)]);
		await expect(run.session.runBash(":hi:")).rejects.toThrow(reason);
	},
);
