import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { type LoopbackProvider, type Reply, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { type Driver, drive, type FaultPlan, faultEnv } from "./driver.js";
import { type Acknowledged, acknowledgedBy, bytesOf, expectAppended, expectNoStack, lostEntries } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest, IS_LONG } from "./rounds.js";

/** Kills of one session; the next start continues it. */
const KILLS = IS_LONG ? 10 : 1;
/** Adds an entry at the end of each run. */
const SAVING_HOOK = `export default (pi) => pi.on("agent_end", async (event, ctx) => {
	await ctx.saveEntry({ type: "test_note", text: "n".repeat(300) });
});`;
const SETTINGS = { retry: { baseDelayMs: 5 }, compaction: { keepRecentTokens: 1 } };

interface Place {
	provider: LoopbackProvider;
	agentDir: string;
	sessions: string;
	file: string;
	cwd: string;
}

async function place(): Promise<Place> {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: SETTINGS, hooks: { "saves.ts": SAVING_HOOK } });
	const sessions = join(agentDir, "sessions");
	mkdirSync(sessions);
	return { provider, agentDir, sessions, file: join(sessions, "killed.jsonl"), cwd: tempDir() };
}

/** What survives all kills of a session so far. */
interface Survivors {
	acknowledged: Acknowledged[];
	bytes: Buffer;
}

/** Judges the session file after the program was killed. */
function judge({ file }: Place, driver: Driver, before: Survivors): Survivors {
	const acknowledged = [...before.acknowledged, ...acknowledgedBy(driver.events)];
	expect(lostEntries(file, acknowledged)).toEqual([]);
	expectAppended(before.bytes, file);
	expectNoStack(driver.stderr());
	return { acknowledged, bytes: bytesOf(file) };
}

/** Continues the session in print mode: the answer comes, and the request holds the acknowledged prompts. */
async function expectContinued({ provider, agentDir, file, cwd }: Place, { acknowledged, bytes }: Survivors) {
	provider.on(() => "The end.");
	const run = await runPi(["-p", "--session", file, "the end"], { agentDir, cwd });
	expect(run).toMatchObject({ code: 0, stdout: "The end.\n" });
	expectNoStack(run.stderr);
	expectAppended(bytes, file);
	const said =
		provider.requests
			.at(-1)
			?.messages.filter(({ role }) => role === "user")
			.map(({ text }) => text) ?? [];
	const asked = acknowledged.flatMap(({ content }) => (/^prompt \d+$/.exec(String(content.content)) ?? []).slice(0, 1));
	const isCompacted = bytes.includes('"type":"compaction"');
	expect(isCompacted ? [] : asked.filter((text) => !said.includes(text))).toEqual([]);
	expect(said.at(-1)).toBe("the end");
	expect(provider.violations).toEqual([]);
}

test("kills: kill -9 before, during and after each write to the session files loses nothing", {
	timeout: 900_000,
}, async () => {
	for (const point of IS_LONG ? await killPoints() : [{ killAt: 9, phase: "half" as const }]) {
		const at = await place();
		const driver = await playScript(at, point);
		expect(await driver.exited, JSON.stringify(point)).toEqual({ code: null, signal: "SIGKILL" });
		await expectContinued(at, judge(at, driver, { acknowledged: [], bytes: Buffer.alloc(0) }));
	}
});

/** Every point at which the script can be killed. */
async function killPoints(): Promise<Pick<FaultPlan, "killAt" | "phase">[]> {
	const log = join(tempDir(), "calls");
	await playScript(await place(), { log });
	const calls = readFileSync(log, "utf8").trim().split("\n");
	expect(calls.length).toBeGreaterThan(15);
	const points = calls.flatMap((call, killAt) => {
		const phases: FaultPlan["phase"][] = /^write/.test(call) ? ["before", "half", "after"] : ["before", "after"];
		return phases.map((phase) => ({ killAt, phase }));
	});
	console.log(`kills: ${points.length} kills at ${calls.length} system calls that write`);
	return points;
}

/** A conversation that writes every kind of line: prompts, calls, results, replies, entries of a hook, a compaction. */
async function playScript(at: Place, plan: Omit<FaultPlan, "under">): Promise<Driver> {
	const replies = [[toolCall("bash", { command: "echo one" }), toolCall("ls", {})], "Answer one.", "Answer two."];
	at.provider.on(({ index }) => replies[index] ?? "Summary.");
	const env = faultEnv({ ...plan, under: at.sessions });
	const driver = drive(["--session", at.file], { agentDir: at.agentDir, cwd: at.cwd, env });
	try {
		await driver.ask("prompt 1");
		await driver.client.call("bash", { command: "echo two" });
		await driver.ask("prompt 2");
		await driver.client.call("compact");
		driver.end();
	} catch {
		// The program was killed.
	}
	await driver.exited;
	return driver;
}

faultTest(
	"kills",
	"random kills of one session lose nothing",
	{ short: 1, long: 50, perTest: 5 },
	async ({ random }) => {
		const at = await place();
		at.provider.on(() => randomReply(random));
		let survivors: Survivors = { acknowledged: [], bytes: Buffer.alloc(0) };
		for (let kill = 0; kill < KILLS; kill++) {
			const driver = await killedRun(at, random, kill);
			survivors = judge(at, driver, survivors);
		}
		await expectContinued(at, survivors);
	},
);

/** Starts the program, sends prompts, and kills it: after a time, after an event, or at a system call. */
async function killedRun(at: Place, random: Random, kill: number): Promise<Driver> {
	const way = random.pick(["time", "event", "call"] as const);
	const phase = random.pick(["before", "half", "after"] as const);
	const plan = way === "call" ? { killAt: random.below(20), phase } : {};
	const env = faultEnv({ ...plan, under: at.sessions });
	const driver = drive(["--session", at.file], { agentDir: at.agentDir, cwd: at.cwd, env });
	if (way === "time") setTimeout(() => driver.kill("SIGKILL"), 150 + random.below(700));
	let events = way === "event" ? 1 + random.below(80) : Number.POSITIVE_INFINITY;
	driver.client.subscribe(() => {
		if (--events <= 0) driver.kill("SIGKILL");
	});
	const asked = (async () => {
		for (let prompt = 0; prompt < 3; prompt++) {
			await driver.ask(`prompt ${kill * 10 + prompt}`);
			if (random.chance(0.2)) await driver.client.call("bash", { command: "echo shell" });
			if (random.chance(0.15)) await driver.client.call("compact");
		}
	})();
	await asked.catch(() => {}); // it was killed, or had nothing to compact
	driver.kill("SIGKILL");
	await driver.exited;
	return driver;
}

function randomReply(random: Random): Reply {
	const delayMs = random.pick([0, 0, 2, 10]);
	const content = [{ type: "text" as const, text: "Words of the answer. ".repeat(1 + random.below(8)) }];
	const calls = random.pick([0, 0, 1, 3]);
	const tools = Array.from({ length: calls }, () =>
		random.pick([
			toolCall("bash", { command: `printf %${1 + random.below(5000)}s x` }),
			toolCall("write", { path: "file.txt", content: "text\n".repeat(random.below(100)) }),
			toolCall("read", { path: "file.txt" }),
			toolCall("ls", {}),
			toolCall("missing", {}),
		]),
	);
	const fault = random.chance(0.1) ? ({ kind: "cut", at: random.below(10) } as const) : undefined;
	return { content: [...content, ...tools], delayMs, fault };
}
