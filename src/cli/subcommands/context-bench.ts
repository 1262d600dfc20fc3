import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BenchOptions, type BenchReport, runBench, type StrategyResult } from "../../context-bench/bench.js";
import { describeReport } from "../../context-bench/describe-report.js";
import { exceeded, readLimit, sumResults } from "../../context-bench/limit.js";
import type { BenchSession, Strategy } from "../../context-bench/play.js";
import type { AskedModels } from "../../context-bench/remembered-answers.js";
import { describeError, PiError } from "../../errors.js";
import { BUNDLED_HOOKS } from "../../hooks/bundled.js";
import { bundledPath } from "../../hooks/bundled-words.js";
import { findSession, newestFirst, sessionFiles } from "../../log/catalog.js";
import {
	isMessageEntry,
	isSessionHeader,
	isSessionInfoEntry,
	messageText,
	type SessionEntry,
} from "../../log/entry.js";
import { SessionLog } from "../../log/session-log.js";
import { onOneLine } from "../../log/session-summary.js";
import { didYouMean } from "../../util/nearest.js";
import type { Subcommand } from "../options.js";
import { usage } from "../parser.js";
import { fitLines, printJson, printLines, printNotices } from "../standard-io.js";
import type { BenchModelsOptions } from "./bench-asking.js";
import { listenForStop } from "./bench-progress.js";
import type { ShownRequest } from "./bench-show.js";
import { findHookFile, findPackageHook, tryHooks } from "./find-hooks.js";
import type { Location, SubcommandContext } from "./location.js";
import { pastFacts } from "./past-facts.js";

/** Sessions that are played without `--sessions`. */
const DEFAULT_SESSIONS = 20;
const MAX_NAME = 24;
/** Characters of an id. */
const ID_LENGTH = 8;

/**
 * `pi context bench`: plays recorded sessions under strategies and prints what each would have cost and lost. Reads only,
 * and without network unless models are asked.
 * @returns 1 if a strategy exceeds a limit of `--fail-if`, 130 if it was stopped
 * @throws PiError `bad_arguments`, `hook_load_failed`, `log_not_found`, `model_unknown`
 */
