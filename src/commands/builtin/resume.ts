import { PiError } from "../../errors.js";
import type { SessionSummary } from "../../log/session-summary.js";
import type { SlashCommand } from "../command.js";

/** `/resume [id]`: goes on with another session of this directory. */
export const resumeCommand: SlashCommand = {
	name: "resume",
	argumentHint: "[id]",
	description: "Go on with another session",
	async run({ session, ui, rest }) {
		const sessions = (await session.listSessions()).filter(({ path }) => path !== session.sessionFile);
		if (sessions.length === 0) return { status: "There is no other session in this directory" };
		const path = rest ? findPath(sessions, rest) : await ui.select("Which session?", sessions.map(option));
		if (!path) return;
		if (!(await session.switchSession(path))) return { status: "A hook kept the session" };
		return { status: `Session ${session.sessionName ?? path}` };
	},
};

function option({ path, name, firstMessage, modifiedAt, messageCount }: SessionSummary) {
	const count = messageCount === null ? "" : `${messageCount} messages · `;
	return { label: name ?? (firstMessage || "(nothing said)"), value: path, description: `${count}${age(modifiedAt)}` };
}

function findPath(sessions: readonly SessionSummary[], text: string): string {
	const found = sessions.filter(({ id, name, path }) => id.startsWith(text) || name === text || path === text);
	const [only] = found;
	if (only && found.length === 1) return only.path;
	const what = found.length > 1 ? `${found.length} sessions match "${text}"` : `No session matches "${text}"`;
	throw new PiError("log_not_found", what, { hint: "run /resume and choose one" });
}

function age(modifiedAt: number): string {
	const minutes = Math.max(0, Math.round((Date.now() - modifiedAt) / 60_000));
	if (minutes < 60) return `${minutes} min ago`;
	if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`;
	return `${Math.round(minutes / (24 * 60))} days ago`;
}
