import { expect, test } from "vitest";
import type { ThinkingLevel } from "../../../src/log/entry.js";
import { run } from "../../cli/subcommands/run.js";
import { type JsonObject, objects } from "../../helpers/json.js";
import {
	LOOPBACK_PROVIDERS,
	type LoopbackApi,
	type LoopbackProvider,
	startProvider,
	text,
	thinking,
	toolCall,
} from "../../helpers/loopback-provider.js";
import type { ReplyBlock } from "../../helpers/provider-step.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";

const TURNS = 24;
const APIS: readonly LoopbackApi[] = [
	"openai-completions",
	"openai-responses",
	"anthropic-messages",
	"google-generative-ai",
];
const LEVELS: readonly ThinkingLevel[] = ["off", "low", "high"];

/** A request as the provider's cache sees it: tools and system prompt, then each block of each message, without cache markers. */
function cachedForm(body: JsonObject): { start: string; blocks: string[] } {
	const { tools, system, systemInstruction } = body;
	const blocks = objects(body.messages ?? body.input ?? body.contents).flatMap(({ content, parts, ...rest }) => {
		const all = content ?? parts;
		const list = Array.isArray(all) ? all : [typeof all === "string" ? { type: "text", text: all } : all];
		return list.map((part) => JSON.stringify({ ...rest, part }, withoutMarkers));
	});
	return { start: JSON.stringify({ tools, system, systemInstruction }, withoutMarkers), blocks };
}

function withoutMarkers(key: string, value: unknown): unknown {
	return key === "cache_control" ? undefined : value;
}

/** Answers with thinking and tool calls; a steering message arrives during each third call. */
function play(provider: LoopbackProvider, current: () => TestSession, api: string): void {
	let count = 0;
	provider.on(async () => {
		count++;
		const thought: ReplyBlock[] = api === "anthropic-messages" || count % 2 === 0 ? [thinking(`thought ${count}`)] : [];
		if (count % 3 === 0) return [...thought, text(`answer ${count} ö \u{1f600}`)];
		if (count % 6 === 1) await current().session.send(`steering ${count}`);
		const second = count % 4 === 0 ? [toolCall("read", { path: "notes.txt" })] : [];
		return [...thought, toolCall("bash", { command: `echo "${count}" && echo '{"b":1,"a":2}'` }), ...second];
	});
}

test.each(APIS)(
	`over %s each request starts with the bytes of the last one, over ${TURNS} turns with tools, steering, thinking and a resume`,
	async (api) => {
		const provider = await startProvider();
		const place = {
			provider,
			agentDir: tempAgentDir(),
			cwd: tempDir("pi-project-"),
			sessionDir: tempDir(),
			files: { "notes.txt": "a note\n", "AGENTS.md": "Be brief.\n" },
			model: `${LOOPBACK_PROVIDERS[api]}/scripted`,
			modelOptions: { apis: APIS, reasoning: true, contextWindow: 1_000_000 },
		};
		let started = await startSession({ ...place, session: { kind: "new" } });
		play(provider, () => started, api);
		let isResumed = false;
		for (let prompt = 0; provider.requests.length < TURNS; prompt++) {
			started.session.setThinkingLevel(LEVELS[prompt % LEVELS.length] ?? "off");
			await started.session.prompt(`prompt ${prompt}`);
			if (isResumed || provider.requests.length < TURNS / 2) continue;
			isResumed = true;
			await started.session.dispose();
			const target = started.session.sessionFile ?? "";
			started = await startSession({ ...place, session: { kind: "open", target } });
		}
		expect(isResumed).toBe(true);
		const requests = provider.requests.map(({ body }) => cachedForm(body));
		for (const [index, { start, blocks }] of requests.entries()) {
			const before = requests[index - 1];
			if (!before) continue;
			expect(start).toBe(before.start);
			expect({ index, blocks: blocks.slice(0, before.blocks.length) }).toEqual({ index, blocks: before.blocks });
			expect(blocks.length).toBeGreaterThan(before.blocks.length);
		}
		const sent = JSON.stringify(provider.requests.at(-1)?.body);
		for (const part of ["steering", "thought 2", "a note"]) expect(sent).toContain(part);
	},
	60_000,
);

const MARKERS = /"cache_control":(\{[^}]*\})/g;

test.each([
	[undefined, new Set(['{"type":"ephemeral"}'])],
	["none", new Set()],
	["short", new Set(['{"type":"ephemeral"}'])],
	["long", new Set(['{"type":"ephemeral","ttl":"1h"}'])],
])("with cacheRetention %s an Anthropic request has these markers", async (cacheRetention, markers) => {
	const { session, provider } = await startSession({
		model: "loopback-anthropic/scripted",
		...(cacheRetention === undefined ? {} : { userSettings: { cacheRetention } }),
	});
	provider.reply("ok");
	await session.prompt("go");
	const found = JSON.stringify(provider.requests[0]?.body).matchAll(MARKERS);
	expect(new Set([...found].map(([, marker]) => marker))).toEqual(markers);
});

