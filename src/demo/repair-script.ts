import type { FinishedCall, ScriptedReply } from "./conversation.js";
import { SCRATCH_BUG } from "./scratch-project.js";

const NEEDED = ["grep", "read", "bash", "edit"];

/**
 * The next step of the repair, chosen by the tool results so far: search, run the tests, edit, run them again, report.
 * @param calls finished calls since the user asked for the repair, oldest first
 */
export function nextRepairStep(calls: readonly FinishedCall[], tools: ReadonlySet<string>): ScriptedReply {
	const missing = NEEDED.filter((name) => !tools.has(name));
	if (missing.length > 0) {
		return { text: `The repair needs the tools ${NEEDED.join(", ")}; switched off: ${missing.join(", ")}.` };
	}
	const searches = calls.filter(({ name }) => name === "grep" || name === "read");
	const runs = calls.filter(({ name }) => name === "bash");
	const edit = calls.findLast(({ name }) => name === "edit");
	const lastRun = runs.at(-1);

	if (searches.length === 0) return SEARCH;
	if (!searches.some(({ output }) => output.includes("withTax"))) return { text: OTHER_PROJECT };
	if (!lastRun) return RUN;
	if (!edit && passed(lastRun)) return { text: NOTHING_TO_DO };
	if (!edit)
		return lastRun.output.includes("2379")
			? REPAIR
			: { text: `The tests cannot run here:\n\n${quote(lastRun.output)}` };
	if (edit.failed) return { text: `The edit failed, so nothing changed. The tool reported:\n\n${quote(edit.output)}` };
	if (calls.indexOf(edit) > calls.indexOf(lastRun)) return RUN_AGAIN;
	return passed(lastRun) ? { text: DONE } : { text: `The tests still fail:\n\n${quote(lastRun.output)}` };
}

function passed({ failed, output }: FinishedCall): boolean {
	return !failed && !/^(?:# |ℹ )fail [1-9]/m.test(output);
}

/** The end of an output as a code block. */
function quote(output: string): string {
	const lines = output.trimEnd().split("\n").slice(-12).join("\n");
	return `\`\`\`\n${lines.replaceAll("```", "'''")}\n\`\`\``;
}

const SEARCH: ScriptedReply = {
	thinking: "A small shop. Before I run anything, I will check where prices are computed and what the tests expect.",
	text: "I will check how prices are computed and what the tests expect.",
	toolCalls: [
		{ name: "grep", arguments: { pattern: "withTax|Math\\.", path: "src" } },
		{ name: "read", arguments: { path: "test/price.test.js" } },
	],
};

const RUN: ScriptedReply = {
	text: "Now I will run the tests to see the failure.",
	toolCalls: [{ name: "bash", arguments: { command: "npm test" } }],
};

const REPAIR: ScriptedReply = {
	thinking:
		"1999 × 1.19 is 2378.81, which rounds to 2379. The function returns 2378, because Math.floor drops the fraction, although its comment promises rounding. The receipt is one cent short for the same reason.",
	text: `Found it. For 1999 cents plus 19 % the test expects 2379 and gets 2378: \`withTax\` in \`${SCRATCH_BUG.path}\` uses \`Math.floor\`, which drops fractions of a cent. It should round.`,
	toolCalls: [{ name: "edit", arguments: { ...SCRATCH_BUG } }],
};

const RUN_AGAIN: ScriptedReply = {
	text: "The edit is done. I will run the tests again.",
	toolCalls: [{ name: "bash", arguments: { command: "npm test" } }],
};

const NOTHING_TO_DO = `All tests pass already, so there is nothing to fix. Ask about \`/pop\` or \`/context\`, or start over with a fresh scratch project: \`pi --demo\`.`;

const OTHER_PROJECT = `I cannot find the corner shop of the demo here, and as a script I cannot fix anything else. \`pi --demo\` starts with a fresh copy of it.`;

const DONE = `All tests pass.

**What was wrong:** \`withTax\` in \`${SCRATCH_BUG.path}\` dropped fractions of a cent with \`Math.floor\`, so 19.99 plus 19 % was 23.78 instead of 23.79. The receipt was one cent short for the same reason.

**What changed:** one line, \`Math.floor\` → \`Math.round\`.

The context is now full of searches and test output that nobody needs any more. Try two commands:

- \`/context\` shows every message of the next request, with its tokens and its origin.
- \`/pop\` goes back to an earlier message and replaces the work since then with a summary. Open \`/context\` again afterwards.`;
