import { askHowToOpen } from "../commands/open-locked.js";
import { PiError } from "../errors.js";
import type { StartQuestions } from "../modes/start-questions.js";
import type { AgentSession } from "../session/agent-session.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import type { CliContext, CliOptions } from "./options.js";
import { divertConsole, divertWrites, watchStrayErrors } from "./stray-errors.js";

/** Options of a terminal session that are not on the command line. */
export interface TerminalExtras {
	/** Overrides session options of the command line. */
	session?: Partial<CreateAgentSessionOptions>;
	/** A prompt to suggest in the empty editor. */
	suggestion?: string;
	/** Exits the mode and opens the demo; absent in the demo itself. */
	startDemo?(): void;
	/** Receives functions that restore console and process. */
	releases: (() => void)[];
}

/** Creates the session of a terminal mode. Its modules load on this call, not earlier. */
export async function startSession(
	options: CliOptions,
	context: CliContext,
	{ session: given, releases }: TerminalExtras,
	{ askTrust, askGrant, ui, lastBytes }: StartQuestions,
): Promise<AgentSession> {
	releases.push(keepTerminalClean((line) => ui.notify(line, "info")));
	const [{ createAgentSession }, { sessionOptions }, { Watchdog }] = await Promise.all([
		import("../session/create-session.js"),
		import("./session-options.js"),
		import("../hooks/watchdog.js"),
	]);
	const described = await sessionOptions(options, context);
	const wanted = { ...described, askTrust, askGrant, watch: new Watchdog({ restore: lastBytes }), ...given };
	const session = await createAgentSession(wanted).catch(async (error: unknown) => {
		const { session: choice } = wanted;
		if (!(error instanceof PiError) || error.code !== "log_locked" || choice?.kind !== "open") throw error;
		const as = await askHowToOpen(ui);
		if (as === null) throw error;
		const { target } = choice;
		return createAgentSession({
			...wanted,
			session: as === "copy" ? { kind: "open", target, copy: true } : { kind: "read", target },
		});
	});
	releases.push(
		context.settings.watch(),
		watchStrayErrors(session),
		divertWrites(session, (line) => ui.notify(line, "info")),
	);
	return session;
}

/**
 * Turns console output and process warnings into notices, because direct writes would corrupt the screen.
 * @returns restores both
 */
function keepTerminalClean(notify: (line: string) => void): () => void {
	const restoreConsole = divertConsole(notify);
	const onWarning = (warning: Error) => notify(`${warning.name}: ${warning.message}`);
	process.removeAllListeners("warning");
	process.on("warning", onWarning);
	return () => {
		restoreConsole();
		process.off("warning", onWarning);
	};
}