test.each(APIS)("over %s a summary is not written to the provider's cache", async (api) => {
	const { session, provider } = await startSession({
		model: `${LOOPBACK_PROVIDERS[api]}/scripted`,
		modelOptions: { apis: APIS },
		userSettings: { cacheRetention: "long", compaction: { keepRecentTokens: 20 } },
	});
	provider.reply("a long answer. ".repeat(100), "short", "## Goal\nThe summary.");
	await session.prompt("first");
	await session.prompt("second");
	await session.compact();
	expect(provider.requests[2]?.messages[0]?.text).toContain("hand-over notes");
	const cached = provider.requests.map(({ body }) => /"(?:prompt_)?cache_\w+":/.test(JSON.stringify(body)));
	// Google's API has an implicit cache only.
	const isMarked = api !== "google-generative-ai";
	expect(cached).toEqual([isMarked, isMarked, false]);
});

test.each([
	["short", [undefined, undefined]],
	["long", ["24h", expect.any(String)]],
])("with cacheRetention %s a chat completion has these fields", async (cacheRetention, fields) => {
	const { session, provider } = await startSession({ userSettings: { cacheRetention } });
	provider.reply("ok");
	await session.prompt("go");
	const { prompt_cache_retention: retention, prompt_cache_key: key } = provider.requests[0]?.body ?? {};
	expect([retention, key]).toEqual(fields);
});

/** Appends a reminder that is another one in each request. */
const REMINDER = `export default (pi) => pi.on("context", ({ entries, messages }) => ({
	messages: [...messages, { role: "user", content: "entries so far: " + entries.length, timestamp: 0 }],
}));`;

/** What a provider caches of a request: its beginning up to each marker. */
function cachedPrefixes({ tools, system, messages }: JsonObject): string[] {
	const parts = [tools, system, ...objects(messages).map(({ content }) => content)].flatMap((list) =>
		objects(Array.isArray(list) ? list : [{ type: "text", text: list }]),
	);
	return parts.flatMap(({ cache_control: marker }, index) =>
		marker
			? [
					parts
						.slice(0, index + 1)
						.map((part) => JSON.stringify(part, withoutMarkers))
						.join("\n"),
				]
			: [],
	);
}

test.each([
	["short", '{"type":"ephemeral"}'],
	["long", '{"type":"ephemeral","ttl":"1h"}'],
])(
	"with cacheRetention %s, each request of a hook that appends a reminder finds the last one's messages",
	async (cacheRetention, marker) => {
		const started = await startSession({
			model: "loopback-anthropic/scripted",
			userSettings: { cacheRetention },
			hooks: { "reminder.ts": REMINDER },
			files: { "notes.txt": "a note\n" },
			session: { kind: "new" },
		});
		const { session, provider, agentDir, cwd } = started;
		provider.reply([toolCall("read", { path: "notes.txt" })], [toolCall("ls", {})], "done", "again");
		await session.prompt("go");
		await session.prompt("and now?");
		const bodies = provider.requests.map(({ body }) => body);
		expect(bodies).toHaveLength(4);
		for (const [index, body] of bodies.entries()) {
			const markers = [...JSON.stringify(body).matchAll(MARKERS)].map(([, found]) => found);
			expect(markers).toEqual([marker, marker, marker, marker]);
			const before = bodies[index - 1];
			if (!before) continue;
			// Of the parts that were cached, all but the one that ends with the reminder are found again.
			const longest = cachedPrefixes(body).at(-1) ?? "";
			expect(cachedPrefixes(before).map((prefix) => longest.startsWith(prefix))).toEqual([true, true, true, false]);
		}
		// Markers are no part of what is recorded.
		const { stdout } = await run(
			{ name: "context", verify: true },
			{ agentDir, cwd, session: session.sessionFile ?? "" },
		);
		expect(stdout.trim()).toBe("All 4 requests match the recorded ones");
	},
);

test("without a cache, a request of such a hook has no marker", async () => {
	const { session, provider } = await startSession({
		model: "loopback-anthropic/scripted",
		userSettings: { cacheRetention: "none" },
		hooks: { "reminder.ts": REMINDER },
	});
	provider.reply("ok");
	await session.prompt("go");
	expect(JSON.stringify(provider.requests[0]?.body)).not.toContain("cache_control");
});
