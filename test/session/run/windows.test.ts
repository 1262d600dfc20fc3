import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PiError } from "../../../src/errors.js";
import { isMessageEntry, isUserMessageEntry, messageText, type SessionEntry } from "../../../src/log/entry.js";
import type { ProviderRequest, Reply } from "../../helpers/loopback-provider.js";
import { httpError, LoopbackProvider, toolCall } from "../../helpers/loopback-provider.js";
import { PROPERTY_TIMEOUT_MS, propertyBlocks } from "../../helpers/property-blocks.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";
import { enforceWindows, vllmRefusal } from "../../helpers/window-server.js";

const isSummary = ({ messages }: ProviderRequest) => messages[0]?.text.startsWith("You write hand-over notes") === true;

/** Reads a file of 6,000 characters, then answers. */
function worker(request: ProviderRequest): Reply {
	if (isSummary(request)) return "## Goal\nThe work goes on.";
	const last = request.messages.at(-1);
	return last?.role === "user" ? [toolCall("read", { path: "a.txt" })] : "Done.";
}

describe.each([4096, 8192, 16_384, 32_768])("a window of %i tokens that the server enforces", (window) => {
	test("answers each of 24 prompts with tools", async () => {
		const { session, provider } = await startSession({
			modelOptions: { contextWindow: window, maxTokens: 4096 },
			userSettings: { retry: { enabled: false } },
			files: { "a.txt": "lorem ipsum dolor sit amet\n".repeat(220) },
		});
		const seen = enforceWindows(provider, { windows: { scripted: window }, bytesPerToken: 3.6 }, worker);
		for (let turn = 0; turn < 24; turn++) {
			const result = await session.prompt(`Question ${turn}: what does the file say?`);
			expect(result).toMatchObject({ kind: "run", outcome: { stopped: null, last: { stopReason: "stop" } } });
			const last = seen.accepted.findLast((request) => !isSummary(request));
			expect(JSON.stringify(last?.messages)).toContain(`Question ${turn}:`);
		}
		expect(seen.refused.length).toBeLessThanOrEqual(1);
	});
});

test("a refusal of a short first prompt is one message, and later prompts are sent to the model", async () => {
	const { session, provider } = await startSession({ modelOptions: { contextWindow: 128_000 } });
	const refusal = "maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
	const events: string[] = [];
	session.subscribe((event) => {
		if (event.type === "auto_compaction_start" || event.type === "auto_compaction_end") events.push(event.type);
		if (event.type === "notice") events.push(event.message);
	});
	provider.on(() => httpError(400, {}, refusal));
	await session.prompt("hi");
	expect(events).toEqual([]);
	provider.on(() => "Hello.");
	expect(await session.prompt("hi again")).toMatchObject({ outcome: { stopped: null, last: { stopReason: "stop" } } });
	expect(events).toEqual([]);
});

const WINDOWS = [4096, 6000, 8192, 16_384, 32_768, 131_072, 1_000_000];

/** What a person does in a random session. */
type Action =
	| { kind: "prompt"; bytes: number; reads: number; fileBytes: number; replyBytes: number }
	| { kind: "model"; index: number }
	| { kind: "pin" }
	| { kind: "fold" }
	| { kind: "compact" }
	| { kind: "uncompact" };

const size = (max: number) => fc.double({ min: 0, max: 1, noNaN: true }).map((share) => Math.ceil(share ** 4 * max));

const action: fc.Arbitrary<Action> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant<"prompt">("prompt"),
			bytes: size(60_000),
			reads: fc.nat(3),
			fileBytes: size(60_000),
			replyBytes: size(8_000),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("model" as const), index: fc.nat(2) }) },
	{
		weight: 1,
		arbitrary: fc.constantFrom<Exclude<Action, { kind: "prompt" | "model" }>>(
			{ kind: "pin" },
			{ kind: "fold" },
			{ kind: "compact" },
			{ kind: "uncompact" },
		),
	},
);

