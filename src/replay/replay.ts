import type { BuiltContext } from "../context/context-message.js";
import { coreContext } from "../context/core-context.js";
import { describeProblem } from "../context/describe-problem.js";
import { entryMessage } from "../context/entry-message.js";
import { fullText } from "../context/ledger.js";
import { estimateAll, estimateTokens } from "../context/tokens.js";
import { errorText, PiError, type SourcePosition } from "../errors.js";
import { HookRegistry, type LoadedHook } from "../hooks/hook-registry.js";
import { HookRunner } from "../hooks/runner.js";
import { positionOfError } from "../hooks/source-position.js";
import type { CommandOptions, HandlerContext, HookEventContext, HookEventName, HookHandler } from "../hooks/types.js";
import type { AppMessage, SessionEntry } from "../log/entry.js";
import { type EventPoint, eventPoints, type PointEvent } from "./event-points.js";
import { createReplaySession, withoutPrograms } from "./replay-session.js";
import { buildAt, type LastContext, type ReplayOptions, sessionAt } from "./session-at.js";

/** A failure of a handler. */
export interface ReplayFailure {
	message: string;
	/** Where it failed, or where the handler was registered; null if unknown. */
	place: SourcePosition | null;
	/** Stack trace with positions in the source; null without one. */
	stack: string | null;
}

/** The effect of the hook on the context at one point. */
export interface ReplayedContext {
	before: { messages: number; tokens: number };
	after: { messages: number; tokens: number };
	/** Entries that the hook hid, with the tokens of their messages. */
	hidden: { entryIndex: number; role: string; tokens: number }[];
	/** Messages that the hook added, with their new positions. One with an `entryIndex` replaces the message of that entry. */
	added: { position: number; entryIndex: number | null; role: string; tokens: number; text: string }[];
	/** Reasons for dropped answers. */
	problems: { rule: string; position: number; reason: string }[];
}

/** A replayed event point. */
export interface ReplayedEvent {
	/** Index of the last entry that existed at this point, as `--at` of `pi context`. */
	at: number;
	event: HookEventName;
	/** The reason of a `session` event, the tool of tool events; else null. */
	subject: string | null;
	/** Answers of the handlers, in order; null for no answer. Empty for `context`. */
	answers: unknown[];
	/** Why a tool call or shell command was blocked, or a prompt or request stopped; null if it was not. */
	stopped: string | null;
	/** Effects and dialogs of the hook, one line each. */
	effects: string[];
	failures: ReplayFailure[];
	/** Set for `context` events if a handler uses the context. */
	context?: ReplayedContext;
}

const NEVER = new AbortController().signal;

/**
 * Runs the handlers of a hook on all event points of a session, with the runner that sessions use. Writes nothing. The
 * time is proportional to the number of points and, for hooks with a `context` handler, to the sum of all contexts.
 */
export async function replay(options: ReplayOptions): Promise<ReplayedEvent[]> {
	const replayed: ReplayedEvent[] = [];
	/** Calls that the hook blocked; they get no `tool_result`. */
	const blocked = new Set<string>();
	let last: LastContext | null = null;
	for (const point of eventPoints(options.entries, options.sessionFile)) {
		const { event } = point;
		if (event.type === "tool_result" && blocked.has(event.toolCallId)) continue;
		const { built, ...step } = await replayEventPoint(point, last, options);
		if (built) last = { built, length: point.end };
		if (event.type === "tool_call" && step.stopped !== null) blocked.add(event.toolCallId);
		replayed.push(step);
	}
	return replayed;
}

/** A command that ran at the end of the session. */
export interface ReplayedCommand {
	/** The line, such as `/budget 200`. */
	command: string;
	/** The answer of the handler; null for none. */
	answer: unknown;
	effects: string[];
	failures: ReplayFailure[];
}

/**
 * Runs a command of a hook at the end of the session. Effects are recorded, not carried out.
 * @throws PiError `bad_arguments` if the hook has no such command
 */
