import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SessionLog } from "../../../src/log/session-log.js";
import { sessionDirName } from "../../../src/log/session-paths.js";
import type { UsageGrouping } from "../../../src/usage/usage-report.js";
import { user } from "../../helpers/entries.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { type ReplyFacts, replyAt } from "../../helpers/usage.js";
import { run } from "./run.js";

const MODELS = {
	providers: {
		local: {
			baseUrl: "http://127.0.0.1:9/v1",
			api: "openai-completions",
			apiKey: "x",
			models: [{ id: "free", cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }, { id: "unknown" }],
		},
	},
};

function agentWith(sessions: Record<string, [string, ReplyFacts][]>): string {
	const agentDir = tempAgentDir({ models: MODELS });
	for (const [cwd, replies] of Object.entries(sessions)) {
		const log = SessionLog.create({ dir: join(agentDir, "sessions", sessionDirName(cwd)), cwd });
		log.append(user("go"));
		for (const [at, facts] of replies) log.append(replyAt(at, facts));
		log.close();
	}
	return agentDir;
}

const AGENT = () =>
	agentWith({
		"/src/shop": [
			["2026-03-01T10:00:00.000Z", { input: 1000, output: 100, cacheRead: 3000, cacheWrite: 50, cost: 0.25 }],
			["2026-03-03T10:00:00.000Z", { input: 10, output: 1, cost: 0.5 }],
		],
		"/src/docs": [
			["2026-03-02T23:59:00.000Z", { model: "local/free", input: 20, output: 2 }],
			["2026-03-03T00:00:00.000Z", { model: "local/unknown", input: 30, output: 3 }],
		],
	});

async function json(by: UsageGrouping, days: number | null, agentDir: string) {
	const { code, stdout, stderr } = await run({ name: "usage", by, days }, { agentDir, json: true });
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return JSON.parse(stdout);
}

test("pi usage --json sums up the sessions of all projects, with null for unknown costs", async () => {
	const zeros = { cacheRead: 0, cacheWrite: 0 };
	expect(await json("model", null, AGENT())).toEqual({
		rows: [
			{
				key: "anthropic/opus",
				sessions: 1,
				requests: 2,
				input: 1010,
				output: 101,
				cacheRead: 3000,
				cacheWrite: 50,
				cost: 0.75,
			},
			{ key: "local/free", sessions: 1, requests: 1, input: 20, output: 2, ...zeros, cost: 0 },
			{ key: "local/unknown", sessions: 1, requests: 1, input: 30, output: 3, ...zeros, cost: null },
		],
		total: {
			sessions: 2,
			requests: 4,
			input: 1060,
			output: 106,
			cacheRead: 3000,
			cacheWrite: 50,
			cost: 0.75,
			unpriced: 1,
		},
	});
});

test("--days counts days of local time, today included", async () => {
	vi.useFakeTimers({ now: new Date("2026-03-03T12:00:00.000Z"), toFake: ["Date"] });
	onTestFinished(() => void vi.useRealTimers());
	const agentDir = AGENT();
	const days = async (count: number | null) =>
		(await json("day", count, agentDir)).rows.map(({ key, requests }: { key: string; requests: number }) => [
			key,
			requests,
		]);
	expect(await days(1)).toEqual([["2026-03-03", 2]]);
	expect(await days(2)).toEqual([
		["2026-03-03", 2],
		["2026-03-02", 1],
	]);
	expect(await days(null)).toEqual([
		["2026-03-03", 2],
		["2026-03-02", 1],
		["2026-03-01", 1],
	]);
});

test("without --json it prints a table; a directory without sessions has no requests", async () => {
	const { stdout } = await run({ name: "usage", by: "project", days: null }, { agentDir: AGENT() });
	expect(stdout).toBe(
		[
			"Usage by project",
			"",
			"project      cost  sent  received  cached  requests  sessions",
			"/src/shop   $0.75  4.1k       101     73%         2         1",
			"/src/docs  $0.00+    50         5      0%         2         1",
			"total      $0.75+  4.1k       106     72%         4         2",
			"+ and requests of unknown price",
			"",
		].join("\n"),
	);
	expect((await run({ name: "usage", by: "day", days: null })).stdout).toBe("Usage by day\n\nNo requests yet\n");
});

test("--session-dir reports the sessions of that directory", async () => {
	const agentDir = AGENT();
	const place = { agentDir, sessionDir: join(agentDir, "sessions", sessionDirName("/src/docs")), json: true };
	const only = await run({ name: "usage", by: "project", days: null }, place);
	expect(JSON.parse(only.stdout).rows.map(({ key }: { key: string }) => key)).toEqual(["/src/docs"]);
	expect((await json("project", null, agentDir)).total.requests).toBe(4);
});
