import type { Readable } from "node:stream";
import { describeHookErrorInFull } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import { Watchdog } from "../hooks/watchdog.js";
import type { ModeIO } from "../modes/mode.js";
import { RpcServer } from "../modes/rpc/rpc-server.js";
import { printHookErrors } from "../modes/session-end.js";
import { createAgentSession } from "../sdk/create-session.js";
import { announceStart } from "../util/announce-start.js";
import { stopOnSignal } from "../util/signals.js";
import type { CliSessionOptions } from "./session-options.js";
import { isUnsaved } from "./session-problems.js";
import { printNotices } from "./standard-io.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/**
 * Runs RPC mode until the client closes stdin or a signal arrives.
 * @returns the exit code: 0, or that of the signal
 * @throws PiError when the session cannot be created
 */
export async function runRpc(options: CliSessionOptions, io: ModeIO, input: Readable = process.stdin): Promise<number> {
	const session = await createAgentSession({
		...options,
		watch: new Watchdog(),
		onWait: (line) => printNotices(io, [line]),
	});
	announceStart();
	const shown = new Set<string>();
	const show = (line: string) => {
		if (!shown.has(line)) printNotices(io, [line]);
		shown.add(line);
	};
	for (const line of session.loaded.warnings) show(line);
	session.subscribe((event) => {
		if (isUnsaved(event, session)) show(event.message);
	});
	// Startup problems also go to stderr; other later problems reach only the client.
	const stop = session.subscribe((event) => {
		if (event.type === "notice" && event.level !== "info") show(event.message);
		else if (event.type === "hook_error") show(describeHookErrorInFull(event, hookFileName(event.hookPath)));
		else if (event.type === "session_changed") stop();
	});
	const stopped = new AbortController();
	const end = stopOnSignal(async () => stopped.abort());
	io.onOutputLost?.(end.end);
	const releaseConsole = divertConsole((line) => printNotices(io, [line]));
	watchStrayErrors(session);
	const stopWatching = options.settings.watch();
	try {
		await new RpcServer({ session, input, io, signal: stopped.signal }).serve();
		return end.exitCode ?? 0;
	} finally {
		end.release();
		stopWatching();
		printHookErrors(session, show);
		releaseConsole();
		// An open pipe would keep the process alive.
		input.destroy();
	}
}
