import { expect, test } from "vitest";
import type { RequestUsage } from "../../src/log/request-usage.js";
import { usageOf } from "../../src/log/request-usage.js";
import { usageLines, usageTitle } from "../../src/usage/usage-lines.js";
import { createUsageReport, findFreeModels, type UsageGrouping } from "../../src/usage/usage-report.js";
import { type ReplyFacts, replyAt } from "../helpers/usage.js";

function request(
	session: string,
	at: string,
	facts: ReplyFacts,
): { session: { id: string; cwd: string }; usage: RequestUsage } {
	const usage = usageOf(replyAt(at, facts));
	if (!usage) throw new Error("The reply has no usage");
	return {
		session: { id: session, cwd: `/home/ada/src/${session.startsWith("s") ? "shop" : "a-project-with-a-long-name"}` },
		usage,
	};
}

const REQUESTS = [
	request("s1", "2026-03-01T10:00:00.000Z", { input: 1000, output: 100, cacheRead: 9000, cacheWrite: 0, cost: 0.1 }),
	request("s1", "2026-03-02T10:00:00.000Z", { input: 500, output: 50, cost: 0.2 }),
	request("p1", "2026-03-02T11:00:00.000Z", { model: "local/qwen", input: 2000, output: 20 }),
	request("p1", "2026-03-02T12:00:00.000Z", { model: "router/auto", input: 300, output: 30 }),
	request("p2", "2026-03-03T12:00:00.000Z", {
		model: "claude/login",
		input: 400,
		output: 40,
		cost: 9,
		subscription: true,
	}),
	request("p2", "2026-03-03T12:00:01.000Z", { model: "claude/login", input: 0, output: 0, failed: true }),
];
const isFree = (model: string) => model === "local/qwen";
const report = (by: UsageGrouping) => createUsageReport(REQUESTS, by, isFree);

test("rows have sums and costs; an unknown cost is null, and next to a known one counted as unpriced", () => {
	expect(report("model")).toEqual({
		rows: [
			{
				key: "anthropic/opus",
				sessions: 1,
				requests: 2,
				input: 1500,
				output: 150,
				cacheRead: 9000,
				cacheWrite: 0,
				cost: 0.3,
			},
			{ key: "local/qwen", sessions: 1, requests: 1, input: 2000, output: 20, cacheRead: 0, cacheWrite: 0, cost: 0 },
			{
				key: "claude/login",
				sessions: 1,
				requests: 2,
				input: 400,
				output: 40,
				cacheRead: 0,
				cacheWrite: 0,
				cost: null,
			},
			{ key: "router/auto", sessions: 1, requests: 1, input: 300, output: 30, cacheRead: 0, cacheWrite: 0, cost: null },
		],
		total: {
			sessions: 3,
			requests: 6,
			input: 4200,
			output: 240,
			cacheRead: 9000,
			cacheWrite: 0,
			cost: 0.3,
			unpriced: 2,
		},
	});
});

test.each<[UsageGrouping, [string, number, number | null][]]>([
	[
		"day",
		[
			["2026-03-03", 2, null],
			["2026-03-02", 3, 0.2],
			["2026-03-01", 1, 0.1],
		],
	],
	[
		"session",
		[
			["s1", 2, 0.3],
			["p1", 2, 0],
			["p2", 2, null],
		],
	],
	[
		"project",
		[
			["/home/ada/src/shop", 2, 0.3],
			["/home/ada/src/a-project-with-a-long-name", 4, 0],
		],
	],
])("rows can stand for each %s", (by, rows) => {
	expect(report(by).rows.map(({ key, requests, cost }) => [key, requests, cost])).toEqual(rows);
});

test("only a model whose price is known to be 0 is free", () => {
	const model = (id: string, input: number) => ({
		provider: "p",
		id,
		cost: { input, output: input, cacheRead: 0, cacheWrite: 0 },
	});
	const models = [
		{ model: { ...model("unpriced", 0), provider: "ollama" }, isPriced: false },
		{ model: model("free", 0), isPriced: true },
		{ model: model("unknown", 0), isPriced: false },
		{ model: model("router", -1), isPriced: true },
	];
	const free = findFreeModels(models);
	const names = ["p/free", "p/unknown", "p/router", "p/gone", "ollama/unpriced"];
	expect(names.filter(free)).toEqual(["p/free"]);
});

