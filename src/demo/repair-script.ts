import type { CallOutcome, ScriptedReply } from "./conversation.js";
import { SCRATCH_BUG } from "./scratch-project.js";

const NEEDED = ["grep", "read", "bash", "edit"];

/**
 * The next step of the repair, judged by what the tools said so far: look, run the tests, edit, run them again, report.
 * @param outcomes finished calls since the repair was asked for, oldest first
 */
export function nextRepairStep(outcomes: readonly CallOutcome[], tools: ReadonlySet<string>): ScriptedReply {
	const missing = NEEDED.filter((name) => !tools.has(name));
	if (missing.length > 0) {
		return { text: `For the repair I need the tools ${NEEDED.join(", ")}; switched off: ${missing.join(", ")}.` };
	}
	const looked = outcomes.filter(({ name }) => name === "grep" || name === "read");
	const runs = outcomes.filter(({ name }) => name === "bash");
	const edit = outcomes.findLast(({ name }) => name === "edit");
	const lastRun = runs.at(-1);

	if (looked.length === 0) return LOOK;
	if (!looked.some(({ output }) => output.includes("withTax"))) return { text: ELSEWHERE };
	if (!lastRun) return RUN;
	if (!edit && passed(lastRun)) return { text: NOTHING_TO_DO };
	if (!edit)
		return lastRun.output.includes("2379")
			? REPAIR
			: { text: `The tests do not run here:\n\n${quote(lastRun.output)}` };
	if (edit.failed) return { text: `The edit was refused, so nothing changed. The tool said:\n\n${quote(edit.output)}` };
	if (outcomes.indexOf(edit) > outcomes.indexOf(lastRun)) return RUN_AGAIN;
	return passed(lastRun) ? { text: DONE } : { text: `The tests still fail:\n\n${quote(lastRun.output)}` };
}

function passed({ failed, output }: CallOutcome): boolean {
	return !failed && !/^(?:# |ℹ )fail [1-9]/m.test(output);
}

/** The end of an output as a code block. */
function quote(output: string): string {
	const lines = output.trimEnd().split("\n").slice(-12).join("\n");
	return `\`\`\`\n${lines.replaceAll("```", "'''")}\n\`\`\``;
}

const LOOK: ScriptedReply = {
	thinking: "A small shop. I look where prices are computed and what the tests expect, before I run anything.",
	text: "I look at how prices are computed and what the tests expect.",
	toolCalls: [
		{ name: "grep", arguments: { pattern: "withTax|Math\\.", path: "src" } },
		{ name: "read", arguments: { path: "test/price.test.js" } },
	],
};

const RUN: ScriptedReply = {
	text: "Now the tests, to see the failure itself.",
	toolCalls: [{ name: "bash", arguments: { command: "npm test" } }],
};

const REPAIR: ScriptedReply = {
	thinking:
		"1999 × 1.19 is 2378.81. Rounded that is 2379, the function gives 2378: it cuts the fraction off. Math.floor is the culprit, and the comment above it promises rounding. The receipt is one cent short for the same reason.",
	text: `Found it. For 1999 cents plus 19 % the test wants 2379 and gets 2378: \`withTax\` in \`${SCRATCH_BUG.path}\` uses \`Math.floor\`, which cuts fractions of a cent off. It should round.`,
	toolCalls: [{ name: "edit", arguments: { ...SCRATCH_BUG } }],
};

const RUN_AGAIN: ScriptedReply = {
	text: "The edit is in. Do the tests pass now?",
	toolCalls: [{ name: "bash", arguments: { command: "npm test" } }],
};

const NOTHING_TO_DO = `All tests pass already, so there is nothing to mend. Ask about \`/pop\` or \`/context\`, or start over with a fresh scratch project: \`pi --demo\`.`;

const ELSEWHERE = `I do not find the corner shop of the demo here, and as a script I can mend nothing else. \`pi --demo\` starts me on a fresh copy of it.`;

const DONE = `All tests pass.

**What was wrong:** \`withTax\` in \`${SCRATCH_BUG.path}\` cut fractions of a cent off with \`Math.floor\`, so 19.99 plus 19 % came to 23.78 where 23.79 is right. The receipt inherited the missing cent.

**What changed:** one line, \`Math.floor\` → \`Math.round\`.

The repair now fills the context with searches and test output that nobody needs any more. Two commands show what sets pi apart:

- \`/context\` shows every message that a model would be sent, with its tokens and its origin.
- \`/pop\` goes back to an earlier message and puts a summary in place of the work since. Look at \`/context\` again afterwards.`;
