import { isDeepStrictEqual } from "node:util";
import { errorText, inspectable } from "../errors.js";
import type { ChangedInput } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import type { ApprovalAnswer } from "../util/approval.js";
import type { SerialQueue } from "../util/serial-queue.js";
import { describeSubject } from "./approval-subject.js";
import { askApproval } from "./ask-approval.js";
import { jsonCopy } from "./check-values.js";
import type { HookSession } from "./context-object.js";
import type { HandlerCalls } from "./handler-calls.js";
import type { LoadedHook } from "./hook-registry.js";
import { claimsOf } from "./screen-claims.js";
import { NO_UI } from "./session-ui.js";
import type { Attachment, PromptEvent, ToolApproval, ToolCallEvent, UserBashEvent, UserBashResult } from "./types.js";

/** The collaborators of the gates. */
export interface GateContext {
	calls: HandlerCalls;
	host: HookSession;
	/** Orders the questions about tool calls. */
	queue: SerialQueue;
}

/** Validates and converts the arguments of a call. @throws with a message that names the invalid fields first */
export type InputValidator = (input: Record<string, unknown>) => Record<string, unknown>;

/** What the hooks decide about a tool call: `blocked` is the reason, `by` the name of the hook. */
export type ToolCallDecision = Blocked | { input: Record<string, unknown>; changed?: ChangedInput };

/** `terminate`: see `ToolResult`. */
interface Blocked {
	blocked: string;
	by?: string;
	terminate?: boolean;
}

interface CallInput {
	input: Record<string, unknown>;
	/** Hooks that changed the arguments. */
	by: readonly string[];
}

/** Asks `tool_call` handlers: changed arguments are chained, and the first block wins. A failure or malformed answer blocks. */
export async function gateToolCall(
	context: GateContext,
	event: ToolCallEvent,
	validate: InputValidator,
	signal: AbortSignal,
): Promise<ToolCallDecision> {
	const { calls } = context;
	const start: CallInput = { input: event.input, by: [] };
	const eventWith = ({ input }: CallInput): ToolCallEvent => ({ ...event, input: freezeDeep(structuredClone(input)) });
	const result = await calls.gate<"tool_call", CallInput, Blocked>(
		"tool_call",
		start,
		eventWith,
		signal,
		async ({ hook, handler, answer, failure, problem }, state) => {
			const block = (reason: string) => ({ decision: { blocked: reason, by: hook.name } });
			if (failure && signal.aborted) return { decision: { blocked: ABORTED } };
			if (failure) {
				calls.recordBlock(hook);
				return block(`Blocked: hook ${hook.name} failed: ${errorText(failure.error)}`);
			}
			if (answer?.block) {
				const blocked: Blocked = { blocked: answer.reason || `Blocked by hook ${hook.name}`, by: hook.name };
				return { decision: answer.terminate ? { ...blocked, terminate: true } : blocked };
			}
			if (problem !== undefined) return block(`Blocked: the answer of hook ${hook.name} is malformed: ${problem}`);
			let next = state;
			if (answer?.input) {
				const changed = changeInput(answer.input, state, hook, validate);
				if ("problem" in changed) {
					calls.report(hook, "tool_call", `${changed.problem}; the call is blocked`, handler);
					calls.recordBlock(hook);
					return block(`Blocked: the new input of hook ${hook.name} is invalid: ${changed.problem}`);
				}
				next = changed;
			}
			if (answer?.ask !== undefined) {
				let refusal: string | null;
				try {
					refusal = await ask(context, hook, answer.ask, eventWith(next), signal);
				} catch (error) {
					if (!signal.aborted) calls.report(hook, "tool_call", inspectable(error), handler);
					refusal = `Blocked: hook ${hook.name} failed: ${errorText(error)}`;
				}
				if (signal.aborted) return { decision: { blocked: ABORTED } };
				if (refusal !== null) {
					calls.recordBlock(hook);
					return block(refusal);
				}
			}
			return { state: next };
		},
	);
	if ("decision" in result) return result.decision;
	const { input, by } = result.state;
	return by.length === 0 ? { input: event.input } : { input, changed: { by, ...difference(event.input, input) } };
}

const ABORTED = "aborted: the user stopped the run";

function changeInput(
	input: Record<string, unknown>,
	state: CallInput,
	hook: LoadedHook,
	validate: InputValidator,
): CallInput | { problem: string } {
	try {
		const valid = validate(jsonCopy(input) as Record<string, unknown>);
		return isDeepStrictEqual(valid, state.input) ? state : { input: valid, by: [...state.by, hook.name] };
	} catch (error) {
		// The validator ends its message with the arguments, whose values are not repeated.
		const message = error instanceof Error ? error.message : "";
		const [rules = ""] = message.split("\nReceived arguments:");
		return { problem: errorText(rules.trim() || error) };
	}
}

/**
 * Asks the user, one question at a time: the answer to one may allow the next.
 * @returns why the call must not run; null if it may
 * @throws what the hook's own functions throw
 */
