import { PiError } from "../../errors.js";
import type { CommandResult } from "../../hooks/types.js";
import type { SessionSummary } from "../../log/session-summary.js";
import { formatAge } from "../../util/age.js";
import { plural } from "../../util/format-amounts.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { askHowToOpen } from "../open-locked.js";
import type { CommandSessions } from "../pickers.js";

/** `/resume [id]`: opens another session. */
export const resumeCommand: SlashCommand = {
	name: "resume",
	argumentHint: "[id]",
	description: "Resume another session",
	async run(context) {
		const { session, shell, ui, rest, signal } = context;
		if (shell?.pickSession && !rest) return open(await shell.pickSession(session.sessions, signal), context);
		const sessions = await listHere(session.sessions);
		const others = sessions.filter(
			({ path, isPrinted }) => !isPrinted && (session.isReadOnly || path !== session.sessionFile),
		);
		if (others.length === 0 && !rest) return { status: "No other sessions in this directory" };
		return open(rest ? findPath(sessions, rest) : await ui.select("Which session?", others.map(option)), context);
	},
};

async function open(
	chosen: string | null,
	{ session, shell, ui, signal }: BuiltinCommandContext,
): Promise<CommandResult | undefined> {
	if (chosen === null) return undefined;
	const { path, note } = await session.sessions.adopt(chosen);
	if (path === session.sessionFile && !session.isReadOnly) return { status: "That session is already open" };
	const as = session.sessions.isOpen(path) ? await askHowToOpen(ui) : "original";
	if (as === null) {
		throw new PiError("log_locked", "Another pi has that session open", {
			hint: "quit that pi, or continue in a copy",
		});
	}
	if ((await shell?.confirmEnd?.("Open another session?", signal)) === false) return undefined;
	if (!(await session.switchSession(path, as))) return { status: session.describeCanceled("switch") };
	shell?.rereadFiles?.();
	return { status: note ?? `Session ${session.sessionName ?? path}` };
}

async function listHere(sessions: CommandSessions): Promise<SessionSummary[]> {
	const all: SessionSummary[] = [];
	for await (const some of sessions.list("here")) all.push(...some);
	return all;
}

function option({ path, name, firstMessage, modifiedAt, messageCount }: SessionSummary) {
	const count = messageCount === null ? "" : `${plural(messageCount, "message")} · `;
	const age = formatAge(modifiedAt, Date.now());
	return { label: name ?? (firstMessage || "(empty session)"), value: path, description: `${count}${age}` };
}

function findPath(sessions: readonly SessionSummary[], text: string): string {
	const found = sessions.filter(({ id, name, path }) => id.startsWith(text) || name === text || path === text);
	const [only] = found;
	if (only && found.length === 1) return only.path;
	const message = found.length > 1 ? `${found.length} sessions match "${text}"` : `No session matches "${text}"`;
	throw new PiError("log_not_found", message, { hint: "run /resume and choose one" });
}
