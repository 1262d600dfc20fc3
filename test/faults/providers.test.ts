import { expect } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { LOOPBACK_PROVIDERS, type LoopbackApi, startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { ReplyBlock, ReplyFault, ReplyStep } from "../helpers/provider-step.js";
import { drive } from "./driver.js";
import { expectNoStack } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest, IS_LONG } from "./rounds.js";

const APIS: LoopbackApi[] = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"];
const SETTINGS = { retry: { baseDelayMs: 1, maxRetries: 2 }, streamIdleTimeoutMs: 200, rememberModel: false };
/** Conversations of one process. */
const TALKS = IS_LONG ? 10 : 2;
/** Text of replies that break off. */
const BROKEN = "Part of a reply that breaks off. ";

function randomFault(random: Random): ReplyFault {
	const at = random.below(6);
	const start = random.chance(0.3) ? ("headers" as const) : at;
	return random.pick<() => ReplyFault>([
		() => ({ kind: "http", status: random.pick([400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529]) }),
		() => ({ kind: "cut", at: start }),
		() => ({ kind: "end", at }),
		() => ({ kind: "stall", at: start, ...(random.chance(0.5) ? { keepAliveMs: 20 } : {}) }),
		() => ({ kind: "error", at, type: random.pick(["overloaded_error", "api_error", "weird\x1b[31m"]) }),
		() => ({ kind: "bad_json", at }),
	])();
}

function oddCalls(random: Random): ReplyBlock[] {
	return Array.from({ length: random.below(4) }, (): ReplyBlock => {
		const name = random.pick(["ls", "read", "missing", "rä d", "x".repeat(80), "edit"]);
		const id = random.pick([undefined, "same", "same", "", "i d\u0000", "x".repeat(90)]);
		const rawArguments = random.pick([
			undefined,
			"{",
			"null",
			"[1]",
			'"text"',
			'{"path":7}',
			"{}}",
			'{"path":"\\ud800"}',
		]);
		return rawArguments === undefined ? toolCall(name, {}, id) : { type: "toolCall", name, id, rawArguments };
	});
}

function randomReply(random: Random): ReplyStep {
	const wire = { writeBytes: random.pick([undefined, 1, 7, 100]), chunkSize: random.pick([1, 16, 1000]) };
	if (random.chance(0.6)) {
		return { ...wire, content: [{ type: "text", text: BROKEN }], fault: randomFault(random) };
	}
	const text = random.pick(["", " ", "Text.", "\u0000\x1b]0;title\x07", "\ud83d\ude00".repeat(50), "x".repeat(3000)]);
	const stopReason = random.pick([undefined, undefined, "length", "content_filter", "unheard_of", null]);
	return { ...wire, content: [{ type: "text", text }, ...oddCalls(random)], stopReason };
}

faultTest(
	"providers",
	`${TALKS} conversations survive random faults of the provider`,
	{ short: 1, long: 30, perTest: 5 },
	async ({ random }) => {
		const provider = await startProvider();
		const agentDir = agentDirFor(provider, { settings: SETTINGS, models: provider.modelsJson({ apis: APIS }) });
		const driver = drive([], { agentDir });
		for (let talk = 0; talk < TALKS; talk++) {
			let left = 2 + random.below(6);
			provider.on(() => (left-- > 0 ? randomReply(random) : "Fine."));
			await driver.client.call("reset");
			await driver.client.call("set_model", { provider: LOOPBACK_PROVIDERS[random.pick(APIS)], modelId: "scripted" });
			await driver.ask("first");
			await driver.ask("second");
			// Whatever happened, the next prompt is answered.
			left = 0;
			await driver.ask("third");
			expect(await driver.client.call("get_last_assistant_text")).toEqual({ text: "Fine." });
		}
		driver.end();
		expect(await driver.exited).toEqual({ code: 0, signal: null });
		expectNoStack(driver.stderr());
		const broken = driver.events.flatMap((event) =>
			event.type === "message_end" && event.message.role === "assistant" && isBroken(event.message)
				? [event.message]
				: [],
		);
		expect(broken.filter(({ stopReason }) => stopReason === "stop" || stopReason === "toolUse")).toEqual([]);
		expect(provider.violations).toEqual([]);
	},
);

/** True for a part of the text. A complete text means that only a line of the stream was invalid. */
function isBroken({ content }: { content: readonly unknown[] }): boolean {
	const text = JSON.stringify(content);
	return text.includes(BROKEN.slice(0, 4)) && !text.includes(BROKEN.trim());
}
