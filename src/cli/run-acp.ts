import type { Readable } from "node:stream";
import { agentDir, paths } from "../config/paths.js";
import { SettingsStore } from "../config/settings-store.js";
import { describeHookErrorInFull } from "../errors.js";
import { Watchdog } from "../hooks/watchdog.js";
import { missingModel } from "../modes/acp/acp-errors.js";
import { AcpServer } from "../modes/acp/acp-server.js";
import type { CreatedSession, SessionRequest } from "../modes/acp/acp-sessions.js";
import { readMcpServers } from "../modes/acp/mcp-servers.js";
import type { ModeIO } from "../modes/mode.js";
import { printHookErrors } from "../modes/session-end.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../sdk/create-session.js";
import { announceStart } from "../util/announce-start.js";
import { stopOnSignal } from "../util/signals.js";
import type { CliContext } from "./options.js";
import { printNotices } from "./standard-io.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/**
 * Serves an ACP client until it closes stdin or a signal arrives.
 * @param options session options of the command line, which apply to every session
 * @returns the exit code: 0, or that of the signal
 */
export async function runAcp(
	options: CreateAgentSessionOptions,
	context: CliContext,
	io: ModeIO,
	input: Readable = process.stdin,
): Promise<number> {
	const { env, home } = context;
	const watch = new Watchdog();
	const isSaved = options.session?.kind !== "memory";
	/** The session that ended last: timers and promises of its hooks may still fail. */
	let ended: AgentSession | null = null;
	const create = async ({ cwd, session, mcpServers }: SessionRequest): Promise<CreatedSession> => {
		const settings = new SettingsStore({ agentDir: agentDir(env, home), cwd });
		const choice = isSaved ? session : ({ kind: "memory" } as const);
		const { servers, warnings } = readMcpServers(mcpServers);
		const own = { cwd, settings, watch, session: choice, mcpServers: servers };
		const created = await createAgentSession({ ...options, ...own });
		const stopReport = reportProblems(created, io);
		const stopWatching = settings.watch();
		const release = () => {
			stopReport();
			stopWatching();
			printHookErrors(created, (line) => printNotices(io, [line]));
			ended = created;
		};
		return { session: created, warnings, release };
	};
	const { sessions: root } = paths(env, context.cwd, home);
	const stopped = new AbortController();
	const server = new AcpServer({
		factory: { directories: isSaved ? { root, dir: options.sessionDir ?? null } : null, create },
		checkLogin: () => checkLogin(options, context),
		input,
		io,
		signal: stopped.signal,
	});
	const end = stopOnSignal(async () => stopped.abort());
	io.onOutputLost?.(end.end);
	const releaseConsole = divertConsole((line) => printNotices(io, [line]));
	watchStrayErrors({ blameHook: (error) => server.blameHook(error) || ended?.blameHook(error) === true });
	if (process.stdin.isTTY) printNotices(io, ["pi acp waits for an editor on stdin · pi acp --help describes it"]);
	try {
		announceStart();
		await server.serve();
		return end.exitCode ?? 0;
	} finally {
		end.release();
		releaseConsole();
		// An open pipe would keep the process alive.
		input.destroy();
	}
}

/** Prints the problems of a session to stderr: those of its start, and that it cannot be saved. @returns stops it */
function reportProblems(session: AgentSession, io: ModeIO): () => void {
	const shown = new Set<string>();
	const show = (line: string) => {
		if (!shown.has(line)) printNotices(io, [line]);
		shown.add(line);
	};
	for (const line of session.loaded.warnings) show(line);
	let isStarting = true;
	return session.subscribe((event) => {
		if (event.type === "session_changed") isStarting = false;
		if (event.type === "notice" && ((isStarting && event.level !== "info") || event.message === session.unsaved)) {
			show(event.message);
		} else if (isStarting && event.type === "hook_error") show(describeHookErrorInFull(event, event.hookPath));
	});
}

/** @throws PiError `model_missing` if no model has a key now */
export async function checkLogin(options: CreateAgentSessionOptions, { env, home, cwd }: CliContext): Promise<void> {
	const settings = new SettingsStore({ agentDir: agentDir(env, home), cwd });
	const session = await createAgentSession({ ...options, settings, session: { kind: "memory" } });
	const models = await session.controls.availableModels();
	await session.dispose();
	if (models.length === 0) throw missingModel();
}
