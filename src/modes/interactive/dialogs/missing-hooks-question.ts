import type { AgentSession } from "../../../session/agent-session.js";
import { type RequestSize, titleOfMissingHooks } from "../../../session/missing-hooks.js";
import { formatTokens, plural } from "../../format.js";
import type { DialogController } from "../dialog-controller.js";

/** The session and screen that the question acts on. */
export interface MissingHooksHost {
	session: AgentSession;
	dialogs: Pick<DialogController, "select">;
	quit(): void;
}

/** Asks how to continue a session whose hooks are missing. @returns when the question is answered or not needed */
export async function askMissingHooks({ session, dialogs, quit }: MissingHooksHost): Promise<void> {
	const missing = session.lifecycle.missingHooks;
	if (!missing?.difference) return;
	const { sent, now } = missing.difference;
	const canFreeze = missing.difference.canFreeze && !session.isReadOnly;
	const freeze = { label: "Freeze the context", value: "freeze", description: size(sent) } as const;
	const leaveNote = canFreeze || session.isReadOnly ? "changes nothing" : "cannot freeze: context not recorded";
	const answer = await dialogs.select<"continue" | "freeze" | "quit">(titleOfMissingHooks(missing), [
		{ label: "Continue without", value: "continue", description: size(now) },
		...(canFreeze ? [freeze] : []),
		{ label: "Quit", value: "quit", description: leaveNote },
	]);
	if (answer === "freeze") await session.lifecycle.freezeContext();
	else if (answer === "quit") quit();
}

function size({ messages, tokens }: RequestSize): string {
	return `${plural(messages, "message")}, ${formatTokens(tokens)} tok`;
}
