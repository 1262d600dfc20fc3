import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isCompactionEntry } from "../../../src/log/entry.js";
import { header, user } from "../../helpers/entries.js";
import {
	httpError,
	type LoopbackProvider,
	type ProviderRequest,
	startProvider,
	toolCall,
} from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { replyAt } from "../../helpers/usage.js";
import { enforceWindows, vllmRefusal } from "../../helpers/window-server.js";

const SETTINGS = { compaction: { keepRecentTokens: 20 }, retry: { baseDelayMs: 1, maxRetries: 2 } };
const isSummary = ({ messages }: ProviderRequest) => messages[0]?.text.startsWith("You write hand-over notes") === true;

/** A session with a long answer that read a file, and a short one. */
async function conversation(options: Parameters<typeof startSession>[0] = {}): Promise<TestSession> {
	const started = await startSession({
		userSettings: SETTINGS,
		files: { "a.txt": "lorem ipsum\n".repeat(40) },
		...options,
	});
	started.provider.reply([toolCall("read", { path: "a.txt" })], `Long answer. ${"It goes on. ".repeat(80)}`, "Short.");
	await started.session.prompt("first question");
	await started.session.prompt("second question");
	return started;
}

const compactionOf = ({ session }: TestSession) => session.entries.findLast(isCompactionEntry);
const summaryRequests = ({ provider }: TestSession) => provider.requests.filter(isSummary);

describe("a summary by the model", () => {
	test("lists the files that were read and changed, and merges the summary before it", async () => {
		const started = await conversation();
		const { session, provider } = started;
		provider.reply("## Goal\nThe first goal.");
		await session.compact();
		expect(compactionOf(started)?.summary).toBe("## Goal\nThe first goal.\n\n<files-read>\na.txt\n</files-read>");
		provider.reply(
			[toolCall("write", { path: "b.txt", content: "b" })],
			"Written. ".repeat(60),
			"Yes.",
			"## Goal\nBoth.",
		);
		await session.prompt("third question");
		await session.prompt("fourth question");
		await session.compact();
		const request = summaryRequests(started).at(-1)?.messages.at(-1)?.text ?? "";
		expect(request).toContain("<notes-so-far>\n## Goal\nThe first goal.\n</notes-so-far>");
		expect(request).not.toContain("files-read");
		expect(compactionOf(started)?.summary).toContain("<files-changed>\nb.txt\n</files-changed>");
		expect(compactionOf(started)?.summary).toContain("<files-read>\na.txt\n</files-read>");
		expect(compactionOf(started)?.details).toMatchObject({ readFiles: ["a.txt"], modifiedFiles: ["b.txt"] });
	});

	test("is asked for again after an overload", async () => {
		const started = await conversation();
		started.provider.reply(httpError(529, {}, "overloaded"), httpError(529, {}, "overloaded"), "NOTES");
		await started.session.compact();
		expect(compactionOf(started)).toMatchObject({ details: { model: "loopback/scripted" } });
		expect(compactionOf(started)?.summary).toContain("NOTES");
		expect(started.notices().join()).toContain("asking again");
	});

	test("is continued when it was cut off, and asked for again, shorter, when it is too long", async () => {
		const started = await conversation();
		started.provider.reply(
			{ content: [{ type: "text", text: "## Goal\nHalf a" }], stopReason: "length" },
			" sentence.",
		);
		await started.session.compact();
		expect(compactionOf(started)?.summary).toContain("## Goal\nHalf a sentence.");
		expect(summaryRequests(started)[1]?.messages.at(-1)?.text).toContain("<written>\n## Goal\nHalf a\n</written>");

		const other = await conversation({ modelOptions: { contextWindow: 8192 } });
		const endless = { content: [{ type: "text" as const, text: "word ".repeat(4000) }], stopReason: "length" };
		other.provider.reply(endless, "## Goal\nShort now.");
		await other.session.compact();
		expect(compactionOf(other)?.summary).toContain("Short now.");
		expect(summaryRequests(other)[1]?.messages.at(-1)?.text).toContain("cut off because it was too long");
	});

	test.each([
		["fails", httpError(400, {}, "no such model"), "400 no such model"],
		["is empty", { content: [] }, "empty summary"],
		[
			"is cut off again and again",
			{ content: [{ type: "text" as const, text: "w ".repeat(9000) }], stopReason: "length" },
			"cut off",
		],
	])("is written by pi when it %s, which says so", async (_, reply, reason) => {
		const started = await conversation();
		started.provider.on(() => reply);
		await started.session.compact();
		const entry = compactionOf(started);
		expect(entry?.details).toMatchObject({ model: null, reason: expect.stringContaining(reason) });
		expect(entry?.summary).toContain("- first question");
		expect(entry?.summary).toContain("<files-read>\na.txt\n</files-read>");
		expect(started.notices().join()).toContain("pi lists prompts, files and commands instead");
	});

	test("comes from the model of the setting compaction.model, with the session's own in reserve", async () => {
		const settings = { ...SETTINGS, compaction: { keepRecentTokens: 20, model: "loopback-anthropic/scripted" } };
		const started = await conversation({ userSettings: settings });
		started.provider.reply("FROM THE OTHER");
		await started.session.compact();
		expect(started.provider.requests.at(-1)?.api).toBe("anthropic-messages");
		expect(compactionOf(started)?.details).toMatchObject({ model: "loopback-anthropic/scripted" });

		const second = await conversation({ userSettings: settings });
		second.provider.reply(httpError(400, {}, "no"), "FROM ITS OWN");
		await second.session.compact();
		expect(compactionOf(second)?.summary).toContain("FROM ITS OWN");
	});
});

