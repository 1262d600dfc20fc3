import type { SessionModeState } from "@agentclientprotocol/sdk";
import type { AgentSession } from "../../sdk/agent-session.js";
import { invalidParams } from "./errors.js";

/** The hook that provides a mode, its command, and the entry that holds the mode. */
const PLAN_HOOK = "hook plan-mode";
const PLAN_COMMAND = "plan";
/** Type of the entries that change the mode. */
export const MODE_ENTRY = "plan_mode";

const DEFAULT = { id: "default", name: "Default", description: "The model can use all tools" };
const PLAN = { id: "plan", name: "Plan", description: "The model can only read, and ends its answer with a plan" };

type ModeSession = Pick<AgentSession, "palette" | "log" | "prompt">;

/** The modes of a session: those of the bundled hook `plan-mode`; null while it is not loaded. */
export function modesOf(session: Pick<ModeSession, "palette" | "log">): SessionModeState | null {
	if (!session.palette().some(({ name, origin }) => name === PLAN_COMMAND && origin === PLAN_HOOK)) return null;
	return { currentModeId: (isPlanning(session) ? PLAN : DEFAULT).id, availableModes: [DEFAULT, PLAN] };
}

/** Switches to another mode. @throws RequestError for a mode that the session does not have */
export async function setMode(session: ModeSession, id: string): Promise<void> {
	const modes = modesOf(session);
	if (!modes)
		throw invalidParams("The session has no modes", 'turn on the hook with "hooks": ["pi:plan-mode"] in settings.json');
	if (!modes.availableModes.some((mode) => mode.id === id)) {
		const known = modes.availableModes.map((mode) => mode.id);
		throw invalidParams(`The session has no mode ${JSON.stringify(id)}`, `use ${known.join(" or ")}`);
	}
	if (modes.currentModeId !== id) await session.prompt(`/${PLAN_COMMAND}`, { source: "rpc" });
}

function isPlanning({ log }: Pick<ModeSession, "log">): boolean {
	const entry = log.at(log.lastOfTypes([MODE_ENTRY], log.length));
	return entry !== undefined && "on" in entry && entry.on === true;
}