export async function replayCommand(line: string, options: ReplayOptions): Promise<ReplayedCommand> {
	const [, name = "", rest = ""] = /^\/?(\S+)(?: ([\s\S]*))?$/.exec(line.trim()) ?? [];
	const { hook, entries, cwd, sessionFile, hookTimeoutMs, watch } = options;
	const command = hook.commands.get(name);
	if (!command) {
		const known = [...hook.commands.keys()].map((known) => `/${known}`).join(", ");
		const hint = known ? `its commands are ${known}` : "it has no commands";
		throw new PiError("bad_arguments", `--run ${line}: the hook has no command /${name}`, { hint });
	}
	const result: ReplayedCommand = { command: line, answer: null, effects: [], failures: [] };
	const onEffect = (effect: string) => void result.effects.push(effect);
	const { length } = entries;
	const last = hook.handlers.context ? { length, built: await buildAt(length, hook, options) } : null;
	const watched: CommandOptions = {
		...command,
		handler: (ctx) => command.handler(withoutPrograms(ctx, onEffect)),
	};
	const registered = hook.places.get(command);
	if (registered) hook.places.set(watched, registered);
	const registry = new HookRegistry([{ ...hook, commands: new Map([[name, watched]]) }], new Set());
	const runner = new HookRunner({
		registry,
		host: createReplaySession({ cwd, sessionFile, ...sessionAt(length, last, hook, options) }, onEffect),
		hookTimeoutMs: () => hookTimeoutMs,
		...(watch && { watch }),
		onError: ({ reason, place, trace }) => void result.failures.push({ message: reason, place, stack: trace }),
	});
	// onError has the failure of a handler.
	result.answer = plain(await runner.runCommand(name, rest, NEVER).catch(() => undefined));
	return result;
}

/** @param last the context that was computed last */
async function replayEventPoint(
	{ end, event }: EventPoint,
	last: LastContext | null,
	options: ReplayOptions,
): Promise<ReplayedEvent & { built?: BuiltContext }> {
	const step: ReplayedEvent = {
		at: end - 1,
		event: event.type,
		subject: subjectOf(event),
		answers: [],
		stopped: null,
		effects: [],
		failures: [],
	};
	if (!concerns(event, options.hook)) return step;
	const onEffect = (line: string) => void step.effects.push(line);
	const { cwd, sessionFile, hookTimeoutMs, watch } = options;
	const watched = watchHandlers(options.hook, {
		onAnswer: (answer) => void step.answers.push(plain(answer)),
		onEffect,
	});
	const registry = new HookRegistry([watched], new Set());
	const runner = new HookRunner({
		registry,
		host: createReplaySession({ cwd, sessionFile, ...sessionAt(end, last, options.hook, options) }, onEffect),
		hookTimeoutMs: () => hookTimeoutMs,
		...(watch && { watch }),
		onError: ({ reason, place, trace }) => void step.failures.push({ message: reason, place, stack: trace }),
	});
	if (event.type === "context") {
		const built = await buildAt(end, options.hook, options, runner);
		const entries = options.entries.slice(0, end);
		step.answers.length = 0;
		step.context = describeContext(
			coreContext(entries).messages.map(({ message }) => message),
			built,
			entries,
		);
		return { ...step, built };
	}
	await emit(event, last, runner, step, options);
	return step;
}

async function emit(
	event: Exclude<PointEvent, { type: "context" }>,
	last: LastContext | null,
	runner: HookRunner,
	step: ReplayedEvent,
	options: ReplayOptions,
): Promise<void> {
	switch (event.type) {
		case "session":
			await runner.emitSession(event, NEVER);
			break;
		case "before_request": {
			const messages = last?.built.messages ?? [];
			const messageCount = messages.length;
			const tokens = estimateAll(messages.map(({ message }) => message));
			step.stopped = await runner.gateRequest(Object.freeze({ ...event, messageCount, tokens }), NEVER);
			break;
		}
		case "prompt": {
			const decision = await runner.gatePrompt(event, NEVER);
			step.stopped = "stop" in decision ? decision.stop : null;
			break;
		}
		case "tool_call": {
			const decision = await limited(event.type, step, options, (signal) =>
				runner.gateToolCall(event, (input) => input, signal),
			);
			step.stopped = "blocked" in decision ? decision.blocked : null;
			break;
		}
		case "user_bash": {
			const decision = await limited(event.type, step, options, (signal) => runner.gateUserBash(event, signal));
			step.stopped = "blocked" in decision ? decision.blocked : null;
			break;
		}
		case "tool_result":
			await runner.changeToolResult(event, NEVER);
			break;
		default:
			await runner.emit(event, NEVER);
	}
}