export async function runContextBench(
	command: Extract<Subcommand, { name: "bench" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const limits = command.failIf.map(readLimit);
	const notices = [...location.warnings];
	const strategies = await loadStrategies(command.strategies, { location, options });
	const base = await loadBase(location);
	const facts = await pastFacts(location, options, [...base, ...strategies.flatMap(({ hooks }) => hooks)], notices);
	const model = command.model === undefined ? undefined : facts.registry.resolveModelSpec(command.model).model;
	const sessions = readSessions(command.sessions, location, notices);
	printNotices(io, notices.splice(0));
	const shown = command.show === undefined ? null : await openShown(command.show, sessions, strategies);
	checkDirectory(command.html);
	const keys = listenForStop(io);
	let report: BenchReport;
	try {
		const ask =
			command.ask === true ? await openModels(location, { ...facts, model, onAsk: keys.asked, notices }) : null;
		report = await runBench(sessions, strategies, base, {
			...facts,
			...(model && { model }),
			hookTimeoutMs: location.settings.hookTimeout,
			...(location.watch && { watch: location.watch }),
			...(ask && { ask }),
			signal: keys.signal,
			onProgress: keys.progress,
			...(shown && { onRequest: shown.note }),
		});
	} finally {
		keys.end();
	}
	printNotices(io, notices);
	if (shown) return report.isPartial ? 130 : shown.print(io, options.json);
	if (command.html !== undefined) {
		const { benchPage } = await import("../../context-bench/bench-page.js");
		writeFileSync(command.html, benchPage(report));
		printNotices(io, [`Wrote ${command.html}`]);
	}
	if (options.json) await printJson(io, { date: new Date().toISOString(), ...report, total: sumResults(report) });
	else await printLines(io, fitLines(describeReport(report, io.columns), io.columns));
	const failures = exceeded(report, limits);
	const hasProblems = report.sessions.some(({ results }) => results.some(({ problems }) => problems.length > 0));
	printNotices(io, failures);
	return report.isPartial ? 130 : failures.length > 0 || hasProblems ? 1 : 0;
}

/**
 * Plays sessions under strategies, without limits, page and models.
 * @returns the report, and its sums over all sessions
 * @throws PiError as `runContextBench`
 */
export async function benchSessions(
	words: readonly string[],
	sessions: readonly string[],
	{ location, options }: Pick<SubcommandContext, "location" | "options">,
	run: Pick<BenchOptions, "signal" | "onProgress">,
): Promise<BenchReport & { total: StrategyResult[] }> {
	const strategies = await loadStrategies(words, { location, options });
	const base = await loadBase(location);
	const facts = await pastFacts(location, options, [...base, ...strategies.flatMap(({ hooks }) => hooks)], []);
	const report = await runBench(readSessions(sessions, location, []), strategies, base, {
		...facts,
		...{ hookTimeoutMs: location.settings.hookTimeout, ...(location.watch && { watch: location.watch }) },
		...run,
	});
	return { ...report, total: sumResults(report) };
}

/** @throws PiError `bad_arguments` for a hook that does not exist, `hook_load_failed` for one that does not load */
async function loadStrategies(
	words: readonly string[],
	{ location, options }: Pick<SubcommandContext, "location" | "options">,
): Promise<Strategy[]> {
	const strategies: Strategy[] = [];
	for (const word of new Set(words)) {
		const names = word.split("+").map((name) => name.trim());
		if (names.includes("")) throw usage(`${word}: a hook is missing before or after the +`);
		const files = [];
		for (const name of names) if (name !== "none") files.push(await findStrategyFile(name, { location, options }));
		strategies.push({ name: names.join("+"), hooks: await load(files, location) });
	}
	return strategies;
}

async function findStrategyFile(name: string, { location, options }: Pick<SubcommandContext, "location" | "options">) {
	const ofPackage = await findPackageHook(name, location);
	if (ofPackage) return ofPackage;
	try {
		return await findHookFile(name, location);
	} catch (error) {
		// The word may be the value of an option that does not exist.
		const { problem } = options.readFlags?.([]) ?? {};
		if (problem) throw problem;
		if (!(error instanceof PiError) || error.code !== "hook_load_failed") throw error;
		const { cwd } = location.paths;
		const file = [name, `${name}.ts`].find((candidate) => existsSync(join(cwd, candidate)));
		const known = BUNDLED_HOOKS.filter(({ group }) => group === "context").map((hook) => bundledPath(hook.name));
		const hint = file ? `write ./${file} for the file of this directory` : didYouMean(name, known);
		throw new PiError("bad_arguments", error.message, { hint: hint ?? `with pi come ${known.join(", ")}` });
	}
}

async function openShown(...request: ConstructorParameters<typeof ShownRequest>): Promise<ShownRequest> {
	// It loads what prints a context.
	const { ShownRequest: Shown } = await import("./bench-show.js");
	return new Shown(...request);
}

async function openModels(
	location: Location,
	{ notices, ...options }: Omit<BenchModelsOptions, "onWarning"> & { notices: string[] },
): Promise<AskedModels> {
	// Only `--ask` needs the client of models.
	const { benchModels } = await import("./bench-asking.js");
	return benchModels(location, { ...options, onWarning: (line) => notices.push(line) });
}

/** @throws PiError `bad_arguments` if the directory of the page does not exist: before everything is computed */
function checkDirectory(html: string | undefined): void {
	if (html === undefined || isDirectory(dirname(html))) return;
	throw new PiError("bad_arguments", `--html ${html}: there is no directory ${dirname(html)}`);
}

/** The bundled hooks that are on by default: what every session has. */
function loadBase(location: Location): Promise<Strategy["hooks"][number][]> {
	const files = BUNDLED_HOOKS.filter(({ isDefault }) => isDefault).map(({ name }) =>
		findHookFile(bundledPath(name), location),
	);
	return Promise.all(files).then((found) => load(found, location));
}

async function load(files: Parameters<typeof tryHooks>[0], location: Location): Promise<Strategy["hooks"][number][]> {
	const attempts = await tryHooks(files, location);
	return attempts.map(({ hook, error }) => {
		if (hook) return hook;
		throw new PiError("hook_load_failed", error ?? "A hook did not load");
	});
}

/**
 * @param words `last:20`, ids, files and directories
 * @param notices receives files that cannot be read
 * @throws PiError `log_not_found` if no session has a reply
 */
function readSessions(words: readonly string[], location: Location, notices: string[]): BenchSession[] {
	const { sessionDir } = location;
	const paths = (words.length > 0 ? words : [`last:${DEFAULT_SESSIONS}`]).flatMap((word) => {
		const last = /^last:(\d{1,6})$/.exec(word)?.[1];
		if (last !== undefined) return newestFirst(sessionDir).slice(0, Number(last));
		return isDirectory(word) ? sessionFiles(word) : [findSession(sessionDir, word)];
	});
	const sessions = [...new Set(paths)].flatMap((path) => {
		try {
			const session = readSession(path);
			if (!session) notices.push(`${path} is not played: it has no reply of a model`);
			return session ?? [];
		} catch (error) {
			notices.push(`${path} is not played: ${describeError(error)}`);
			return [];
		}
	});
	if (sessions.length > 0) return sessions;
	throw new PiError("log_not_found", "No session with a reply of a model was found", {
		hint: "choose some with --sessions <id|file|directory>",
	});
}

/** @returns null for a session without a request */
function readSession(path: string): BenchSession | null {
	const log = SessionLog.open(path, { readOnly: true });
	try {
		const { entries } = log;
		if (!entries.some((entry) => isMessageEntry(entry) && entry.message.role === "assistant")) return null;
		const [header] = entries;
		return { name: nameOf(entries), path, cwd: isSessionHeader(header) ? header.cwd : "/", entries };
	} finally {
		log.close();
	}
}

/** The start of its id, as in `pi sessions list`, and its name or first prompt. */
function nameOf(entries: readonly SessionEntry[]): string {
	const [header] = entries;
	const named = entries.findLast(isSessionInfoEntry)?.name;
	const first = entries.find((entry) => isMessageEntry(entry) && entry.message.role === "user");
	const text = onOneLine(named ?? (isMessageEntry(first) ? messageText(first.message) : ""), MAX_NAME);
	return [isSessionHeader(header) ? header.id.slice(0, ID_LENGTH) : "", text].filter(Boolean).join(" ") || "session";
}

function isDirectory(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
