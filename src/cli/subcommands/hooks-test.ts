import { dirname, relative } from "node:path";
import { describeError, PiError } from "../../errors.js";
import type { LoadedHook } from "../../hooks/hook-registry.js";
import { findSession } from "../../log/catalog.js";
import type { SessionEntry } from "../../log/entry.js";
import { SessionLog } from "../../log/session-log.js";
import { onOneLine } from "../../log/session-summary.js";
import { plural } from "../../modes/format.js";
import { NOT_REPLAYED } from "../../replay/event-points.js";
import {
	type ReplayedCommand,
	type ReplayedContext,
	type ReplayedEvent,
	type ReplayFailure,
	replay,
	replayCommand,
} from "../../replay/replay.js";
import { sampleSession } from "../../replay/sample-session.js";
import type { Subcommand, SubcommandOptions } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import { findHookFile, loadHooksAt } from "./find-hooks.js";
import type { Location, SubcommandContext } from "./location.js";
import { pastFacts } from "./past-facts.js";

const PREVIEW = 70;

/** A prompt that the hook sent with `pi.send`. */
interface Sent {
	/** null: a run without a prompt. */
	text: string | null;
}

/**
 * `pi hooks test FILE`: runs the handlers of a hook on a recorded session and prints their results and the resulting
 * contexts. Read-only, without model or network.
 * @returns 1 when a handler fails, a result is rejected, or the hook does not load
 * @throws PiError `hook_load_failed` when the file does not exist, `log_not_found` and others for the session
 */
