import { expect, test, vi } from "vitest";
import { SessionLog } from "../../src/log/session-log.js";
import { StatsCounter } from "../../src/session/stats.js";
import { user } from "../helpers/entries.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { replyAt } from "../helpers/usage.js";

const AT = "2026-03-01T10:00:00.000Z";

test("costs are added without the error of binary fractions", () => {
	const log = SessionLog.inMemory("/project");
	log.appendAll([user("go"), ...[0.1, 0.2, 0.0000007].map((cost) => replyAt(AT, { cost }))]);
	expect(new StatsCounter().count(log)).toMatchObject({ cost: 0.3000007, unreported: 0 });
});

test("replies whose server sent no usage are counted, and /session names them", async () => {
	const modelOptions = { cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } };
	const { session, provider } = await startSession({ modelOptions });
	const silent = { content: [{ type: "text" as const, text: "ok" }], usage: { input: 0, output: 0 } };
	const statusOf = async () => (await session.prompt("/session")) as { status: string };
	provider.reply(silent, "fine");
	await session.prompt("one");
	expect(session.stats()).toMatchObject({ cost: 0, unreported: 1 });
	expect((await statusOf()).status).toMatch(/cost {7}unknown: the server sent no usage$/m);
	await session.prompt("two");
	expect((await statusOf()).status).toMatch(/cost {7}\$0\.0000 and 1 reply without usage$/m);
});

test.each([
	["a price in models.json", true, "$0.00"],
	["no price", false, "– unknown price, or a subscription"],
])("with %s, a cost of 0 in /session depends on it", async (_, isPriced, shown) => {
	const provider = await startProvider();
	const models = JSON.stringify(provider.modelsJson(), (key, value) =>
		key === "cost" && !isPriced ? undefined : value,
	);
	vi.spyOn(provider, "modelsJson").mockReturnValue(JSON.parse(models));
	const { session } = await startSession({ provider });
	provider.reply("ok");
	await session.prompt("one");
	const { status } = (await session.prompt("/session")) as { status: string };
	expect(status.split("\n").find((line) => line.startsWith("cost"))).toBe(`cost       ${shown}`);
});
