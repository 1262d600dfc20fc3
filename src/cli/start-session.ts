import { askHowToOpen } from "../commands/open-locked.js";
import { PiError } from "../errors.js";
import type { GrantRequest } from "../hooks/granted-handles.js";
import type { StartQuestions } from "../modes/start-questions.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { CreateAgentSessionOptions } from "../sdk/create-session.js";
import type { ProjectSet } from "../trust/store.js";
import type { CliContext, CliOptions } from "./options.js";

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
	questions: StartQuestions,
): Promise<AgentSession> {
	// Not needed for the first paint, but before any module that may print.
	const { divertConsole, divertWrites, watchStrayErrors } = await import("./stray-errors.js");
	const { ui, lastBytes } = questions;
	const notify = (line: string) => ui.notify(line, "info");
	releases.push(divertConsole(notify), divertWarnings(notify));
	const [{ createAgentSession }, { sessionOptions }, { Watchdog }] = await Promise.all([
		import("../sdk/create-session.js"),
		import("./session-options.js"),
		import("../hooks/watchdog.js"),
	]);
	const described = await sessionOptions(options, context);
	const watch = new Watchdog({ restore: lastBytes });
	// Rarely asked, so loaded when needed.
	const approvals = () => import("../modes/start-questions.js");
	const asking = {
		askTrust: async (set: ProjectSet) => (await approvals()).askTrust(set, questions),
		askGrant: async (request: GrantRequest) => (await approvals()).askGrant(request, questions, context),
	};
	const wanted = { ...described, ...asking, watch, onWait: notify, ...given };
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
	releases.push(context.settings.watch(), watchStrayErrors(session), divertWrites(session, notify));
	return session;
}

/** Turns process warnings into notices, because direct writes would corrupt the screen. @returns removes the listener */
function divertWarnings(notify: (line: string) => void): () => void {
	const onWarning = (warning: Error) => notify(`${warning.name}: ${warning.message}`);
	process.removeAllListeners("warning");
	process.on("warning", onWarning);
	return () => void process.off("warning", onWarning);
}
