import type { AssistantMessage } from "@mariozechner/pi-ai";
import { exitCodeOf, PiError } from "../errors.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { PromptResult } from "../session/prompt/prompter.js";
import type { ExitCode, ModePrompts } from "./mode.js";
import { requestError } from "./request-error.js";
import { RunWatch } from "./run-limits.js";

/** Prints the results of prompts in a mode without a screen. */
export interface PromptReporter {
	onStatus(status: string): Promise<void>;
	onReply(reply: AssistantMessage): Promise<void>;
	onFailure(error: unknown): void;
	/** A run ended before its next request, such as at a budget. The session has reported the reason as a notice. */
	onStopped?(reason: string): void;
}

/** Runs the prompts one after another until one fails. @returns the exit code */
export async function runPrompts(
	session: AgentSession,
	{ first, rest, limits = {} }: ModePrompts,
	reporter: PromptReporter,
): Promise<ExitCode> {
	const prompts = [...(first ? [first] : []), ...rest.map((text) => ({ text, images: [] }))];
	const watch = new RunWatch(session, limits);
	try {
		for (const { text, images } of prompts) {
			const code = watch.isOver() ? 3 : await runPrompt(session, { text, images }, watch, reporter);
			if (code === 3) reporter.onFailure(limitError(watch, session));
			if (code !== 0) return code;
		}
		return 0;
	} finally {
		watch.release();
	}
}

async function runPrompt(
	session: AgentSession,
	{ text, images }: NonNullable<ModePrompts["first"]>,
	watch: RunWatch,
	reporter: PromptReporter,
): Promise<ExitCode> {
	let result: PromptResult;
	try {
		result = await session.prompt(text, { images, source: "print" });
	} catch (error) {
		if (watch.reached !== null) return 3;
		reporter.onFailure(error);
		return exitCodeOf(error);
	}
	return watch.reached === null ? report(result, reporter, session.sessionFile !== null) : 3;
}

function limitError({ reached }: RunWatch, { sessionFile }: AgentSession): PiError {
	const hint = sessionFile === null ? {} : { hint: "pi --continue -p continue goes on" };
	return new PiError("limit_reached", `Stopped after ${reached}`, hint);
}

async function report(result: PromptResult, reporter: PromptReporter, isSaved: boolean): Promise<ExitCode> {
	if (result.kind === "queued" || result.kind === "handled") return 0;
	if (result.kind === "command") {
		if (result.status !== null) await reporter.onStatus(result.status);
		return 0;
	}
	const { last, stopped } = result.outcome;
	if (stopped !== null) reporter.onStopped?.(stopped);
	if (stopped !== null || last === null) return 1;
	await reporter.onReply(last);
	if (last.stopReason === "aborted") return 130;
	if (last.stopReason !== "error") return 0;
	const error = requestError(last, isSaved);
	reporter.onFailure(error);
	return exitCodeOf(error);
}
