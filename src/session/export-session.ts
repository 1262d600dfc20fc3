import { resolve } from "node:path";
import type { AgentSession } from "./agent-session.js";

/**
 * Writes a session as one HTML file.
 * @param path relative to the session's directory; absent: a name made of its id
 * @returns the absolute path
 * @throws PiError `export_failed`
 */
export async function exportSession(session: AgentSession, path?: string): Promise<string> {
	const { exportToFile } = await import("../export/html.js");
	const id = session.sessionId.slice(0, 8);
	const target = resolve(session.cwd, path ?? `pi-session-${id}.html`);
	await exportToFile(target, {
		entries: session.entries,
		context: session.context,
		title: session.sessionName ?? `Session ${id}`,
	});
	return target;
}
