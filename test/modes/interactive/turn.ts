import type { ContextStage } from "../../../src/context/build-context.js";
import type { ContextMessage } from "../../../src/context/context-message.js";
import { Script } from "./script.js";
import type { Stage } from "./stage.js";

const FAILING_TEST = [
	...Array.from({ length: 38 }, (_, row) => `  ✓ case ${row}`),
	"  ✗ rounds half up  expected 10.13, got 10.12",
	"1 failed",
].join("\n");
const DIFF = [
	"  13 export function price(cents) {",
	"- 14   return Math.floor(cents) / 100",
	"+ 14   return Math.round(cents) / 100",
	"  15 }",
].join("\n");

/** The turn that most tests use: a question, lookups, a failing command, an edit, an answer. */
export function playTurn(stage: Stage, script = new Script()): Script {
	const read = { path: "src/price.ts", offset: 1, limit: 80 };
	const grep = { pattern: "round", path: "src" };
	const bash = { command: "npm test -- price" };
	const edit = { path: "/home/ada/src/shop/src/price.ts", oldText: "floor", newText: "round" };
	stage.play(
		{ type: "agent_start" },
		...script.user("why does checkout round down?"),
		...script.reply(
			[
				{ thinking: "The price code probably floors.\nThe test will tell." },
				{ text: "I'll look at the price code and its test." },
				{ id: "c1", tool: "read", args: read },
				{ id: "c2", tool: "grep", args: grep },
				{ id: "c3", tool: "bash", args: bash },
				{ id: "c4", tool: "edit", args: edit },
			],
			{ stop: "toolUse" },
		),
		...script.tool("c1", "read", read, "code", { lines: { first: 1, last: 80, total: 120 } }),
		...script.tool("c2", "grep", grep, "hits", { matches: 4, files: 3 }),
		...script.tool("c3", "bash", bash, `${FAILING_TEST}\nexit code 1`, { exitCode: 1, durationMs: 2400 }, true),
		...script.tool("c4", "edit", edit, "ok", { diff: DIFF, added: 1, removed: 1 }),
		...script.reply([{ text: "`Math.floor` cut the half cent. Fixed; the test passes." }]),
		{ type: "agent_end", messages: [] },
	);
	return script;
}

/** A hook that replaces the messages of entries 1 to `end` - 1 with a summary, like `/pop`. */
export function popHook(end: number, summary: string): ContextStage {
	return {
		hook: "/home/ada/.pi/agent/hooks/stack.ts",
		transform: async (messages: readonly ContextMessage[]) => ({
			messages: [
				{ message: { role: "user", content: `[Summary]\n\n${summary}`, timestamp: 0 }, entryIndex: null },
				...messages.filter(({ entryIndex }) => entryIndex === null || entryIndex >= end),
			],
		}),
	};
}
