import type { ExitCode, ModeIO } from "../modes/mode.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../session/create-session.js";
import { stripAll } from "../util/sanitize.js";
import { composePrompt, isPiped, loadFileArguments, readPipedText } from "./input.js";
import type { CliOptions } from "./options.js";
import { untilSignal } from "./signals.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/** How long a pipe may stay silent when the prompt has text of its own, in ms. */
const SILENCE_MS = 2000;

/** Runs print or JSON mode from start to end. */
export async function runHeadless(
	options: CliOptions,
	session: CreateAgentSessionOptions & { cwd: string; home: string },
	io: ModeIO,
): Promise<ExitCode | number> {
	const hasText = options.messages.length + options.files.length > 0;
	const [created, prompts] = await Promise.all([
		createAgentSession(session),
		readPrompts(options, session, hasText ? SILENCE_MS : undefined),
	]);
	const releaseConsole = divertConsole((line) => io.err(`${stripAll(line)}\n`));
	const releaseErrors = watchStrayErrors(created);
	created.acceptsSend = false;
	for (const line of created.loaded.warnings) io.err(`${stripAll(line)}\n`);
	const shown = new Set(created.loaded.warnings);
	const stop = created.subscribe((event) => {
		if (event.type === "notice" && event.level !== "info" && !shown.has(event.message))
			io.err(`${stripAll(event.message)}\n`);
	});
	const end = untilSignal(async () => {
		await created.abort();
	});
	try {
		await created.start();
		stop();
		if (!prompts.first && prompts.rest.length === 0) {
			io.err("There is no prompt: give it as an argument or pipe it in\n");
			return 2;
		}
		const code =
			options.mode === "json"
				? await (await import("../modes/json.js")).runJson(created, prompts, io)
				: await (await import("../modes/print.js")).runPrint(created, prompts, io);
		return end.exitCode ?? code;
	} finally {
		await created.dispose();
		end.release();
		releaseErrors();
		releaseConsole();
	}
}

async function readPrompts(options: CliOptions, base: { cwd: string; home: string }, silenceMs: number | undefined) {
	const [stdin, files] = await Promise.all([
		isPiped() ? readPipedText(process.stdin, silenceMs === undefined ? {} : { silenceMs }) : null,
		loadFileArguments(options.files, base),
	]);
	return composePrompt({ ...(stdin === null ? {} : { stdin }), files, messages: options.messages });
}
