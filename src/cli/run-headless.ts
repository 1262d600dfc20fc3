import { describeHookErrorInFull } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import { Watchdog } from "../hooks/watchdog.js";
import type { ExitCode, ModeIO } from "../modes/mode.js";
import { printHookErrors } from "../modes/session-end.js";
import { type HookErrorEvent, ShownHookErrors } from "../modes/shown-hook-errors.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../sdk/create-session.js";
import { announceStart } from "../util/announce-start.js";
import { stripAll } from "../util/sanitize.js";
import { stopOnSignal, watchForStall } from "../util/signals.js";
import type { CliOptions } from "./options.js";
import { composePrompt, loadFileArguments, pipedSource, readPipedText, readSchemaOption } from "./prompt-input.js";
import { isUnsaved } from "./session-problems.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/**
 * How long stdin may stay silent when the arguments contain a prompt, ms. In a shell, a pipe comes from a command that may take
 * its time; programs that start pi often leave a socket open.
 */
const SILENCE_MS = { pipe: 10_000, socket: 2000, file: 2000 };

/** Announces the start with the first reply: what follows from it takes a millisecond, which the request need not wait for. */
function announceStartWithReply(session: AgentSession): void {
	const stop = session.subscribe((event) => {
		if (event.type !== "message_start" || event.message.role !== "assistant") return;
		stop();
		announceStart();
	});
}

/** Runs print or JSON mode. @returns the exit code */
export async function runHeadless(
	options: CliOptions,
	session: CreateAgentSessionOptions & { cwd: string; home: string },
	io: ModeIO,
): Promise<ExitCode | number> {
	const outputSchema =
		options.outputSchema === undefined ? undefined : await readSchemaOption(options.outputSchema, session);
	const watch = new Watchdog();
	// Which words are prompts is known only when hooks have declared their flags.
	const stopped = new AbortController();
	const read = (line: CliOptions) => readPrompts(line, session, io, stopped.signal);
	const reading = options.hookFlags ? null : read(options);
	reading?.catch(() => {}); // reported when the session exists, which then ends
	const line = (text: string) => io.err(`${stripAll(text)}\n`);
	const [created, mode] = await Promise.all([
		createAgentSession({ ...session, watch, onWait: line }),
		options.mode === "json" ? import("../modes/json.js") : import("../modes/print.js"),
	]);
	announceStartWithReply(created);
	const releaseConsole = divertConsole(line);
	watchStrayErrors(created);
	created.acceptsSend = false;
	created.mode = options.mode === "json" ? "json" : "print";
	for (const warning of created.loaded.warnings) line(warning);
	// Reports startup problems. The mode subscribes in the same tick, so that no event is lost or reported twice.
	const shown = new ShownHookErrors();
	const early: HookErrorEvent[] = [];
	const stop = created.subscribe((event) => {
		if (event.type === "notice" && event.level !== "info") line(event.message);
		if (event.type !== "hook_error") return;
		early.push(event);
		const error = describeHookErrorInFull(event, hookFileName(event.hookPath));
		if (shown.accepts(event, error)) line(error);
	});
	const end = stopOnSignal(async () => {
		stopped.abort();
		await created.abort();
	});
	io.onOutputLost?.(end.end);
	const releaseStall = watchForStall(() => {
		line(`pi: ${watch.latest ?? "the run"} never returned, so pi exits · fix it, or use --no-hooks`);
		end.end(1);
	});
	let hasRun = false;
	const printLate = () => {
		printHookErrors(created, line);
		if (hasRun && "runJson" in mode) mode.printLateErrors(created, io);
	};
	try {
		const earlyPrompts = await reading;
		await created.start();
		stop();
		// In JSON mode all other notices are only events.
		if (options.mode === "json") created.subscribe((event) => isUnsaved(event, created) && line(event.message));
		// A signal received during startup had no prompt to stop.
		if (end.exitCode !== undefined) return end.exitCode;
		const given = earlyPrompts ?? (await read({ ...options, ...options.hookFlags?.words() }));
		const { limits } = options;
		const prompts = { ...given, ...(limits && { limits }), ...(outputSchema && { outputSchema }) };
		if (!prompts.first && prompts.rest.length === 0) {
			io.err("pi: missing prompt · pass it as an argument or on stdin\n");
			return 2;
		}
		hasRun = true;
		const run =
			"runJson" in mode ? mode.runJson(created, prompts, io, early) : mode.runPrint(created, prompts, io, shown);
		const code = await run;
		for (const late of created.mcp.describeLate()) line(late);
		const ended = created.jobs.endAll();
		if (ended !== null) line(ended);
		return end.exitCode ?? code;
	} catch (error) {
		if (end.exitCode !== undefined && error instanceof Error && error.name === "AbortError") return end.exitCode;
		throw error;
	} finally {
		stop();
		printLate();
		await created.dispose();
		printLate();
		end.release();
		releaseStall();
		releaseConsole();
	}
}

async function readPrompts(options: CliOptions, base: { cwd: string; home: string }, io: ModeIO, signal: AbortSignal) {
	const [stdin, files] = await Promise.all([
		readStdin(options, io, signal),
		loadFileArguments(options.files, base, signal),
	]);
	return composePrompt({ ...(stdin === null ? {} : { stdin }), files, messages: options.messages });
}

/** The text on stdin; null without one. */
async function readStdin({ messages, files }: CliOptions, io: ModeIO, signal: AbortSignal): Promise<string | null> {
	const source = pipedSource();
	if (source === null) return null;
	if (messages.length + files.length === 0) return readPipedText(process.stdin, { signal });
	const silenceMs = SILENCE_MS[source];
	const text = await readPipedText(process.stdin, { silenceMs, signal });
	if (text === null)
		io.err(`pi: nothing came from stdin within ${silenceMs / 1000} s · the prompt is sent without it\n`);
	return text;
}
