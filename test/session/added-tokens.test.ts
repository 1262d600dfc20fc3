import { expect, test } from "vitest";
import { NO_PREAMBLE } from "../../src/context/preamble.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { SessionEntry } from "../../src/log/entry.js";
import type { ContextLog } from "../../src/session/log-view.js";
import { SessionContext } from "../../src/session/session-context.js";
import { header, user } from "../helpers/entries.js";

test("messages added after the context was computed are counted once, no matter how often the tokens are read", async () => {
	const entries: SessionEntry[] = [header(), user("one")];
	const looked: number[] = [];
	const log: ContextLog = {
		get length() {
			return entries.length;
		},
		entries,
		entry(index) {
			looked.push(index);
			return entries[index];
		},
		typeOf: (index) => entries[index]?.type,
		mayContain: () => true,
		findLast: () => -1,
	};
	const context = new SessionContext({
		log: () => log,
		stages: () => [],
		onProblem: () => {},
		onChange: () => {},
		preamble: () => NO_PREAMBLE,
		model: () => undefined,
		factInputs: () => ({ retention: undefined, flags: {}, findModel: () => null }),
		hooks: () => [],
		ownerOf: () => null,
	});
	await context.rebuild(new AbortController().signal);
	const before = context.tokens();
	looked.length = 0;
	const said = ["two", "three times as long", "four"].map((text) => {
		const entry = user(text);
		entries.push(entry);
		context.tokens();
		return estimateTokens(entry.message);
	});
	expect(context.tokens()).toBe(before + said.reduce((sum, tokens) => sum + tokens, 0));
	expect(looked).toEqual([2, 3, 4]);
});
