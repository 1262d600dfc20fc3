import { expect, test } from "vitest";
import { ContextNarrator } from "../../../src/modes/plain/context-narrator.js";

test.each([
	[{ kind: "compaction", entryIndex: 3 }, "compaction"],
	[{ kind: "freeze", entryIndex: 3 }, "freeze"],
	[{ kind: "hook", hook: "/hooks/stack.ts" }, "stack"],
] as const)("hidden messages are attributed to what hides them: %j", (by, name) => {
	const narrator = new ContextNarrator();
	const user = { role: "user", content: "hi", timestamp: 0 } as const;
	narrator.reset({ messages: [{ message: user, entryIndex: 1, origin: { kind: "entry" } }], hidden: [] });
	expect(narrator.describe({ messages: [], hidden: [{ entryIndex: 1, by }] })).toEqual([
		`${name}: 1 message hidden from the model`,
	]);
});
