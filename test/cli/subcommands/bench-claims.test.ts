import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { sessionDirName } from "../../../src/log/session-paths.js";
import { readBenchClaim } from "../../../src/packages/bench-claim.js";
import { PackageGate } from "../../../src/services/code/package-code.js";
import { idleSession } from "../../context-bench/idle-session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

/** Says when its code runs, and drops the first messages of long requests. */
const squeeze = (ran: string) => `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(ran)}, "ran");
export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.slice(-3) }));\n`;

const row = (strategy: string, sent: number, cost: number | null, kept = 10) => ({
	strategy,
	totals: { sent, cached: sent / 2, resent: 0, breaks: 0, peak: sent, cost },
	evidence: { needed: 10, kept, losses: [{ tool: "read" }] },
});

const CLAIM = {
	date: "2026-11-01T10:00:00.000Z",
	model: "anthropic/claude-sonnet-4-5",
	sessions: [
		{ name: "a", requests: 27, results: [] },
		{ name: "b", requests: 3 },
	],
	total: [row("none", 1_149_000, 0.571), row("./hooks/squeeze.ts", 371_000, 0.378, 9), row("./other.ts", 5, null)],
};

/** A package with a claim, and two sessions of this directory. */
function place(claim: unknown = CLAIM) {
	const kit = join(tempDir(), "kit");
	const [cwd, agentDir] = [tempDir("pi-project-"), tempAgentDir()];
	const ran = join(tempDir(), "ran");
	writeFiles(kit, {
		"hooks/squeeze.ts": squeeze(ran),
		"package.json": { name: "kit", version: "1.0.0" },
		"bench.json": claim,
	});
	const lines = idleSession(null).map((entry) => JSON.stringify(entry));
	writeFiles(join(agentDir, "sessions", sessionDirName(cwd)), { "one.jsonl": `${lines.join("\n")}\n` });
	return { kit, agentDir, cwd, ran };
}

async function trust({ agentDir, cwd }: ReturnType<typeof place>): Promise<void> {
	const paths = findPaths({ PI_CODING_AGENT_DIR: agentDir }, cwd, tempDir());
	const gate = new PackageGate({
		...{ paths, env: {}, run: [], discovery: true, trust: undefined, copyDir: paths.projectCache },
		settings: new SettingsStore(paths),
		ask: async () => "trust",
	});
	await gate.accept(() => {});
}

const COMMAND = "pi context bench --sessions last:5 kit:squeeze";

test("pi install shows what a package claims without running it, and the command that recomputes it", async () => {
	const where = place();
	const { stdout, code } = await run(
		{ name: "install", source: where.kit, local: false },
		{ ...where, outIsTerminal: true },
	);
	expect(code).toBe(0);
	expect(stdout.split("\n").slice(2)).toEqual([
		`${where.kit} claims, unchecked, for 2 sessions with 30 requests, anthropic/claude-sonnet-4-5, 2026-11-01:`,
		"strategy                   sent  cached  resent  cost    vs none  evidence",
		"./hooks/squeeze.ts  claim  371k  50 %    0       $0.378  −34 %    90.0 %",
		"./other.ts          claim  5     50 %    0       –       –        100 %",
		"not recomputed: its code is not trusted yet",
		`to recompute it: ${COMMAND}`,
		"",
	]);
	expect(existsSync(where.ran)).toBe(false);
	const untrusted = run({ name: "bench", strategies: ["kit:squeeze"], sessions: [], failIf: [] }, where);
	await expect(untrusted).rejects.toMatchObject({ hint: expect.stringContaining("it is not trusted") });
	expect(existsSync(where.ran)).toBe(false);
});

test("once the package is trusted, the claim stands next to the figures of the user's sessions", async () => {
	const where = place();
	const install = { name: "install", source: where.kit, local: false } as const;
	await run(install, where);
	await trust(where);
	const { stdout } = await run(install, { ...where, outIsTerminal: true });
	expect(stdout).toMatch(/\n\.\/hooks\/squeeze\.ts {2}claim {2}371k .* 90\.0 %\n {20}yours .* −\d+ % +100 %\n/);
	expect(stdout).not.toContain("None of its code has run");
	expect(stdout).toContain(`\nyours: recomputed for 1 session with 15 requests\nin full: ${COMMAND}\n`);
	expect(existsSync(where.ran)).toBe(true);

	const json = JSON.parse((await run(install, { ...where, json: true, outIsTerminal: true })).stdout);
	expect(json).toMatchObject([
		{
			name: where.kit,
			bench: {
				claim: { sessions: 2, requests: 30, strategies: [{ word: "kit:squeeze", cost: 0.378 }, { word: null }] },
				recomputed: { sessions: 1, requests: 15, strategies: { "kit:squeeze": { evidence: 100 } } },
				reason: null,
				command: COMMAND,
			},
		},
	]);
	const pipe = await run(install, where);
	expect(pipe.stdout).toContain(`\nnot recomputed: there is no terminal\nto recompute it: ${COMMAND}\n`);
	const bench = await run({ name: "bench", strategies: ["kit:squeeze"], sessions: [], failIf: [] }, where);
	expect(bench.stdout).toMatch(/\nkit:squeeze +/);
	const wrong = run({ name: "bench", strategies: ["kit:nothing"], sessions: [], failIf: [] }, where);
	await expect(wrong).rejects.toMatchObject({ hint: "the package has kit:squeeze" });
});

test("a bench.json that is not valid is named and ignored", async () => {
	const { kit, ...where } = place({ ...CLAIM, total: [row("none", 10, 1), row("x", -1, 1)] });
	const { stdout, code } = await run({ name: "install", source: kit, local: false }, where);
	expect(code).toBe(0);
	expect(stdout).toContain(`\n${kit}: its bench.json is ignored: total[1].totals.sent is not a number from 0\n`);
	const json = await run({ name: "install", source: kit, local: false }, { ...where, json: true });
	expect(JSON.parse(json.stdout)).toMatchObject([{ bench: null, benchProblem: expect.stringContaining("is ignored") }]);
});

const read = (text: string) =>
	readBenchClaim([{ rel: "bench.json", bytes: Buffer.from(text) }], { kind: "path", path: "/kit" }, []);

test.each([
	["{", "it is not valid JSON"],
	["[]", "it is not an object"],
	[JSON.stringify({ ...CLAIM, sessions: [] }), "sessions is not a list with sessions"],
	[JSON.stringify({ ...CLAIM, date: "soon" }), "date is not a date"],
	[JSON.stringify({ ...CLAIM, total: [row("x", 1, 1), row("y", 1, 1)] }), "total[0].strategy is not none"],
	[
		JSON.stringify({ ...CLAIM, total: [row("none", 1, 1), row("y", 1, 1, 11)] }),
		"total[1].evidence.kept is more than needed",
	],
	[" ".repeat(4 * 1024 * 1024 + 1), "it is larger than 4 MB"],
])("%.30s is refused", (text, reason) => {
	expect(read(text)).toBe(`its bench.json is ignored: ${reason}`);
});

test("the texts of a claim are shown on one short line without control characters", () => {
	const claim = read(
		JSON.stringify({ ...CLAIM, total: [row("none", 1, 1), row(`\u001b[2Jx\n${"y".repeat(200)}`, 1, 1)] }),
	);
	if (claim === null || typeof claim === "string") throw new Error(`Expected a claim, not ${claim}`);
	const [{ strategy = "" } = {}] = claim.strategies;
	expect(strategy.length).toBeLessThan(80);
	expect(strategy).not.toMatch(/\p{Cc}/u);
});