/** Runs handlers that have no time limit in a session, because a person may be answering. In a replay nobody is. */
async function limited<T>(
	event: HookEventName,
	step: ReplayedEvent,
	{ hook, hookTimeoutMs }: ReplayOptions,
	ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const limit = new AbortController();
	const timer = setTimeout(() => limit.abort(), hookTimeoutMs);
	const decision = await ask(limit.signal);
	clearTimeout(timer);
	if (limit.signal.aborted) {
		const message = `timed out after ${hookTimeoutMs} ms`;
		step.failures.push({ message, place: placeOf(event, hook), stack: null });
	}
	return decision;
}

function describeContext(
	before: readonly AppMessage[],
	{ messages, hidden, problems }: BuiltContext,
	entries: readonly SessionEntry[],
): ReplayedContext {
	return {
		before: { messages: before.length, tokens: estimateAll(before) },
		after: { messages: messages.length, tokens: estimateAll(messages.map(({ message }) => message)) },
		hidden: hidden.flatMap(({ entryIndex, by }) => {
			const message = entryMessage(entries[entryIndex]);
			if (by.kind !== "hook" || !message) return [];
			return [{ entryIndex, role: message.role, tokens: estimateTokens(message) }];
		}),
		added: messages.flatMap(({ message, entryIndex, origin }, position) =>
			origin.kind === "hook"
				? [{ position, entryIndex, role: message.role, tokens: estimateTokens(message), text: fullText(message) }]
				: [],
		),
		problems: problems.flatMap((problem) =>
			problem.hook === null
				? []
				: [{ rule: problem.rule, position: problem.position, reason: describeProblem(problem) }],
		),
	};
}

/** Where the first handler of an event was registered; null if unknown. */
function placeOf(event: HookEventName, hook: LoadedHook): SourcePosition | null {
	const [handler] = hook.handlers[event] ?? [];
	return positionOfError(handler && hook.places.get(handler), hook);
}

/** True if the hook handles the event, or needs the context size for a later `before_request`. */
function concerns({ type }: PointEvent, { handlers }: LoadedHook): boolean {
	return handlers[type] !== undefined || (type === "context" && handlers.before_request !== undefined);
}

/** An answer after a round trip through JSON; null for no answer. */
function plain(answer: unknown): unknown {
	try {
		return JSON.parse(JSON.stringify(answer) ?? "null");
	} catch (error) {
		return `not shown: ${errorText(error)}`;
	}
}

function subjectOf(event: PointEvent): string | null {
	if (event.type === "session") return event.reason;
	return event.type === "tool_call" || event.type === "tool_result" ? event.toolName : null;
}

/** Receives the answers and effects of handlers. */
interface CallWatcher {
	onAnswer?(answer: unknown): void;
	/** Receives a line for each program that a handler would run. */
	onEffect(line: string): void;
}

/** A copy of a hook whose handlers report their answers and run no programs. */
export function watchHandlers(hook: LoadedHook, watcher: CallWatcher): LoadedHook {
	const watch = <N extends HookEventName>(handler: HookHandler<N>): HookHandler<N> => {
		const watched: HookHandler<N> = async (event, ctx) => {
			// Handlers of the context cannot run programs, except in extensions.
			const isPure = event.type === "context" && hook.kind !== "extension";
			const given = isPure ? ctx : withoutPrograms(ctx as HookEventContext, watcher.onEffect);
			const answer = await handler(event, given as HandlerContext<N>);
			watcher.onAnswer?.(answer);
			return answer;
		};
		const registered = hook.places.get(handler);
		if (registered) hook.places.set(watched, registered);
		return watched;
	};
	// Each list keeps the event that it is registered for, so the types of its handlers do not change.
	const handlers = Object.entries(hook.handlers).map(([event, list]) => [
		event,
		list.map((handler) => watch(handler as HookHandler<HookEventName>)),
	]);
	return { ...hook, handlers: Object.fromEntries(handlers) as LoadedHook["handlers"] };
}