export async function testHook(
	{ target, runs = [] }: Extract<Subcommand, { action: "test" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const sent: Sent[] = [];
	const loaded = await loadHook(target, location, sent);
	if ("error" in loaded) {
		printNotices(io, [loaded.error]);
		return 1;
	}
	const { hook } = loaded;
	const { entries, path } = readSession(location, options);
	const notices: string[] = [];
	const replayed = {
		...(await pastFacts(location, options, [hook], notices)),
		hook,
		entries,
		cwd: location.paths.cwd,
		sessionFile: path,
		hookTimeoutMs: location.settings.hookTimeout,
		...(location.watch && { watch: location.watch }),
	};
	const events = await replay(replayed);
	const commands: ReplayedCommand[] = [];
	for (const line of runs) commands.push(await replayCommand(line, replayed));
	const failures =
		events.reduce((sum, event) => sum + countFailures(event), 0) +
		commands.reduce((sum, command) => sum + command.failures.length, 0) +
		((await location.watch?.countErrors()) ?? 0);
	printNotices(io, notices);
	if (options.json) {
		await printJson(io, {
			path: hook.path,
			session: path,
			entries: entries.length,
			events,
			commands,
			commandsNotRun: commandsNotRun(hook, runs),
			eventsNotReplayed: eventsNotReplayed(hook),
			sent,
			failures,
		});
	} else await printLines(io, describeReplay(hook, path, { events, commands, sent, runs }, failures, options.verbose));
	return failures > 0 ? 1 : 0;
}

/** Loads the file as `pi hooks check` does: a handle that the hook requires must be granted. */
async function loadHook(
	target: string,
	location: Location,
	sent: Sent[],
): Promise<{ hook: LoadedHook } | { error: string }> {
	const send = (_: LoadedHook, text: string | null) => void sent.push({ text: text === null ? null : String(text) });
	const { hooks, failures } = await loadHooksAt(location, [await findHookFile(target, location)], send);
	const [hook] = hooks;
	if (hook) return { hook };
	return {
		error: describeError(failures[0]?.error ?? new PiError("hook_load_failed", `Hook ${target} does not exist`)),
	};
}

function readSession(
	location: Location,
	{ session }: SubcommandOptions,
): { entries: readonly SessionEntry[]; path: string | null } {
	if (session === undefined) return { entries: sampleSession(location.paths.cwd), path: null };
	const log = SessionLog.open(findSession(location.sessionDir, session), { readOnly: true });
	try {
		return { entries: log.entries, path: log.path };
	} finally {
		log.close();
	}
}

function countFailures({ failures, context }: ReplayedEvent): number {
	return failures.length + (context?.problems.length ?? 0);
}

function describeReplay(
	hook: LoadedHook,
	session: string | null,
	{
		events,
		commands,
		sent,
		runs,
	}: {
		events: readonly ReplayedEvent[];
		commands: readonly ReplayedCommand[];
		sent: readonly Sent[];
		runs: readonly string[];
	},
	failures: number,
	isVerbose: boolean,
): string[] {
	const handled = events.filter(({ event }) => hook.handlers[event] !== undefined);
	const notRun = commandsNotRun(hook, runs).map((name) => `/${name}`);
	const missing = eventsNotReplayed(hook);
	const answers = commands.map((command) => [command.command, ...describeCommand(command, hook, isVerbose)]);
	const rows = handled.flatMap((event) => {
		const name = [event.event, event.subject].filter(Boolean).join(" ");
		const [first = "", ...more] = describeEvent(event, hook, isVerbose);
		return [[String(event.at), name, first], ...more.map((line) => ["", "", line])];
	});
	return [
		`${hook.path} on ${session ?? "the sample session"}: ${plural(events.length, "event")}, ${handled.length} of them handled, ${plural(failures, "failure")}`,
		...(rows.length > 0 ? ["", ...tableLines([["at", "event", "result"], ...rows])] : []),
		...answers.flatMap(([line = "", ...results]) => ["", line, ...results.map((result) => `    ${result}`)]),
		...(sent.length > 0
			? [
					"",
					...sent.map(({ text }) =>
						text === null ? "would start a run without a prompt" : `would send: ${onOneLine(text, PREVIEW)}`,
					),
				]
			: []),
		...(notRun.length > 0 ? ["", `commands not run: ${notRun.join(", ")}`] : []),
		...(missing.length > 0 ? ["", `events not replayed: ${missing.join(", ")}`] : []),
	];
}

function commandsNotRun(hook: LoadedHook, runs: readonly string[]): string[] {
	const run = new Set(runs.map((line) => line.trim().replace(/^\//, "").split(" ")[0]));
	return [...hook.commands.keys()].filter((name) => !run.has(name));
}

/** Events that the hook handles and that no entry records. */
function eventsNotReplayed({ handlers }: LoadedHook): string[] {
	return NOT_REPLAYED.filter((event) => handlers[event] !== undefined);
}

function describeCommand(
	{ answer, effects, failures }: ReplayedCommand,
	hook: LoadedHook,
	isVerbose: boolean,
): string[] {
	const lines = [
		...failures.flatMap((failure) => describeFailure(failure, hook, isVerbose)),
		...(answer === null ? [] : [describeAnswer(answer)]),
		...effects,
	];
	return lines.length > 0 ? lines : ["no result"];
}

function describeAnswer(answer: unknown): string {
	if (typeof answer === "string") return `prompt: ${onOneLine(answer, PREVIEW)}`;
	if (typeof answer === "object" && answer !== null && "status" in answer)
		return `status: ${onOneLine(String(answer.status), PREVIEW)}`;
	return `returned ${onOneLine(JSON.stringify(answer) ?? "", PREVIEW)}`;
}

function describeEvent(
	{ event, answers, stopped, effects, failures, context }: ReplayedEvent,
	hook: LoadedHook,
	isVerbose: boolean,
): string[] {
	const given = answers.filter((answer) => answer !== null);
	const lines = [
		...failures.flatMap((failure) => describeFailure(failure, hook, isVerbose)),
		...(stopped !== null && failures.length === 0
			? [`${event === "tool_call" || event === "user_bash" ? "blocked" : "stopped"}: ${onOneLine(stopped, PREVIEW)}`]
			: []),
		...(stopped === null ? given.map((answer) => `returned ${onOneLine(JSON.stringify(answer) ?? "", PREVIEW)}`) : []),
		...(context ? describeContext(context) : []),
		...effects,
	];
	return lines.length > 0 ? lines : ["no result"];
}

/** The failure with its place, and with `--verbose` its stack. */
function describeFailure({ message, place, stack }: ReplayFailure, hook: LoadedHook, isVerbose: boolean): string[] {
	const { file, line, column } = place ?? {};
	const at = file === undefined ? "" : ` at ${relative(dirname(hook.path), file)}:${line}:${column}`;
	return [`failed${at}: ${message}`, ...(isVerbose && stack !== null ? stack.split("\n") : [])];
}

function describeContext({ before, after, hidden, added, problems }: ReplayedContext): string[] {
	const refused = problems.map(({ reason }) => `rejected: ${reason}`);
	if (hidden.length === 0 && added.length === 0 && before.messages === after.messages) {
		return [...refused, `unchanged: ${plural(before.messages, "message")}, about ${before.tokens} tokens`];
	}
	return [
		...refused,
		`${before.messages} → ${plural(after.messages, "message")}, about ${before.tokens} → ${after.tokens} tokens`,
		...(hidden.length > 0 ? [`hides ${hidden.map(({ entryIndex }) => entryIndex).join(", ")}`] : []),
		...added.map(
			({ role, entryIndex, tokens, text }) =>
				`${entryIndex === null ? "adds" : `changes ${entryIndex},`} ${role}, ${tokens} tokens: ${onOneLine(text, PREVIEW)}`,
		),
	];
}
