import type { Api, Message, Model, UserMessage } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import type { TracedMessage } from "../../src/context/context-message.js";
import { convertToLlm } from "../../src/context/convert.js";
import { compactionMessage } from "../../src/context/entry-message.js";
import { findNativeSummary, withNativeCompaction } from "../../src/context/native-compaction.js";
import { type AppMessage, type CompactionEntry, messageText, type SessionEntry } from "../../src/log/entry.js";
import { networkOf } from "../../src/network/network.js";
import { loadModelClient } from "../../src/services/models/model-client.js";
import { assistant, compaction, session, user } from "../helpers/entries.js";

const TARGET = { api: "openai-responses", provider: "test" };
const ITEM = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAA" };

function nativeCompaction(firstKept: number, summary: string, target = TARGET): CompactionEntry {
	return { ...compaction(firstKept, summary), native: { ...target, items: [ITEM] } };
}

const undo = (entryIndex: number): SessionEntry => ({
	type: "context_undo",
	timestamp: "2026-01-01T00:00:00.000Z",
	entryIndex,
});

/** The compaction that a request without hooks has in its provider's own form. */
async function found(entries: readonly SessionEntry[], target = TARGET) {
	const { messages } = await buildContext(entries, []);
	return findNativeSummary(messages, entries, target);
}

describe("which compaction is sent in its provider's own form", () => {
	const talk = [user("u1"), assistant("a1"), user("u2")]; // 1 to 3

	test("the active one, to models of its provider and wire format", async () => {
		const entries = session(...talk, nativeCompaction(3, "C"));
		expect(await found(entries)).toEqual({ entryIndex: 4, position: 0 });
		expect(await found(entries, { ...TARGET, provider: "other" })).toBe(null);
		expect(await found(entries, { ...TARGET, api: "openai-completions" })).toBe(null);
	});

	test("none before the first compaction, after its undo, and after a later one without such a form", async () => {
		const entries = session(...talk, nativeCompaction(3, "C"));
		expect(await found(session(...talk))).toBe(null);
		expect(await found([...entries, undo(4)])).toBe(null);
		expect(await found([...entries, user("u3"), compaction(5, "D")])).toBe(null);
		expect(await found([...entries, user("u3"), compaction(5, "D"), undo(6)])).toMatchObject({ entryIndex: 4 });
	});

	test("none of a wire format whose requests pi cannot change", async () => {
		const target = { api: "pi-messages", provider: "test" };
		expect(await found(session(...talk, nativeCompaction(3, "C", target)), target)).toBe(null);
	});

	test("none whose summary the client would change", async () => {
		expect(await found(session(...talk, nativeCompaction(3, "C \ud83d")))).toBe(null);
		expect(await found(session(...talk, nativeCompaction(3, "C \ud83d\ude48")))).toMatchObject({ entryIndex: 4 });
	});

	test("a freeze keeps the form of the request that it repeats, so that the provider's cache does", async () => {
		const reply = assistant("a2");
		const shape = [{ compaction: 4 }, [3, 4] as const];
		const frozen = { ...reply, context: { digest: "", messages: 2, tokens: 1, shape } };
		const entries: SessionEntry[] = [
			...session(...talk, nativeCompaction(3, "C"), frozen, user("u3")),
			{ type: "context_freeze", timestamp: "2026-01-01T00:00:00.000Z", entryIndex: 5 },
		];
		expect(await found(entries)).toEqual({ entryIndex: 4, position: 0 });
		const hidden = { ...frozen, context: { ...frozen.context, shape: [[3, 4] as const] } };
		expect(await found(entries.with(5, hidden))).toBe(null);
	});
});

/** Changes that hooks make to messages. */
type Change =
	| { kind: "hide" | "copy" | "reword" | "blocks" | "image" | "surrogate"; at: number }
	| { kind: "repeat"; at: number; to: number };

const changes: fc.Arbitrary<Change[]> = fc.array(
	fc.oneof(
		fc.record({
			kind: fc.constantFrom("hide", "copy", "reword", "blocks", "image", "surrogate"),
			at: fc.nat({ max: 5 }),
		}),
		fc.record({ kind: fc.constant("repeat"), at: fc.constant(0), to: fc.nat({ max: 6 }) }),
	),
	{ maxLength: 4 },
) as fc.Arbitrary<Change[]>;

const PNG = { type: "image" as const, mimeType: "image/png", data: "aGk=" };

