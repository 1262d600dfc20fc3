import { describeHookErrorInFull } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import { Watchdog } from "../hooks/watchdog.js";
import type { ExitCode, ModeIO } from "../modes/mode.js";
import type { AgentSession } from "../session/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../session/create-session.js";
import { stripAll } from "../util/sanitize.js";
import { stopOnSignal, watchForStall } from "../util/signals.js";
import { announceStart } from "../util/started.js";
import { composePrompt, isPiped, loadFileArguments, readPipedText } from "./input.js";
import type { CliOptions } from "./options.js";
import { isUnsaved } from "./session-problems.js";
import { READER_GONE } from "./standard-io.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/** How long stdin may stay silent when the arguments contain a prompt, in ms. */
const SILENCE_MS = 2000;

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
	const watch = new Watchdog();
	const [created, earlyPrompts, runMode] = await Promise.all([
		createAgentSession({ ...session, watch }),
		// Which words are prompts is known only when hooks have declared their flags.
		options.hookFlags ? null : readPrompts(options, session),
		options.mode === "json"
			? import("../modes/json.js").then(({ runJson }) => runJson)
			: import("../modes/print.js").then(({ runPrint }) => runPrint),
	]);
	announceStartWithReply(created);
	const line = (text: string) => io.err(`${stripAll(text)}\n`);
	const releaseConsole = divertConsole(line);
	const releaseErrors = watchStrayErrors(created);
	created.acceptsSend = false;
	created.mode = options.mode === "json" ? "json" : "print";
	for (const warning of created.loaded.warnings) line(warning);
	// Reports startup problems. The mode subscribes in the same tick, so that no event is lost or reported twice.
	const stop = created.subscribe((event) => {
		if (event.type === "notice" && event.level !== "info") line(event.message);
		if (event.type === "hook_error") line(describeHookErrorInFull(event, hookFileName(event.hookPath)));
	});
	const end = stopOnSignal(async () => {
		await created.abort();
	});
	io.onReaderGone?.(() => end.end(READER_GONE));
	const releaseStall = watchForStall(() => {
		line(`pi: ${watch.latest ?? "the run"} never returned, so pi exits · fix it, or use --no-hooks`);
		end.end(1);
	});
	try {
		await created.start();
		stop();
		// In JSON mode all other notices are only events.
		if (options.mode === "json") created.subscribe((event) => isUnsaved(event, created) && line(event.message));
		// A signal received during startup had no prompt to stop.
		if (end.exitCode !== undefined) return end.exitCode;
		const prompts = earlyPrompts ?? (await readPrompts({ ...options, ...options.hookFlags?.words() }, session));
		if (!prompts.first && prompts.rest.length === 0) {
			io.err("pi: missing prompt · pass it as an argument or on stdin\n");
			return 2;
		}
		const code = await runMode(created, prompts, io);
		const ended = created.jobs.endAll();
		if (ended !== null) line(ended);
		return end.exitCode ?? code;
	} finally {
		await created.dispose();
		end.release();
		releaseStall();
		releaseErrors();
		releaseConsole();
	}
}

async function readPrompts(options: CliOptions, base: { cwd: string; home: string }) {
	const hasText = options.messages.length + options.files.length > 0;
	const [stdin, files] = await Promise.all([
		isPiped() ? readPipedText(process.stdin, hasText ? { silenceMs: SILENCE_MS } : {}) : null,
		loadFileArguments(options.files, base),
	]);
	return composePrompt({ ...(stdin === null ? {} : { stdin }), files, messages: options.messages });
}
