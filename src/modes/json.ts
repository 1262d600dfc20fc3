import { codeField, describeError, type PiErrorCode } from "../errors.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { stripAll } from "../util/sanitize.js";
import type { JsonEvent } from "./event-schema.js";
import { JsonEvents } from "./json-events.js";
import type { ExitCode, ModeIO, ModePrompts } from "./mode.js";
import { runPrompts } from "./run-prompts.js";

/**
 * Runs prompts without a screen and prints the session header and every event, each as one line of JSON.
 * @param early events from before the run, printed after the header
 */
export async function runJson(
	session: AgentSession,
	prompts: ModePrompts,
	io: ModeIO,
	early: readonly JsonEvent[] = [],
): Promise<ExitCode> {
	let written: Promise<void> = io.out([session.log.at(0), ...early].map(jsonLine).join(""));
	const print = (event: JsonEvent | null) => {
		if (event) written = io.out(jsonLine(event));
	};
	const events = new JsonEvents();
	const stop = session.subscribe((event) => print(events.convert(event)));
	try {
		const code = await runPrompts(session, prompts, {
			onStatus: async () => {},
			onReply: async () => {},
			// It is in `agent_end`.
			onStructured: async () => {},
			onFailure: (error) => {
				const event = errorEvent(error);
				io.err(`${event.message}\n`);
				print(event);
			},
			onStopped: (reason) => void io.err(`${stripAll(reason)}\n`),
		});
		await written;
		return code;
	} finally {
		stop();
	}
}

/** Prints errors of hooks as events until the session closes. Called after that, also those of what hooks left behind. */
export function printLateErrors(session: AgentSession, io: Pick<ModeIO, "out">): void {
	session.subscribe((event) => {
		if (event.type === "hook_error") void io.out(jsonLine(event));
	});
}

/** The event of a run that has failed. */
export function errorEvent(error: unknown): { type: "error"; message: string; code?: PiErrorCode } {
	return { type: "error", message: describeError(error), ...codeField(error) };
}

/** A value as one line of JSON with well-formed strings. */
export function jsonLine(value: unknown): string {
	return `${JSON.stringify(value, (_, field: unknown) => (typeof field === "string" ? field.toWellFormed() : field))}\n`;
}
