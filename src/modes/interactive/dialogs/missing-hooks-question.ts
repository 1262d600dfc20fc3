import type { AgentSession } from "../../../session/agent-session.js";
import { listTypes, type RequestSize } from "../../../session/missing-hooks.js";
import { formatTokens, plural } from "../../format.js";
import type { DialogController } from "../dialog-controller.js";

/** What the question acts on. */
export interface MissingHooksHost {
	session: AgentSession;
	dialogs: Pick<DialogController, "select">;
	quit(): void;
	failed(error: unknown): void;
}

/**
 * Asks what is to become of a session whose context hooks had shaped that are not loaded now; then again whenever the
 * user goes to another such session. @returns when the question about the session as it is now is answered, or there is none
 */
export function watchMissingHooks(host: MissingHooksHost): Promise<void> {
	const ask = () => askMissingHooks(host).catch(host.failed);
	host.session.subscribe((event) => {
		if (event.type === "session_changed" && event.reason === "switch") void ask();
	});
	return ask();
}

async function askMissingHooks({ session, dialogs, quit }: MissingHooksHost): Promise<void> {
	const missing = session.lifecycle.missingHooks;
	if (!missing?.difference) return;
	const { sent, now, canFreeze } = missing.difference;
	const freeze = { label: "Freeze as it was", value: "freeze", description: size(sent) } as const;
	const answer = await dialogs.select<"go_on" | "freeze" | "leave">(
		`The hooks of ${listTypes(missing.types)} are missing`,
		[
			{ label: "Go on without them", value: "go_on", description: size(now) },
			...(canFreeze ? [freeze] : []),
			{
				label: "Leave",
				value: "leave",
				description: canFreeze ? "nothing is changed" : "it cannot be frozen: not recorded",
			},
		],
	);
	if (answer === "freeze") await session.lifecycle.freezeContext();
	else if (answer === "leave") quit();
}

function size({ messages, tokens }: RequestSize): string {
	return `${plural(messages, "message")}, ${formatTokens(tokens)} tok`;
}