test("a model of a local server is free, also while the server is not running", () => {
	expect(["ollama/qwen3:8b", "lmstudio/a/b", "openai/gpt", "ollama"].filter(findFreeModels([]))).toEqual([
		"ollama/qwen3:8b",
		"lmstudio/a/b",
	]);
});

test.each(["day", "model", "project", "session"] as const)("the table by %s fits 40 columns", (by) => {
	const lines = usageLines(report(by), { by, days: null, columns: 40, home: "/home/ada" });
	expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
});

test("the table at 40, 80 and 120 columns", () => {
	const draw = (by: UsageGrouping, columns: number | null) =>
		[usageTitle({ by, days: 7 }), ...usageLines(report(by), { by, days: 7, columns, home: "/home/ada" })].join("\n");
	expect(draw("project", 40)).toMatchInlineSnapshot(`
		"Usage in the last 7 days by project
		project            cost   sent  received
		~/src/shop        $0.30  10.5k       150
		…th-a-long-name  $0.00+   2.7k        90
		total            $0.30+  13.2k       240
		+ and requests of unknown price"
	`);
	expect(draw("project", 80)).toMatchInlineSnapshot(`
		"Usage in the last 7 days by project
		project                        cost   sent  received  cached  requests  sessions
		~/src/shop                    $0.30  10.5k       150     85%         2         1
		…a-project-with-a-long-name  $0.00+   2.7k        90      0%         4         2
		total                        $0.30+  13.2k       240     68%         6         3
		+ and requests of unknown price"
	`);
	expect(draw("model", 120)).toMatchInlineSnapshot(`
		"Usage in the last 7 days by model
		model             cost   sent  received  cached  requests  sessions
		anthropic/opus   $0.30  10.5k       150     85%         2         1
		local/qwen       $0.00     2k        20      0%         1         1
		claude/login         –    400        40      0%         2         1
		router/auto          –    300        30      0%         1         1
		total           $0.30+  13.2k       240     68%         6         3
		– unknown price, or a subscription
		+ and requests of unknown price"
	`);
	expect(draw("day", null)).toMatchInlineSnapshot(`
		"Usage in the last 7 days by day
		day           cost   sent  received  cached  requests  sessions
		2026-03-03       –    400        40      0%         2         1
		2026-03-02  $0.20+   2.8k       100      0%         3         2
		2026-03-01   $0.10    10k       100     90%         1         1
		total       $0.30+  13.2k       240     68%         6         3
		– unknown price, or a subscription
		+ and requests of unknown price"
	`);
});

test("a report without requests says so", () => {
	const empty = createUsageReport([], "day", isFree);
	const draw = (days: number | null) => usageLines(empty, { by: "day", days, columns: 80, home: "/home/ada" });
	expect([draw(null), draw(1), draw(7)]).toEqual([
		["No requests yet"],
		["No requests today"],
		["No requests in the last 7 days"],
	]);
});

test("the cost of a reply whose server sent no usage is unknown, unless the model is free", () => {
	const none = { input: 0, output: 0 };
	const at = "2026-03-01T10:00:00.000Z";
	const requests = [
		request("s1", at, { model: "proxy/big", ...none }),
		request("s1", at, { model: "local/qwen", ...none }),
		request("s1", at, { model: "anthropic/opus", cost: 0.5 }),
		request("s1", at, { model: "anthropic/opus", ...none }),
		request("s1", at, { model: "anthropic/opus", ...none, failed: true }),
	];
	const { rows, total } = createUsageReport(requests, "model", isFree);
	expect(rows.map(({ key, requests, cost, unpriced }) => [key, requests, cost, unpriced])).toEqual([
		["anthropic/opus", 3, 0.5, 1],
		["local/qwen", 1, 0, undefined],
		["proxy/big", 1, null, undefined],
	]);
	expect(total).toMatchObject({ cost: 0.5, unpriced: 2 });
});