function apply(messages: readonly TracedMessage[], change: Change): TracedMessage[] {
	const chosen = messages[change.at];
	if (chosen?.message.role !== "user" || typeof chosen.message.content !== "string") return [...messages];
	const { content } = chosen.message;
	const origin = { kind: "hook", hook: "/a.ts" } as const;
	const replace = (given: UserMessage["content"]) =>
		messages.with(change.at, { ...chosen, origin, message: { ...chosen.message, content: given } as AppMessage });
	switch (change.kind) {
		case "hide":
			return messages.toSpliced(change.at, 1);
		case "copy":
			return replace(content);
		case "reword":
			return replace(`${content}!`);
		case "blocks":
			return replace([
				{ type: "text", text: content.slice(0, 3) },
				{ type: "text", text: content.slice(3) },
			]);
		case "image":
			return replace([{ type: "text", text: content }, PNG]);
		case "surrogate":
			return replace(`${content}\udc00`);
		case "repeat":
			return messages.toSpliced(change.to, 0, { entryIndex: null, origin, message: { ...chosen.message } });
	}
}

const APIS = [
	["openai-responses", "input"],
	["azure-openai-responses", "input"],
	["openai-codex-responses", "input"],
	["openai-completions", "messages"],
	["anthropic-messages", "messages"],
	["bedrock-converse-stream", "messages"],
	["mistral-conversations", "messages"],
	["google-generative-ai", "contents"],
	["google-vertex", "contents"],
] as const;

/** A key that all clients accept: Codex reads the account from it. */
const KEY = `e30.${Buffer.from('{"https://api.openai.com/auth":{"chatgpt_account_id":"a"}}').toString("base64url")}.c2ln`;

describe.each(APIS)("in the body of %s", (api, member) => {
	let client: Awaited<ReturnType<typeof loadModelClient>>;
	beforeAll(async () => {
		client = await loadModelClient(await networkOf({}));
		await client.prepare(model);
	});
	const model: Model<Api> = {
		...{ id: "m", name: "M", api, provider: "test", baseUrl: "http://127.0.0.1:9/v1", reasoning: false },
		...{ input: ["text", "image"], contextWindow: 100_000, maxTokens: 1000 },
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	};

	/** The body that the client makes. Nothing is sent. */
	async function bodyOf(messages: Message[]): Promise<Record<string, unknown>> {
		let body: unknown;
		const onPayload = (payload: unknown) => {
			body = structuredClone(payload);
			throw new Error("not sent");
		};
		await client.stream(model, { messages }, { apiKey: KEY, maxRetries: 0, onPayload }).result();
		return Object(body);
	}

	test("the items replace the summary exactly if the request has it once and unchanged", async () => {
		const target = { api, provider: "test" };
		const compacted = nativeCompaction(3, "Talked 🙈 about u1.", target);
		const entries = session(user("u1"), assistant("a1"), user("u2"), assistant("a2"), user("u3"), compacted);
		const { messages: core } = await buildContext(entries, []);
		const summary = messageText(compactionMessage(compacted));
		await fc.assert(
			fc.asyncProperty(changes, async (hookChanges) => {
				const messages = hookChanges.reduce(apply, [...core]);
				if (messages.length === 0) return;
				const list = Object(await bodyOf(convertToLlm(messages.map(({ message }) => message))))[member];
				const same = list.filter((item: unknown) => textIn(item) === summary);
				const isReplaced = same.length === 1 && !hasImage(same[0]);
				const native = findNativeSummary(messages, entries, target);
				expect(native !== null).toBe(isReplaced);
				if (!native) return;
				const sent = withNativeCompaction({ [member]: list, model: "m" }, compacted);
				expect(sent).toEqual({ model: "m", [member]: list.with(list.indexOf(same[0]), ITEM) });
			}),
			{ numRuns: 60 },
		);
	});
});

function partsOf(item: unknown): readonly { text?: string; cachePoint?: unknown }[] {
	const { role, content, parts = content } = Object(item);
	if (role !== "user") return [];
	return typeof parts === "string" ? [{ text: parts }] : parts;
}

/** The text of a user message in a body, without its images; empty for other items. */
function textIn(item: unknown): string {
	return partsOf(item)
		.map(({ text = "" }) => text)
		.join("");
}

function hasImage(item: unknown): boolean {
	return partsOf(item).some(({ text, cachePoint }) => text === undefined && cachePoint === undefined);
}
