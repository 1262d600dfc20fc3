import { expect } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { subjectText } from "../../src/util/approval.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";

/** What the user answers: `once`, the start of a choice, also with an edited rule, or a refusal with a text. */
export type Answer = string | { choose: string; rule: string } | { say: string };

/** A question of the guard. */
export interface Asked {
	question: string;
	text: string;
	/** The choices between once and no, with their rules. */
	choices: readonly string[];
}

export interface GuardedOptions extends TestSessionOptions {
	/** Answers to the questions, in order; without one the answer is no. null: nobody is there. */
	answers?: Answer[] | null;
	/** Presets that are on. */
	presets?: readonly string[];
	flags?: Record<string, boolean>;
}

/** A session with the guard, in which the model calls tools. */
export async function startGuarded({
	answers = [],
	presets = ["permissions"],
	flags = {},
	...options
}: GuardedOptions) {
	const asked: Asked[] = [];
	const warnings: string[] = [];
	const select = async (title: string, options: readonly unknown[]) => {
		const labels = options.map((option) => String(typeof option === "object" ? Object(option).label : option));
		asked.push({ question: title, text: "", choices: labels });
		const answer = answers?.shift();
		const at = labels.findIndex((label) => typeof answer === "string" && label.startsWith(answer));
		const chosen = options[at];
		return (typeof chosen === "object" ? Object(chosen).value : chosen) ?? null;
	};
	const ui: Partial<SessionUI> = {
		notify: (message) => void warnings.push(message),
		select: select as SessionUI["select"],
		async approve({ question, subject, choices = [] }) {
			const labels = choices.map(({ label, rule }) => (rule === undefined ? label : `${label}: ${rule}`));
			asked.push({ question, text: subjectText(subject), choices: labels });
			const answer = answers?.shift();
			if (answer === undefined) return { allowed: false };
			if (answer === "once") return { allowed: true, choice: -1 };
			if (typeof answer === "object" && "say" in answer) return { allowed: false, message: answer.say };
			const wanted = typeof answer === "string" ? answer : answer.choose;
			const choice = choices.findIndex(({ label }) => label.startsWith(wanted));
			const rule = typeof answer === "string" ? choices[choice]?.rule : answer.rule;
			expect(labels.join("\n")).toContain(wanted);
			expect(rule === undefined ? null : choices[choice]?.check?.(rule)).toBe(null);
			return { allowed: true, choice, ...(rule === undefined ? {} : { rule }) };
		},
	};
	const run = await startSession({
		hookFiles: presets.map((name) => `pi:${name}`),
		readFlags: () => ({ values: flags, problem: null }),
		...(answers ? { ui } : {}),
		...options,
	});
	/** Lets the model call tools in one message. @returns the results */
	const calls = async (...list: [tool: string, args: Record<string, unknown>][]): Promise<string[]> => {
		run.provider.reply(
			list.map(([tool, args]) => toolCall(tool, args)),
			"ok",
		);
		await run.session.prompt("go");
		const { messages = [] } = run.provider.requests.at(-1) ?? {};
		return messages
			.filter(({ role }) => role === "tool")
			.slice(-list.length)
			.map(({ text }) => text);
	};
	const call = async (tool: string, args: Record<string, unknown>) => (await calls([tool, args]))[0] ?? "";
	return { ...run, asked, warnings, calls, call, bash: (command: string) => call("bash", { command }) };
}
