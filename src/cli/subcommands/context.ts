import { resolve } from "node:path";
import {
	type ContextReport,
	createContextReport,
	groupTools,
	type LedgerMessage,
	type LedgerSection,
	type LedgerTool,
	NATIVE,
} from "../../context/ledger.js";
import { PiError } from "../../errors.js";
import { canChangeContext, type LoadedHook, replacedBundled } from "../../hooks/hook-registry.js";
import { findSession, newestFirst } from "../../log/catalog.js";
import { isMessageEntry, type SessionEntry } from "../../log/entry.js";
import { SessionLog } from "../../log/session-log.js";
import { onOneLine } from "../../log/session-summary.js";
import type { ModeIO } from "../../modes/mode.js";
import type { SuspectMessage } from "../../replay/explain-mismatch.js";
import { type Mismatch, SessionView } from "../../replay/session-view.js";
import { plural } from "../../util/format-amounts.js";
import type { Subcommand, SubcommandOptions } from "../options.js";
import { fitLines, printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import { findHooks } from "./find-hooks.js";
import type { Location, SubcommandContext } from "./location.js";
import { pastFacts } from "./past-facts.js";

const PREVIEW = 70;

/**
 * `pi context`: prints the context at a point of a session, and where it comes from. Read-only, without model or network.
 * @returns with `--verify`, 1 when a request differs from the recorded one
 * @throws PiError `log_not_found` and others for a session that cannot be read, `bad_arguments` for `--at`, `--without`
 */
export async function runContext(
	{ at, verify, without = [] }: Extract<Subcommand, { name: "context" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const log = SessionLog.open(findTarget(location, options), { readOnly: true });
	try {
		const { entries } = log;
		const last = at ?? entries.length - 1;
		if (last >= entries.length) {
			throw new PiError(
				"bad_arguments",
				`--at ${last}: no such entry, the session has entries 0 to ${entries.length - 1}`,
			);
		}
		const notices = [...location.warnings];
		const loaded = await loadSessionHooks(location, options, notices);
		const remaining = excludeHooks(loaded, without, location.paths.cwd);
		const hooks = remaining.filter((hook) => canChangeContext(hook, entries));
		const excluded = new Set(loaded.filter((hook) => !remaining.includes(hook)).map(({ path }) => path));
		const errors = new Set<string>();
		const view = new SessionView({
			...(await pastFacts(location, options, loaded, notices)),
			cwd: location.paths.cwd,
			sessionFile: log.path,
			entries,
			hooks,
			excluded,
			isTrial: without.length > 0,
			hookTimeoutMs: location.settings.hookTimeout,
			...(location.watch && { watch: location.watch }),
			onHookError: (line) => errors.add(line),
		});
		const code = verify
			? await printVerification(view, log, hooks, options, io)
			: await printContext(view, last, log, hooks, options, io);
		printNotices(io, [...notices, ...errors]);
		return code;
	} finally {
		log.close();
	}
}

/** @param without names of hooks, or paths relative to `cwd` @throws PiError `bad_arguments` for a hook that is not loaded */
function excludeHooks(hooks: readonly LoadedHook[], without: readonly string[], cwd: string): LoadedHook[] {
	const isNamed = ({ path, realPath, name }: LoadedHook, word: string) =>
		[name, path].includes(word) || [path, realPath].includes(resolve(cwd, word));
	for (const word of without) {
		if (hooks.some((hook) => isNamed(hook, word))) continue;
		const names = hooks.map(({ name }) => name).join(", ");
		throw new PiError("bad_arguments", `--without ${word}: no such hook is loaded`, {
			hint: names ? `loaded hooks: ${names}` : "no hooks are loaded; load one with --hook <file> or -e <file>",
		});
	}
	return hooks.filter((hook) => !without.some((word) => isNamed(hook, word)));
}

function findTarget(location: Location, options: SubcommandOptions): string {
	if (options.session !== undefined) return findSession(location.sessionDir, options.session);
	const [latest] = newestFirst(location.sessionDir);
	if (latest !== undefined) return latest;
	throw new PiError("log_not_found", `No session in ${location.sessionDir}`, {
		hint: "choose one with --session <path|id>",
	});
}

async function loadSessionHooks(
	location: Location,
	options: SubcommandOptions,
	notices: string[],
): Promise<LoadedHook[]> {
	const { attempts, untrusted, problems } = await findHooks(location, options);
	notices.push(...problems, ...attempts.flatMap(({ error }) => error ?? []));
	if (untrusted.length > 0)
		notices.push(`Untrusted project hooks did not run: ${untrusted.join(", ")} · run pi hooks trust, or use --trust`);
	const loaded = attempts.flatMap(({ hook }) => hook ?? []);
	const replaced = replacedBundled(loaded);
	return loaded.filter(({ path }) => !replaced.has(path));
}

async function printVerification(
	view: SessionView,
	log: SessionLog,
	hooks: readonly LoadedHook[],
	options: SubcommandOptions,
	io: ModeIO,
): Promise<number> {
	const { requests, mismatch } = await view.verify();
	const unrecorded = log.entries.filter(isUnrecordedReply).length;
	if (options.json) {
		await printJson(io, {
			session: log.path,
			requests,
			unrecorded,
			hooks: hooks.map(({ path, scope }) => ({ path, scope })),
			mismatch,
		});
	} else if (mismatch === null) {
		await printLines(io, [
			...(requests === 1 ? ["The request matches the recorded one"] : []),
			...(requests > 1 ? [`All ${requests} requests match the recorded ones`] : []),
			...(requests === 0 && unrecorded === 0 ? ["The session contains no requests"] : []),
			...(unrecorded > 0
				? [
						`${plural(unrecorded, "reply", "replies")} without a recorded request, as another program sent it: cannot be verified`,
					]
				: []),
		]);
	} else {
		const { entryIndex, recorded, computed } = mismatch;
		const why = differenceOf(recorded, computed);
		await printLines(io, [
			`The request answered by entry ${entryIndex} differs from the recorded one: ${why}`,
			mismatch.reason,
			...describeSuspect(mismatch.message, (position) => `Computed from message ${position} on`),
			...describeSuspect(mismatch.sent, (position) => `Recorded as message ${position}`),
		]);
	}
	return mismatch === null ? 0 : 1;
}

function differenceOf(recorded: Mismatch["recorded"], computed: Mismatch["computed"]): string {
	if (recorded.messages !== computed.messages)
		return `${plural(recorded.messages, "message")} recorded, ${computed.messages} computed`;
	if (recorded.digest !== computed.digest) return "same number of messages, different content";
	const parts = [
		...(recorded.tools === computed.tools ? [] : ["the tools"]),
		...(recorded.system === computed.system ? [] : ["the system prompt"]),
	];
	if (parts.length > 0) return `same messages, but not ${parts.join(" and ")}`;
	return recorded.native === computed.native
		? "same request, but hooks asked something else of the provider"
		: "same messages, but a compaction in another form";
}

function describeSuspect(message: SuspectMessage | null, where: (position: number) => string): string[] {
	if (message === null) return [];
	const { position, entryIndex, role, origin, text } = message;
	const unnamed = origin.kind === "freeze" ? "a hook" : entryIndex === null ? origin.kind : `entry ${entryIndex}`;
	return [`${where(position)}, ${role} from ${origin.hook ?? unnamed}: ${onOneLine(text, PREVIEW)}`];
}

async function printContext(
	view: SessionView,
	at: number,
	log: SessionLog,
	hooks: readonly LoadedHook[],
	options: SubcommandOptions,
	io: ModeIO,
): Promise<number> {
	// Two builds: only a second answer shows that a hook is unstable.
	await view.build(at + 1);
	const context = await view.build(at + 1);
	const report = createContextReport({
		session: log.path,
		context,
		entries: log.entries.slice(0, at + 1),
		hooks,
		previous: await view.requestBefore(at + 1),
		native: view.nativeIn(context, at + 1),
	});
	const { unstable } = view;
	if (options.json) await printJson(io, { ...report, unstable });
	else {
		const notes = fitLines(unstable.map(describeUnstable), io.columns);
		await printLines(io, [...describeReport(report, io.columns), ...notes]);
	}
	return 0;
}

function describeUnstable(hook: string): string {
	return `unstable: ${hook} returns different results for the same entries, so the provider cannot cache what follows them`;
}

/** A context as lines of text. @param columns of the terminal: rows are cut, and sentences wrapped. Default: any length */
export function describeReport(report: ContextReport, columns?: number): string[] {
	const {
		session,
		at,
		tokens,
		prefix,
		resent = 0,
		messages,
		tools,
		systemPrompt,
		hidden,
		removed,
		hooks,
		problems,
	} = report;
	const row = (entry: string, role: string, part: LedgerTool | LedgerSection | LedgerMessage, text = part.text) => [
		entry,
		role,
		`${part.tokens} tok${"replacedTokens" in part && part.replacedTokens !== undefined ? `, was ${part.replacedTokens}` : ""}`,
		part.resent ? "resent" : part.cached ? "cached" : "",
		fromOf(part),
		onOneLine(text, PREVIEW),
	];
	const rows = [
		...groupTools(tools).map((tool) => row("-", "tools", tool, `${tool.name}: ${tool.text}`)),
		...systemPrompt.map((section) => row("-", "system", section, `${section.id}: ${section.text}`)),
		...messages.map((message) =>
			row(message.entryIndex === null ? "-" : String(message.entryIndex), message.role, message),
		),
	];
	const fits = (lines: readonly string[]) => fitLines(lines, columns);
	const table = (lines: readonly string[]) => fitLines(lines, columns, "cut");
	return [
		...fits([
			`${session ?? "in memory"} at entry ${at}: ${plural(messages.length, "message")}, about ${tokens} tokens, ${prefix?.tokens ?? 0} of them unchanged from the previous request${resent > 0 ? `, ${resent} sent again` : ""}`,
			...(hooks.length > 0 ? [`hooks: ${hooks.map(({ path }) => path).join(", ")}`] : []),
		]),
		...(rows.length > 0
			? ["", ...table(tableLines([["entry", "role", "size", "cache", "from", "text"], ...rows]))]
			: []),
		...(hidden.length + removed.length > 0 ? ["", "hidden:"] : []),
		...table(
			tableLines([
				...removed.map((part) => [
					"-",
					"id" in part ? `system ${part.id}` : `tool ${part.name}`,
					`${part.tokens} tok`,
					`by ${part.by.hook}`,
				]),
				...hidden.map(({ entryIndex, role, tokens: count, by }) => [
					String(entryIndex),
					role,
					`${count} tok`,
					by.kind === "hook" ? `by ${by.hook}` : `by the ${by.kind} in entry ${by.entryIndex}`,
				]),
			]),
		),
		...fits(problems.map(({ hook, reason }) => `problem: ${hook ?? "the log"}: ${reason}`)),
	];
}

function fromOf(part: LedgerTool | LedgerSection | LedgerMessage): string {
	const { kind, hook } = part.origin;
	const from = kind === "entry" || kind === "core" ? "" : (hook ?? kind);
	return "native" in part && part.native ? `${from}, ${NATIVE}` : from;
}

/** True for a reply to a request that pi did not send, in an imported session. */
function isUnrecordedReply(entry: SessionEntry): boolean {
	if (!isMessageEntry(entry) || entry.message.role !== "assistant" || entry.context || entry.retried) return false;
	// A reply that was stopped before its request was sent has no record either.
	return entry.message.stopReason !== "aborted" && entry.message.stopReason !== "error";
}
