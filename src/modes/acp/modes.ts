import type { SessionModeState } from "@agentclientprotocol/sdk";
import type { AgentSession } from "../../sdk/agent-session.js";
import { invalidParams } from "./acp-errors.js";

/** The command of the hook that provides modes; the completions of its argument are the modes, the default first. */
const COMMAND = "mode";
/** Types of the entries that change the mode: `{ mode }`, and `{ on }` of former versions, which only had `plan`. */
const MODE_ENTRIES = ["permission_mode", "plan_mode"];

type ModeSession = Pick<AgentSession, "palette" | "log" | "prompt" | "completeArguments">;

/** True for an entry that changes the mode. */
export function isModeEntry({ type }: { readonly type: string }): boolean {
	return MODE_ENTRIES.includes(type);
}

/** The modes of a session: those of the guard hooks; null while none is loaded. */
export async function modesOf(session: Omit<ModeSession, "prompt">): Promise<SessionModeState | null> {
	const isProvided = session.palette().some(({ name, origin }) => name === COMMAND && origin.startsWith("hook "));
	const offered = isProvided ? await session.completeArguments(COMMAND, "") : [];
	const availableModes = offered.map(({ value, label = value, description }) => ({
		...{ id: value, name: label },
		...(description === undefined ? {} : { description }),
	}));
	const [first] = availableModes;
	if (!first) return null;
	const saved = savedMode(session);
	return { currentModeId: (availableModes.find(({ id }) => id === saved) ?? first).id, availableModes };
}

/** Switches to another mode. @throws RequestError for a mode that the session does not have */
export async function setMode(session: ModeSession, id: string): Promise<void> {
	const modes = await modesOf(session);
	if (!modes)
		throw invalidParams("The session has no modes", 'turn on the hook with "hooks": ["pi:plan-mode"] in settings.json');
	const known = modes.availableModes.map((mode) => mode.id);
	if (!known.includes(id))
		throw invalidParams(`The session has no mode ${JSON.stringify(id)}`, `use ${known.join(", ")}`);
	if (modes.currentModeId !== id) await session.prompt(`/${COMMAND} ${id}`, { source: "rpc" });
}

function savedMode({ log }: Pick<ModeSession, "log">): unknown {
	const entry = log.at(log.lastOfTypes(MODE_ENTRIES, log.length));
	if (entry && "mode" in entry) return entry.mode;
	return entry && "on" in entry && entry.on === true ? "plan" : undefined;
}
