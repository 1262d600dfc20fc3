import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { assistant, header, user } from "../helpers/entries.js";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const MINUTE = 60_000;

function at(minutes: number, { message, ...entry }: MessageEntry): MessageEntry {
	const time = START + minutes * MINUTE;
	const added = { timestamp: time } as const;
	return { ...entry, timestamp: new Date(time).toISOString(), message: { ...message, ...added } as typeof message };
}

/** A reply of a model with known prices to a request of `tokens` tokens, which it caches. */
function reply(minutes: number, tokens: number): MessageEntry {
	const { message, ...entry } = assistant("seen");
	const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: tokens - 10, totalTokens: tokens + 10 };
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const model = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
	return at(minutes, { ...entry, message: { ...message, ...model, usage: { ...usage, cost } } as typeof message });
}

/** Fifteen long prompts at once, and another one `gap` minutes later; null: none. */
export function idleSession(gap: number | null): SessionEntry[] {
	const turns = Array.from({ length: 15 }, (_, turn) => [
		at(0, user(`${turn}: ${"one two three ".repeat(3000)}`)),
		reply(0, 1000 + (turn + 1) * 10_600),
	]);
	const last = gap === null ? [] : [at(gap, user("go on")), reply(gap, 160_100)];
	return [header(), ...turns.flat(), ...last];
}