interface Scenario {
	/** Context windows of the models, in tokens of the server. */
	windows: readonly number[];
	/** Bytes of a request's JSON for each token, by the server's count. */
	bytesPerToken: number;
	/** Whether a refusal names the window and the tokens of the request. */
	names: boolean;
	reportsUsage: boolean;
	failsSummaries: string;
	actions: readonly Action[];
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
	windows: fc.array(fc.constantFrom(...WINDOWS), { minLength: 3, maxLength: 3 }),
	bytesPerToken: fc.double({ min: 2.6, max: 5, noNaN: true }),
	names: fc.boolean(),
	reportsUsage: fc.boolean(),
	failsSummaries: fc.constantFrom("no", "no", "error", "length", "empty"),
	actions: fc.array(action, { minLength: 4, maxLength: 14 }),
});

/** A prompt that fits, but seems too large after refusals that name no sizes. */
const FITS_ONLY_JUST: Scenario = {
	windows: [4096, 4096, 32_768],
	bytesPerToken: 2.6,
	names: false,
	reportsUsage: false,
	failsSummaries: "no",
	actions: [
		{ kind: "model", index: 2 },
		...[56_021, 0, 0].map((bytes) => ({ kind: "prompt" as const, bytes, reads: 0, fileBytes: 0, replyBytes: 0 })),
	],
};

const HOOKS = Object.fromEntries(
	["pin.ts", "fold.ts"].map((name) => [
		name,
		readFileSync(join(import.meta.dirname, "../../../hooks-examples", name), "utf8"),
	]),
);

describe("no sequence of prompts, models and windows ends in a request that cannot be sent", () => {
	test.each([["a prompt that only just fits", FITS_ONLY_JUST]])("%s", (_, example) => play(example, tempAgentDir()));

	test.each(propertyBlocks(8))(
		"$runs random sessions with seed $seed",
		async ({ runs, seed }) => {
			const agentDir = tempAgentDir();
			const property = fc.asyncProperty(scenario, (random) => play(random, agentDir));
			await fc.assert(property, { numRuns: runs, seed });
		},
		PROPERTY_TIMEOUT_MS,
	);
});

/** System prompt and tools as JSON, about. */
const WIRE_PREAMBLE_BYTES = 9000;

/** The entries of each turn, which begins with a prompt. */
function turnsOf(entries: readonly SessionEntry[]): SessionEntry[][] {
	const turns: SessionEntry[][] = [];
	for (const entry of entries) {
		if (isUserMessageEntry(entry)) turns.push([entry]);
		else turns.at(-1)?.push(entry);
	}
	return turns;
}

/**
 * Plays a session against a server that enforces its windows.
 * @throws Error when a prompt that fits is not answered, or a request breaks a rule, lacks the prompt or lacks a pin
 */
async function play(scenario: Scenario, agentDir: string): Promise<void> {
	const provider = new LoopbackProvider();
	await provider.start();
	try {
		await playWith(provider, scenario, agentDir);
		expect(provider.violations).toEqual([]);
	} finally {
		await provider.close();
	}
}

