import type { ImageContent } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import type { StartQuestions } from "../modes/start-questions.js";
import type { AgentSession } from "../session/agent-session.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import type { CliContext, CliOptions } from "./options.js";
import { divertConsole, divertWrites, watchStrayErrors } from "./stray-errors.js";

/** Settings of a run at a terminal besides the command line. */
export interface TerminalExtras {
	/** Replaces what the command line says of the session. */
	session?: Partial<CreateAgentSessionOptions>;
	/** Text in the editor at the start. */
	draft?: string;
	/** Ends the run and opens the demo; absent in the demo itself. */
	startDemo?(): void;
	/** Receives the functions that give console and process back. */
	releases: (() => void)[];
}

/** What the command line asks first, in order. */
export async function firstPrompts(
	{ files, messages, resume }: CliOptions,
	base: { cwd: string; home: string },
): Promise<{ text: string; images?: readonly ImageContent[] }[]> {
	const resuming = resume ? [{ text: "/resume" }] : [];
	if (files.length + messages.length === 0) return resuming;
	const { composePrompt, loadFileArguments } = await import("./input.js");
	const { first, rest } = composePrompt({ files: await loadFileArguments(files, base), messages });
	return [...resuming, ...(first ? [first] : []), ...rest.map((text) => ({ text }))];
}

/** Creates the session of a person at a terminal; everything that it needs is loaded only now. */
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
		// Another pi has the session open: it keeps its file, this one may go on in a copy.
		const { session: choice } = wanted;
		if (!(error instanceof PiError) || error.code !== "log_locked" || choice?.kind !== "open") throw error;
		const copies = await ui.confirm("The session is open in another pi", "Go on in a copy of it?");
		if (!copies) throw error;
		return createAgentSession({ ...wanted, session: { ...choice, copy: true } });
	});
	releases.push(
		context.settings.watch(),
		watchStrayErrors(session),
		divertWrites(session, (line) => ui.notify(line, "info")),
	);
	return session;
}

/**
 * Whatever else would write to the terminal becomes a notice: it would tear the screen apart.
 * @returns ends that
 */
function keepTerminalClean(notify: (line: string) => void): () => void {
	const giveBack = divertConsole(notify);
	const onWarning = (warning: Error) => notify(`${warning.name}: ${warning.message}`);
	process.removeAllListeners("warning");
	process.on("warning", onWarning);
	return () => {
		giveBack();
		process.off("warning", onWarning);
	};
}
