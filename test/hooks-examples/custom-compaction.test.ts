import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NO_UI, type SessionUI } from "../../src/hooks/session-ui.js";
import { isCompactionEntry } from "../../src/log/entry.js";
import { httpError, startProvider } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const SOURCE = readFileSync(example("custom-compaction.ts"), "utf8");
const userSettings = { compaction: { enabled: false, keepRecentTokens: 8 } };

/** A session whose hook prefers another model of the loopback provider. */
async function start(models = ["nobody/none", "loopback-anthropic/scripted"]) {
	const list = /^const MODELS = .*$/m;
	const hooks = { "custom-compaction.ts": SOURCE.replace(list, `const MODELS = ${JSON.stringify(models)};`) };
	const modelOptions = { headers: { "x-team": "blue" } };
	const test = await startSession({ hooks, userSettings, modelOptions, provider: await startProvider() });
	test.provider.reply("a1", "a2");
	await test.session.prompt("the goal");
	await test.session.prompt("the rest");
	return test;
}

test("the first known model of the list writes the summary", async () => {
	const { session, provider, events } = await start();
	provider.reply("CHEAP", "a3");
	await session.compact("the paths");
	expect(provider.requests[2]?.api).toBe("anthropic-messages");
	expect(provider.requests[2]?.headers["x-team"]).toBe("blue");
	expect(provider.requests[2]?.messages[0]?.text).toContain("[User]\nthe goal");
	expect(provider.requests[2]?.messages[0]?.text).toContain("Pay particular attention to: the paths");
	expect(session.entries.findLast(isCompactionEntry)).toMatchObject({ type: "compaction", summary: "CHEAP" });
	expect(events.filter(({ type }) => type === "auto_compaction_end")).toHaveLength(1);
	await session.prompt("go on");
	expect(provider.requests[3]?.messages.at(1)?.text).toContain("CHEAP");
});

test("the previous summary is part of the next one", async () => {
	const { session, provider } = await start();
	provider.reply("FIRST", "a3", "SECOND");
	await session.compact();
	await session.prompt("more");
	await session.compact();
	expect(provider.requests[4]?.messages[0]?.text).toContain("FIRST");
});

test("the current model writes the summary if the preferred one fails", async () => {
	const { session, provider } = await start();
	provider.reply(httpError(400, {}, "out of order"), "DEFAULT");
	await session.compact();
	expect(provider.requests.map(({ api }) => api).slice(2)).toEqual(["anthropic-messages", "openai-completions"]);
	expect(session.entries.findLast(isCompactionEntry)).toMatchObject({ type: "compaction", summary: "DEFAULT" });
});

test("the current model writes the summary if no preferred model is known", async () => {
	const { session, provider } = await start(["nobody/none", "no-slash"]);
	provider.reply("DEFAULT");
	await session.compact();
	expect(provider.requests[2]?.api).toBe("openai-completions");
});

test("an abort during the summary leaves the context unchanged", async () => {
	const { session, provider } = await start();
	provider.reply({ content: [{ type: "text", text: "half" }], fault: { kind: "stall", at: 1 } });
	const compacting = session.compact();
	await provider.request(3);
	await session.abort();
	await expect(compacting).rejects.toMatchObject({ code: "compaction_failed" });
	expect(session.entries.every(({ type }) => type !== "compaction")).toBe(true);
});

test("/compact-with chooses the model for this session and completes available models", async () => {
	const { session, provider } = await start([]);
	expect((await session.completeArguments("compact-with", "loopback-a")).map(({ value }) => value)).toEqual([
		"loopback-anthropic/scripted",
	]);
	expect(await session.prompt("/compact-with no/thing")).toMatchObject({
		status: "Unknown model no/thing; /model lists all models",
	});
	await session.prompt("/compact-with loopback-anthropic/scripted");
	expect(await session.prompt("/compact-with")).toMatchObject({
		status: "The first available of these models writes summaries: loopback-anthropic/scripted",
	});
	provider.reply("CHEAP");
	await session.compact();
	expect(provider.requests[2]?.api).toBe("anthropic-messages");
});

test("/compact-with without a model lets the user choose one", async () => {
	const { session } = await start([]);
	const select = async (_: string, options: readonly unknown[]) => {
		const found = (options as { label: string; value: string }[]).find(({ value }) => value.includes("anthropic"));
		return found?.value ?? null;
	};
	session.attachUI({ ...NO_UI, select: select as SessionUI["select"] }, null, true);
	expect(await session.prompt("/compact-with")).toMatchObject({
		status: "loopback-anthropic/scripted now writes summaries",
	});
});