/** A provider with the models `large` and `small`, which differ in their windows. */
async function twoSizes(change?: (providers: Record<string, object>) => void): Promise<LoopbackProvider> {
	const provider = await startProvider();
	const json = provider.modelsJson() as { providers: { loopback: { models: object[] } } };
	const { loopback } = json.providers;
	const [model] = loopback.models;
	loopback.models = [
		{ ...model, id: "large", contextWindow: 200_000 },
		{ ...model, id: "small", contextWindow: 8192 },
	];
	change?.(json.providers as unknown as Record<string, object>);
	provider.modelsJson = () => json as never;
	return provider;
}

test("after a switch to a small model the larger one writes the summary, in one request", async () => {
	const provider = await twoSizes();
	const userSettings = { retry: { enabled: false } };
	const started = await startSession({ provider, model: "loopback/large", userSettings });
	provider.reply("word ".repeat(8000), "NOTES", "Fine.");
	await started.session.prompt("write a lot");
	await started.session.setModel(provider.model({ id: "small", contextWindow: 8192 }));
	await started.session.prompt("go on");
	expect(provider.requests.map(({ body }) => body.model)).toEqual(["large", "large", "small"]);
	expect(started.sent(3).at(-1)).toBe("user: go on");
	expect(provider.violations).toEqual([]);
});

describe("a model that refuses a request for a summary as too long", () => {
	const REFUSALS = [
		["names its window", vllmRefusal],
		["names no sizes", () => "context_length_exceeded"],
	] as const;

	test.each(REFUSALS)("gets a smaller one each time when it %s", async (_, refusal) => {
		const started = await startSession({ modelOptions: { contextWindow: 100_000 }, userSettings: SETTINGS });
		started.provider.reply("word ".repeat(6000), "Short.");
		await started.session.prompt("first question");
		await started.session.prompt("second question");
		const windows = { scripted: 4096 };
		const seen = enforceWindows(started.provider, { windows, bytesPerToken: 4, refusal }, () => "NOTES");
		await started.session.compact();
		expect(compactionOf(started)?.summary).toContain("NOTES");
		const sizes = seen.refused.map(({ body }) => JSON.stringify(body).length);
		expect(sizes.length).toBeGreaterThan(0);
		expect(sizes.length).toBeLessThan(5);
		expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => b - a));
	});

	test("gets none that exceeds its window after a summary that was written for a larger one", async () => {
		const provider = await twoSizes();
		const compaction = { keepRecentTokens: 20, model: "loopback/large" };
		const agentDir = tempAgentDir();
		const options = { provider, agentDir, model: "loopback/large" };
		const started = await startSession({ ...options, userSettings: { compaction } });
		provider.reply("Long answer. ".repeat(500), "Short.", "PART OF THE NOTES. ".repeat(2500));
		await started.session.prompt("first question");
		await started.session.prompt("second question");
		await started.session.compact();
		provider.reply("Long answer. ".repeat(500), "Short.");
		await started.session.prompt("third question");
		await started.session.prompt("fourth question");
		await writeFiles(agentDir, { "settings.json": { compaction: { ...compaction, model: "loopback/small" } } });
		await started.session.reload();
		const seen = enforceWindows(provider, { windows: { small: 8192 }, bytesPerToken: 4 }, () => "NOTES");
		await started.session.compact();
		expect(seen.refused).toEqual([]);
		expect(new Set(seen.accepted.map(({ body }) => body.model))).toEqual(new Set(["small"]));
		const requests = seen.accepted.map(({ messages }) => messages.at(-1)?.text ?? "");
		expect(requests.join("").split("THE NOTES.").length - 1).toBeGreaterThan(2490);
		expect(compactionOf(started)?.summary).toContain("NOTES");
	});
});