async function playWith(
	provider: LoopbackProvider,
	{ windows, bytesPerToken, names, reportsUsage, failsSummaries, actions }: Scenario,
	agentDir: string,
): Promise<void> {
	const json = provider.modelsJson({ maxTokens: 8192 }) as { providers: Record<string, { models: object[] }> };
	const loopback = json.providers.loopback;
	if (!loopback) throw new Error("no provider");
	const [template] = loopback.models;
	loopback.models = windows.map((contextWindow, at) => ({ ...template, id: `m${at}`, name: `m${at}`, contextWindow }));
	provider.modelsJson = () => json as ReturnType<typeof provider.modelsJson>;
	const { session, cwd } = await startSession({
		provider,
		agentDir,
		hooks: HOOKS,
		model: "loopback/m0",
		userSettings: { retry: { enabled: false } },
	});
	const model = (at: number) => {
		return { ...provider.model({ id: `m${at}`, contextWindow: windows[at] ?? 0, maxTokens: 8192 }), name: `m${at}` };
	};
	let plan: Extract<Action, { kind: "prompt" }> | null = null;
	let reads = 0;
	const seen = enforceWindows(
		provider,
		{
			windows: Object.fromEntries(windows.map((window, at) => [`m${at}`, window])),
			bytesPerToken,
			reportsUsage,
			refusal: names ? vllmRefusal : () => "context_length_exceeded",
		},
		(request) => {
			if (isSummary(request)) {
				if (failsSummaries === "error") return { fault: { kind: "http", status: 500, message: "no" } };
				if (failsSummaries === "empty") return "";
				return {
					content: [{ type: "text", text: "## Goal\nGo on. ".repeat(20) }],
					stopReason: failsSummaries === "length" ? "length" : "stop",
				};
			}
			if (plan && reads < plan.reads) {
				reads += 1;
				return [toolCall("read", { path: "a.txt" })];
			}
			return "y".repeat(Math.max(1, plan?.replyBytes ?? 1));
		},
	);
	const prompts: string[] = [];
	const pinned: string[] = [];
	const pinnedTurns = new Set<number>();
	let folded = false;
	for (const [at, action] of actions.entries()) {
		if (action.kind === "model") await session.setModel(model(action.index));
		else if (action.kind === "compact" || action.kind === "uncompact")
			await session.prompt(action.kind === "compact" ? "/compact" : "/uncompact anyway").catch(() => {});
		else if (action.kind === "pin") {
			if (folded) continue;
			const turns = turnsOf(session.entries);
			const number = turns.findIndex((turn, at) => !pinnedTurns.has(at) && JSON.stringify(turn).length < 1500);
			const prompt = turns[number]?.[0];
			if (!isMessageEntry(prompt)) continue;
			await session.prompt(`/pin ${number + 1}`);
			expect(session.entries.at(-1)).toMatchObject({ type: "pin" });
			pinnedTurns.add(number);
			pinned.push(messageText(prompt.message));
		} else if (action.kind === "fold") {
			// A folded turn is not sent, pinned or not.
			if (pinned.length > 0) continue;
			folded = true;
			if (turnsOf(session.entries).length > 2) await session.prompt("/fold 1 2 short").catch(() => {});
		} else {
			plan = action;
			reads = 0;
			writeFiles(cwd, { "a.txt": "lorem ipsum\n".repeat(Math.ceil(action.fileBytes / 12)) });
			const text = `Prompt ${at}: ${"z".repeat(action.bytes)}`;
			const before = session.entries.length;
			const result = await session.prompt(text).catch((error: unknown) => error);
			if (result instanceof PiError && result.code === "prompt_too_large") {
				expect(session.entries.length).toBe(before);
				continue;
			}
			prompts.push(text);
			const outcome = (result as { outcome?: { last: AssistantMessage | null; stopped: string | null } }).outcome;
			// The session may compact right after the run.
			const last = seen.accepted.findLast((request) => !isSummary(request));
			// By the server's count the prompt alone may be too large, which pi learns from its refusal.
			const alone = (Buffer.byteLength(text) + WIRE_PREAMBLE_BYTES) / bytesPerToken;
			if (alone > 0.8 * (windows[Number(session.model?.id.slice(1))] ?? 0) && outcome?.last?.stopReason !== "stop")
				continue;
			expect(outcome?.stopped, `prompt of ${action.bytes} bytes`).toBeNull();
			expect(outcome?.last?.stopReason, outcome?.last?.errorMessage).toBe("stop");
			const sent = JSON.stringify(last?.messages);
			expect(sent.includes(JSON.stringify(text).slice(1, -1)), "the latest prompt stands verbatim").toBe(true);
			for (const pin of pinned)
				expect(sent.includes(JSON.stringify(pin).slice(1, -1)), "pins stand verbatim").toBe(true);
		}
	}
	const logged = session.entries.filter(isUserMessageEntry).map(({ message }) => messageText(message));
	expect(logged, "no prompt is lost").toEqual(prompts);
}
