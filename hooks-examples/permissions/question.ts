/** The question about a call, with the ways to allow calls like it. */
import type { ApprovalChoice, PermissionRule, ToolApproval } from "@mariozechner/pi-coding-agent/hooks";
import { type Call, checkRule, exactRule, proposeRule, SHELL_SYNTAX } from "./rules.js";

/** What the answers do. */
export interface Answers {
	/** Allows what the rule covers, until pi ends or another session begins. */
	allowHere(rules: readonly string[]): void;
	/** Saves a rule for the project. */
	save(rule: PermissionRule): Promise<void>;
	/** Accepts all edits of the session; null if that would not allow this call. */
	acceptEdits: (() => Promise<void>) | null;
	/** True if a rule of the user asks: an answer for later calls would change nothing. */
	isRuled: boolean;
	/** Decides again: an earlier answer may allow the call. */
	isAllowed(): Promise<boolean>;
}

/** The question that pi asks before a call. */
export function questionOf(call: Call, { allowHere, save, acceptEdits, isRuled, isAllowed }: Answers): ToolApproval {
	const question = QUESTIONS[call.tool] ?? `Allow ${call.tool}?`;
	const exact = call.subjects.map((subject) => exactRule({ ...call, subjects: [subject] }));
	// A rule for an empty command would cover all commands.
	if (isRuled || exact.includes("bash")) return { question, isAllowed };
	const forSession: ApprovalChoice = acceptEdits
		? { label: "Yes, all edits of this session", chosen: acceptEdits }
		: { label: "Yes, for this session", chosen: () => allowHere(exact) };
	const choices = [forSession];
	const rule = proposeRule(call);
	// A rule is edited on one line.
	if (checkRule(rule, call) === null && !rule.includes("\n"))
		choices.push({
			label: call.tool === "bash" && SHELL_SYNTAX.test(rule.slice(5, -1)) ? ONLY_EXACT : "Yes, always",
			rule,
			check: (edited) => checkRule(edited, call),
			chosen: (edited) => save({ action: "allow", rule: edited.trim(), scope: "here" }),
		});
	return { question, choices, isAllowed };
}

const QUESTIONS: Readonly<Record<string, string>> = {
	bash: "Run this command?",
	edit: "Change this file?",
	write: "Write this file?",
};

/** A rule with `*` could cover a second command. */
const ONLY_EXACT = "Yes, always exactly this command, because it has shell syntax";
