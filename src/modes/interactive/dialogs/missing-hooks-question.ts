import { bundledPath } from "../../../hooks/bundled-words.js";
import type { AgentSession } from "../../../sdk/agent-session.js";
import { type RequestSize, titleOfMissingHooks } from "../../../session/hooks/missing-hooks.js";
import { formatTokens, plural } from "../../format.js";
import type { DialogController } from "../dialog-controller.js";

/** The session and screen that the question acts on. */
export interface MissingHooksHost {
	session: AgentSession;
	dialogs: Pick<DialogController, "select" | "notify">;
	quit(): void;
}

/** Asks how to continue a session whose hooks are missing. @returns when the question is answered or not needed */
export async function askMissingHooks({ session, dialogs, quit }: MissingHooksHost): Promise<void> {
	const missing = session.missingHooks;
	if (!missing?.difference) return;
	const { sent, now } = missing.difference;
	const names = missing.turnedOff.join(" and ");
	const turnOn = {
		label: `Turn ${names} on`,
		value: "turn-on",
		description: "as before, also in later sessions",
	} as const;
	const canFreeze = missing.difference.canFreeze && !session.isReadOnly;
	const kept = `keeps what the model saw: ${size(sent)}`;
	const freeze = { label: "Freeze the context", value: "freeze", description: kept } as const;
	const leaveNote = canFreeze || session.isReadOnly ? "changes nothing" : "cannot freeze: context not recorded";
	const answer = await dialogs.select<"turn-on" | "continue" | "freeze" | "quit">(titleOfMissingHooks(missing), [
		...(names === "" ? [] : [turnOn]),
		{ label: "Continue without", value: "continue", description: size(now) },
		...(canFreeze ? [freeze] : []),
		{ label: "Quit", value: "quit", description: leaveNote },
	]);
	if (answer === "turn-on") {
		for (const name of missing.turnedOff) await session.inspector.setHookEnabled(bundledPath(name), true);
		dialogs.notify(`Turned ${names} on`);
	} else if (answer === "freeze") await session.freezeContext();
	else if (answer === "quit") quit();
}

function size({ messages, tokens }: RequestSize): string {
	return `${plural(messages, "message")}, ${formatTokens(tokens)} tok`;
}