test("a larger model without a key is not asked for a summary", async () => {
	const provider = await twoSizes((json) => {
		json.keyless = { ...json.loopback, baseUrl: "https://models.invalid/v1", apiKey: undefined };
	});
	const target = join(tempDir(), "old.jsonl");
	const reply = replyAt("2026-01-02T03:04:05.678Z", { model: "keyless/large", text: "word ".repeat(8000) });
	const lines = [header(), user("write a lot"), reply];
	writeFileSync(target, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	const session = { kind: "open" as const, target };
	const started = await startSession({ provider, model: "loopback/small", session });
	provider.on(() => "NOTES");
	await started.session.prompt("go on");
	expect(compactionOf(started)?.details).toMatchObject({ model: "loopback/small" });
	expect(started.notices().join()).not.toContain("key");
});

test("an aborted compaction leaves the context unchanged", async () => {
	const started = await conversation();
	const before = started.session.entries.length;
	started.provider.reply({ fault: { kind: "stall", at: "headers" } });
	const compacting = started.session.compact();
	await started.provider.request(4);
	await started.session.abort();
	await expect(compacting).rejects.toMatchObject({ code: "compaction_failed" });
	expect(started.session.entries).toHaveLength(before);
});

describe("a small window", () => {
	test("shortens long outputs of the kept part, reversibly and as recorded", async () => {
		const started = await startSession({
			session: { kind: "new" },
			modelOptions: { contextWindow: 8192, maxTokens: 512 },
			userSettings: { retry: { enabled: false } },
			files: { "a.txt": "lorem ipsum dolor\n".repeat(900) },
		});
		const { session, provider } = started;
		enforceWindows(provider, { windows: { scripted: 8192 }, bytesPerToken: 4 }, (request) => {
			if (isSummary(request)) return "NOTES";
			return request.messages.at(-1)?.role === "user" ? [toolCall("read", { path: "a.txt" })] : "Done.";
		});
		for (const prompt of ["one", "two", "three"]) await session.prompt(prompt);
		const entry = compactionOf(started);
		expect(entry?.shortened?.length).toBeGreaterThan(0);
		const shortened = session.context.messages.filter(({ origin }) => origin.kind === "shortened");
		expect(JSON.stringify(shortened)).toContain("characters left out to save room");
		await session.prompt("/uncompact anyway");
		const undone = session.entries.findLastIndex(isCompactionEntry);
		const isLeft = ({ origin }: (typeof shortened)[number]) =>
			origin.kind === "shortened" && origin.entryIndex === undone;
		expect(session.context.messages.some(isLeft)).toBe(false);
	});

	test("refuses a prompt that does not fit, with its size, before it is logged", async () => {
		const { session, provider } = await startSession({ modelOptions: { contextWindow: 8192 } });
		const before = session.entries.length;
		await expect(session.prompt("too much ".repeat(6000))).rejects.toMatchObject({
			code: "prompt_too_large",
			message: expect.stringMatching(/^The prompt has about 13,\d+ tokens, but Scripted has a window of 8,192/),
			hint: expect.stringContaining("choose a model with a larger window"),
		});
		expect(session.entries).toHaveLength(before);
		expect(provider.requests).toEqual([]);
	});

	test("stops a run instead of sending a request that is known to be too large", async () => {
		const { session, provider } = await startSession({
			modelOptions: { contextWindow: 8192 },
			userSettings: { compaction: { enabled: false } },
		});
		const content = [{ type: "text" as const, text: "word ".repeat(6000) }];
		provider.reply({ content, usage: { input: 1900, output: 7500 } });
		await session.prompt("write a lot");
		const result = await session.prompt("go on");
		expect(result).toMatchObject({
			outcome: { stopped: expect.stringMatching(/^The context is too large: .*\/compact makes room/) },
		});
		expect(provider.requests).toHaveLength(1);
	});
});