async function ask(
	{ host, queue }: GateContext,
	hook: LoadedHook,
	asked: string | ToolApproval,
	event: ToolCallEvent,
	signal: AbortSignal,
): Promise<string | null> {
	const approval: ToolApproval = typeof asked === "string" ? { question: asked } : asked;
	const { question, choices = [] } = approval;
	return queue.run(async () => {
		if (signal.aborted || (await host.enter(hook, () => approval.isAllowed?.())) === true) return null;
		if (host.ui === NO_UI)
			return `Blocked: hook ${hook.name} asks the user before this call, and nobody can answer: ${question}`;
		const limits = { hook: hook.name, signal: AbortSignal.any([signal, claimsOf(hook).signal]) };
		const close = host.openDialog(question);
		let answer: ApprovalAnswer;
		try {
			const about = { question, choices, subject: describeSubject(event), takesMessage: true };
			answer = await askApproval(host.ui, about, limits);
		} finally {
			close();
		}
		if (signal.aborted) return null;
		const { toolCallId } = event;
		if (!answer.allowed) {
			const { message } = answer;
			host.noteApproval?.({ ...{ toolCallId, question, by: hook.name, allowed: false }, ...(message && { message }) });
			return message
				? `The user refused this call and says: ${message}`
				: `The user refused this call when hook ${hook.name} asked: ${question}`;
		}
		const chosen = choices[answer.choice];
		const rule = chosen?.rule === undefined ? {} : { rule: answer.rule ?? chosen.rule };
		await host.enter(hook, () => chosen?.chosen(rule.rule ?? ""));
		const choice = chosen ? { choice: chosen.label, ...rule } : {};
		host.noteApproval?.({ toolCallId, question, by: hook.name, allowed: true, ...choice });
		return null;
	}, signal);
}

/** The arguments that differ. */
function difference(from: Readonly<Record<string, unknown>>, to: Readonly<Record<string, unknown>>) {
	const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
	const changed = names.filter((name) => !isDeepStrictEqual(from[name], to[name]));
	const pick = (input: Readonly<Record<string, unknown>>) =>
		Object.fromEntries(changed.flatMap((name) => (name in input ? [[name, input[name]] as const] : [])));
	return { from: pick(from), to: pick(to) };
}

/** What the hooks decide about a prompt. `by`: name of the hook. */
export type PromptDecision =
	| { handled: true; by: string }
	| { stop: string; by: string }
	/** `attachments`: only if a hook replaced them. `changedBy`: names of the hooks that changed the text. */
	| { text: string; attachments?: Attachment[]; changedBy: readonly string[] };

interface PromptState {
	text: string;
	changedBy: readonly string[];
	attachments?: Attachment[];
}

/** Asks `prompt` handlers: changes are chained, and the first `handled` or `stop` wins. */
export async function gatePrompt(
	{ calls }: GateContext,
	event: PromptEvent,
	signal: AbortSignal,
): Promise<PromptDecision> {
	const eventWith = ({ text, attachments = [...event.attachments] }: PromptState): PromptEvent =>
		Object.freeze({ ...event, text, attachments: freezeDeep(attachments) });
	const result = await calls.gate<"prompt", PromptState, PromptDecision>(
		"prompt",
		{ text: event.text, changedBy: [] },
		eventWith,
		signal,
		async ({ hook, answer }, state) => {
			if (!answer) return { state };
			if ("stop" in answer) return { decision: { stop: answer.stop, by: hook.name } };
			if ("handled" in answer) return { decision: { handled: true, by: hook.name } };
			const { text = state.text, attachments = state.attachments } = answer;
			const changedBy = text === state.text ? state.changedBy : [...state.changedBy, hook.name];
			return { state: { text, changedBy, ...(attachments ? { attachments: [...attachments] } : {}) } };
		},
	);
	return "decision" in result ? result.decision : result.state;
}

/** What the hooks decide about a shell command of the user: run it, show a result, or nothing. `by`: name of the hook. */
export type UserBashDecision =
	| { command: string }
	| { command: string; result: UserBashResult; by: string }
	| { blocked: string; by: string };

/** Asks `user_bash` handlers: changed commands are chained, and the first `result` or `block` wins. */
export async function gateUserBash(
	{ calls }: GateContext,
	event: UserBashEvent,
	signal: AbortSignal,
): Promise<UserBashDecision> {
	const decided = await calls.gate<"user_bash", string, UserBashDecision>(
		"user_bash",
		event.command,
		(command) => Object.freeze({ ...event, command }),
		signal,
		async ({ hook, answer }, command) => {
			if (!answer) return { state: command };
			if ("block" in answer && answer.block) {
				return { decision: { blocked: answer.reason || `Blocked by hook ${hook.name}`, by: hook.name } };
			}
			if ("result" in answer) return { decision: { command, result: answer.result, by: hook.name } };
			return { state: "command" in answer ? answer.command : command };
		},
	);
	return "decision" in decided ? decided.decision : { command: decided.state };
}
