import type { AssistantMessage, JsonValue } from "@mariozechner/pi-ai";
import type { AgentRunResult } from "../agent/loop.js";
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
	/** The answer matches the schema. */
	onStructured(value: JsonValue): Promise<void>;
	onFailure(error: unknown): void;
	/** A run ended before its next request, such as at a budget. The session has reported the reason as a notice. */
	onStopped?(reason: string): void;
}

/**
 * Runs the prompts one after another until one fails. With a schema, the answer to the last one must match it, and no other
 * reply is reported.
 * @returns the exit code
 */
export async function runPrompts(
	session: AgentSession,
	{ first, rest, limits = {}, outputSchema }: ModePrompts,
	reporter: PromptReporter,
): Promise<ExitCode> {
	const prompts = [...(first ? [first] : []), ...rest.map((text) => ({ text, images: [] }))];
	const watch = new RunWatch(session, limits, outputSchema !== undefined);
	const run = new PromptRun(session, watch, reporter);
	try {
		for (const [at, prompt] of prompts.entries()) {
			const isLast = at === prompts.length - 1;
			const code = watch.isOver()
				? 3
				: outputSchema === undefined
					? await run.prompt(prompt)
					: await run.structured(prompt, isLast ? outputSchema : undefined);
			if (code === 3) reporter.onFailure(limitError(watch, session));
			if (code !== 0) return code;
		}
		return 0;
	} finally {
		watch.release();
	}
}

/** Runs single prompts. */
class PromptRun {
	constructor(
		private readonly session: AgentSession,
		private readonly watch: RunWatch,
		private readonly reporter: PromptReporter,
	) {}

	/** Reports the reply to a prompt. @returns the exit code */
	async prompt(prompt: Prompt): Promise<ExitCode> {
		const result = await this.#send(prompt);
		if (typeof result === "number") return result;
		if (this.watch.reached !== null) return 3;
		if (result.kind === "run") return this.#report(result.outcome);
		if (result.kind === "command" && result.status !== null) await this.reporter.onStatus(result.status);
		return 0;
	}

	/** Reports only the answer that matches a schema. @param outputSchema absent: nothing is reported but failures */
	async structured(prompt: Prompt, outputSchema: ModePrompts["outputSchema"]): Promise<ExitCode> {
		const result = await this.#send(prompt, outputSchema);
		if (typeof result === "number") return result;
		const outcome = result.kind === "run" ? result.outcome : null;
		// A limit that the reply with the answer reaches has not stopped anything.
		if (outcome?.structured !== undefined) {
			await this.reporter.onStructured(outcome.structured);
			return 0;
		}
		if (this.watch.reached !== null) return 3;
		if (outcome) {
			const code = await this.#report(outcome, false);
			return code === 0 && outputSchema !== undefined ? 1 : code;
		}
		if (outputSchema === undefined) return 0;
		this.reporter.onFailure(
			new PiError("command_failed", "The last prompt started no run, so nothing answers with the schema", {
				hint: "end with a prompt for the model",
			}),
		);
		return 1;
	}

	/** @returns the exit code if the prompt failed */
	async #send({ text, images }: Prompt, outputSchema?: ModePrompts["outputSchema"]): Promise<PromptResult | ExitCode> {
		try {
			const asked = outputSchema === undefined ? {} : { outputSchema };
			return await this.session.prompt(text, { images, source: "print", ...asked });
		} catch (error) {
			if (this.watch.reached !== null) return 3;
			this.reporter.onFailure(error);
			return exitCodeOf(error);
		}
	}

	async #report({ last, stopped }: AgentRunResult, withReply = true): Promise<ExitCode> {
		const { reporter, session } = this;
		if (stopped !== null) reporter.onStopped?.(stopped);
		if (stopped !== null || last === null) return 1;
		if (withReply) await reporter.onReply(last);
		if (last.stopReason === "aborted") return 130;
		if (last.stopReason !== "error") return 0;
		const error = requestError(last, session.sessionFile !== null);
		reporter.onFailure(error);
		return exitCodeOf(error);
	}
}

type Prompt = NonNullable<ModePrompts["first"]>;

function limitError({ reached }: RunWatch, session: AgentSession): PiError {
	const { cwd, sessionFile } = session;
	const id = session.stats().sessionId.slice(0, 8);
	const hint = sessionFile === null ? {} : { hint: `pi --session ${id} -p continue continues it, in ${cwd}` };
	return new PiError("limit_reached", `Stopped after ${reached}`, hint);
}
