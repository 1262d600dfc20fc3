import { describeError } from "../errors.js";
import type { AgentSession } from "../session/agent-session.js";
import type { AgentSessionEvent } from "../session/events.js";
import type { ExitCode, ModeIO, ModePrompts } from "./mode.js";
import { runPrompts } from "./run-prompts.js";

/** Runs prompts without a screen and prints the session header and every event, each as one line of JSON. */
export async function runJson(session: AgentSession, prompts: ModePrompts, io: ModeIO): Promise<ExitCode> {
	let written: Promise<void> = io.out(jsonLine(session.log.at(0)));
	const stop = session.subscribe((event) => {
		written = io.out(jsonLine(withoutPartials(event)));
	});
	try {
		const code = await runPrompts(session, prompts, {
			onStatus: async () => {},
			onReply: async () => {},
			onFailure: (error) => {
				const line = describeError(error);
				io.err(`${line}\n`);
				written = io.out(jsonLine({ type: "error", message: line }));
			},
		});
		await written;
		return code;
	} finally {
		stop();
	}
}

/** A value as one line of JSON with well-formed strings. */
export function jsonLine(value: unknown): string {
	return `${JSON.stringify(value, (_, field: unknown) => (typeof field === "string" ? field.toWellFormed() : field))}\n`;
}

/** Omits the partial messages of updates, which the deltas already contain in a fraction of the size. */
function withoutPartials(event: AgentSessionEvent): unknown {
	if (event.type === "context_changed") {
		const { messages, hidden, problems } = event.context;
		return { type: event.type, messages: messages.length, hidden: hidden.length, problems };
	}
	if (event.type !== "message_update") return event;
	const { partial: _, ...assistantMessageEvent } = { partial: undefined, ...event.assistantMessageEvent };
	return { type: event.type, assistantMessageEvent };
}
