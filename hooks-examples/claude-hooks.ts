/**
 * Runs hooks of Claude Code: commands that read an event as JSON on stdin and answer with an exit code or JSON. They are defined
 * in `claude-hooks/*.json` of the agent directory, and in `.pi/claude-hooks/*.json` of a trusted project, in the format of
 * Claude Code's settings.json. `pi import claude` writes such a file; nothing in `~/.claude` is read here. docs/claude-hooks.md
 * says which events, fields and answers there are.
 *
 * The commands run on this machine, outside of any sandbox, also if tools work elsewhere. If a file cannot be used, no tool call
 * runs; a command that fails or times out is named and stops nothing, as in Claude Code.
 */
import type { AssistantMessage } from "@mariozechner/pi-ai";
import {
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	messageText,
	type SessionEvent,
	type ToolCallEventResult,
	type ToolResultEvent,
} from "@mariozechner/pi-coding-agent/hooks";
import { claudeCalls, ownInput } from "./claude-hooks/calls.js";
import {
	type Answer,
	blockReason,
	commandsFor,
	contextOf,
	runCommands,
	shortly,
	stopReason,
	textOf,
} from "./claude-hooks/commands.js";
import { type ClaudeEvent, type Config, isRecord, readConfig } from "./claude-hooks/config.js";

/** Maximum number of times in a row that hooks let the agent continue at its end. */
const MAX_CONTINUATIONS = 8;

export default function claudeHooks(pi: HookAPI): void {
	let config: Config = { groups: [], problem: "The hooks of Claude Code have not been read yet", skipped: null };
	/** Warnings that were shown, so that a command that always fails is named once. */
	const shown = new Set<string>();
	/** Text for the model that the next prompt takes along. */
	let additions: string[] = [];
	/** Text for the model, by the id of the call whose result takes it along. */
	const additionsToResults = new Map<string, string[]>();
	/** Why no further request is sent in this run. */
	let stopping: string | null = null;
	let lastReply: AssistantMessage | undefined;
	let isRunning = false;
	/** How often hooks let the agent continue since the last prompt of the user. */
	let continuations = 0;
	/** The prompt with which a hook lets the agent continue. */
	let ownPrompt: string | null = null;
	/** The source of a start whose commands have not run: a sub-agent is known as one only later. */
	let waitingStart: string | null = null;
	let sessionId = "";

	function warnOnce(ctx: HookEventContext, line: string | null): void {
		if (line === null || shown.has(line)) return;
		shown.add(line);
		say(ctx, line);
	}

	/** Runs the commands of an event. @param names of which a matcher must match one */
	async function run(event: ClaudeEvent, ctx: HookEventContext, fields: object, ...names: string[]): Promise<Answer[]> {
		const runs = [...commandsFor(config, event, names.length > 0 ? names : [""]).values()].flat();
		if (runs.length === 0) return [];
		return runAll(runs, ctx, { hook_event_name: event, ...fields });
	}

	async function runAll(
		runs: Parameters<typeof runCommands>[0],
		ctx: HookEventContext,
		fields: object,
	): Promise<Answer[]> {
		const common = {
			session_id: sessionId,
			transcript_path: ctx.sessionFile ?? "",
			cwd: ctx.cwd,
			permission_mode: "default",
		};
		const warn = (line: string) => warnOnce(ctx, line);
		const isGate = "hook_event_name" in fields && fields.hook_event_name === "PreToolUse";
		const refuse = (line: string) => {
			if (isGate) throw new Error(line);
			warn(line);
		};
		const answers = await runCommands(runs, { ...common, ...fields }, ctx, warn, refuse);
		for (const { json } of answers) {
			const message = textOf(json.systemMessage);
			if (message !== "") say(ctx, message);
		}
		return answers;
	}

	/** The answers to an event about a call of a tool, for each name and input that Claude Code would have for it. */
	async function runForCall(
		event: "PreToolUse" | "PostToolUse" | "PostToolUseFailure",
		call: { toolName: string; input: Readonly<Record<string, unknown>>; toolCallId: string },
		ctx: HookEventContext,
		fields: object,
	): Promise<Answer[]> {
		const calls = claudeCalls(call, ctx);
		const runs = commandsFor(
			config,
			event,
			calls.map(({ name }) => name),
		);
		const answers: Answer[] = [];
		for (const { name, inputs } of calls) {
			for (const tool_input of runs.has(name) ? inputs : []) {
				const named = { hook_event_name: event, tool_name: name, tool_input, tool_use_id: call.toolCallId };
				answers.push(...(await runAll(runs.get(name) ?? [], ctx, { ...named, ...fields })));
			}
		}
		return answers;
	}

	async function startSession(source: string, ctx: HookEventContext): Promise<void> {
		waitingStart = null;
		const answers = await run("SessionStart", ctx, { source }, source);
		for (const answer of answers) {
			const added = contextOf(answer) || answer.text;
			if (added !== "") additions.push(framed("SessionStart", added));
			if (answer.refusal !== null) say(ctx, answer.refusal);
		}
	}

	pi.on("session", async (event, ctx) => {
		const { reason } = event;
		if (reason === "before_compact") return beforeCompact(event, ctx);
		if (reason.startsWith("before_")) return undefined;
		if (reason === "shutdown") {
			if (!event.isReload) await endSession("other", ctx, ctx.sessionFile);
			return undefined;
		}
		if (reason === "compact") {
			await startSession("compact", ctx);
			return undefined;
		}
		if (reason !== "start") {
			await endSession(reason === "clear" ? "clear" : "resume", ctx, event.previousSessionFile);
			additions = [];
		}
		sessionId = ctx.session.id;
		config = readConfig(ctx.configFiles("claude-hooks"));
		warnOnce(ctx, config.problem);
		warnOnce(ctx, config.skipped);
		if (ctx.toolHost.name === "sandbox" && config.groups.length > 0)
			warnOnce(
				ctx,
				"The hooks of Claude Code run outside the sandbox, with all programs of the project that they start",
			);
		if (reason === "start" && event.isReload) return undefined;
		const isResumed = reason !== "clear" && ctx.entries.some(isMessageEntry);
		const source = reason === "clear" ? "clear" : isResumed ? "resume" : "startup";
		if (ctx.mode === "sdk" && reason === "start") waitingStart = source;
		else await startSession(source, ctx);
		return undefined;
	});

	async function endSession(reason: string, ctx: HookEventContext, file: string | null): Promise<void> {
		if (!isSubAgent(ctx)) await run("SessionEnd", ctx, { reason, transcript_path: file ?? "" }, reason);
	}

	async function beforeCompact(
		{ customInstructions }: SessionEvent & { reason: "before_compact" },
		ctx: HookEventContext,
	): Promise<{ cancel: true } | undefined> {
		// Only pi compacts during a run.
		const trigger = isRunning ? "auto" : "manual";
		const fields = { trigger, custom_instructions: customInstructions ?? "" };
		const answers = await run("PreCompact", ctx, fields, trigger);
		const reasons = answers.flatMap((answer) => stopReason(answer) ?? blockReason(answer) ?? []);
		for (const reason of reasons) say(ctx, reason);
		return reasons.length > 0 ? { cancel: true } : undefined;
	}

	pi.on("prompt", async ({ text }, ctx) => {
		if (waitingStart !== null && !isSubAgent(ctx)) await startSession(waitingStart, ctx);
		const isOwn = text === ownPrompt;
		ownPrompt = null;
		if (isSubAgent(ctx) || isOwn) return undefined;
		continuations = 0;
		const answers = await run("UserPromptSubmit", ctx, { prompt: text });
		for (const answer of answers) {
			const reason = stopReason(answer) ?? blockReason(answer);
			if (reason !== null) return { stop: reason };
		}
		const added = answers.map((answer) => contextOf(answer) || answer.text).filter((line) => line !== "");
		const all = [...additions, ...added.map((line) => framed("UserPromptSubmit", line))];
		additions = [];
		return all.length > 0 ? { text: [text, ...all].join("\n\n") } : undefined;
	});

	pi.on("tool_call", async (event, ctx): Promise<ToolCallEventResult | undefined> => {
		if (config.problem !== null) return { block: true, reason: config.problem };
		const answers = await runForCall("PreToolUse", event, ctx, {});
		for (const { text, command } of answers) {
			if (text.startsWith("{"))
				warnOnce(ctx, `${shortly(command)} printed text that is no valid JSON: it refuses nothing`);
		}
		for (const answer of answers) {
			const stop = stopReason(answer);
			if (stop === null) continue;
			stopping = stop;
			return { block: true, reason: stop, terminate: true };
		}
		const verdicts = answers.map(verdictOf);
		const denial = verdicts.find(({ decision }) => decision === "deny");
		if (denial) return { block: true, reason: denial.reason };
		const changes = [...new Set(answers.flatMap(changedInput))];
		const input = changes.length === 0 ? undefined : changedArguments(event, changes);
		if (typeof input === "string") return { block: true, reason: input };
		const added = answers.map(contextOf).filter((line) => line !== "");
		if (added.length > 0) additionsToResults.set(event.toolCallId, added);
		const question = verdicts.find(({ decision }) => decision === "ask");
		if (!question) return input && { input };
		const [{ name } = { name: event.toolName }] = claudeCalls(event, ctx);
		const message = `Permission is needed to use ${name}`;
		const type = "permission_prompt";
		// The question does not wait for what announces it. Its failures are named, unless the session is gone.
		run("Notification", ctx, { message, notification_type: type }, type).catch(() => {});
		return { ask: question.reason, ...(input && { input }) };
	});

	pi.on("tool_result", async (event, ctx) => {
		const text = resultText(event);
		const [name, fields] = event.isError
			? (["PostToolUseFailure", { error: text, is_interrupt: ctx.signal.aborted }] as const)
			: (["PostToolUse", { tool_response: responseOf(event, text, ctx) }] as const);
		const answers = await runForCall(name, event, ctx, fields);
		const added = additionsToResults.get(event.toolCallId) ?? [];
		additionsToResults.delete(event.toolCallId);
		for (const answer of answers) {
			stopping ??= stopReason(answer);
			added.push(...[blockReason(answer) ?? "", contextOf(answer)].filter((line) => line !== ""));
		}
		if (added.length === 0) return undefined;
		const blocks = added.map((line) => ({ type: "text" as const, text: framed(name, line) }));
		return { content: [...event.content, ...blocks] };
	});

	pi.on("before_request", () => (stopping === null ? undefined : { action: "stop", reason: stopping }));

	pi.on("agent_start", () => {
		isRunning = true;
		stopping = null;
		additionsToResults.clear();
	});

	pi.on("agent_end", ({ messages }) => {
		const last = messages.findLast(({ role }) => role === "assistant");
		lastReply = last?.role === "assistant" ? last : undefined;
	});

	pi.on("agent_settled", async (_, ctx) => {
		isRunning = false;
		const reply = lastReply;
		// A run that failed or was stopped did not end on its own.
		if (!reply || reply.stopReason === "aborted" || reply.stopReason === "error" || stopping !== null) return;
		const isOfAgent = isSubAgent(ctx);
		const event = isOfAgent ? "SubagentStop" : "Stop";
		const fields = { stop_hook_active: continuations > 0, last_assistant_message: messageText(reply) };
		const answers = await run(event, ctx, fields);
		if (ctx.signal.aborted) return;
		const stop = answers.map(stopReason).find((reason) => reason !== null) ?? null;
		if (stop !== null) return say(ctx, stop);
		const reasons = answers.flatMap((answer) => blockReason(answer) ?? []);
		if (reasons.length === 0) return;
		const reason = reasons.join("\n\n");
		const limit = cannotContinue(ctx, isOfAgent);
		if (limit !== null) return say(ctx, `${limit}: ${reason}`);
		continuations++;
		ownPrompt = framed("Stop", reason);
		pi.send(ownPrompt);
	});

	function cannotContinue({ mode }: HookEventContext, isOfAgent: boolean): string | null {
		if (isOfAgent) return "A hook of SubagentStop cannot let a sub-agent continue";
		if (mode === "print" || mode === "json") return `A hook of Stop cannot let the agent continue in ${mode} mode`;
		if (continuations < MAX_CONTINUATIONS) return null;
		return `Hooks of Stop have let the agent continue ${MAX_CONTINUATIONS} times`;
	}
}

function say(ctx: HookEventContext, line: string): void {
	// These modes show no notices.
	if (ctx.mode === "print" || ctx.mode === "json") console.error(line);
	else ctx.ui.notify(line, "warning");
}

/** True in a session that agents.ts has started. */
function isSubAgent({ entries }: HookEventContext): boolean {
	return entries.some(({ type }) => type === "agent_session");
}

/** Text of a hook as the model sees it. */
function framed(event: string, text: string): string {
	return `<hook event="${event}">\n${text}\n</hook>`;
}

interface Verdict {
	/** null: nothing against it. */
	decision: "deny" | "ask" | null;
	reason: string;
}

/** What a command says about a call. A decision that is not known blocks it. */
function verdictOf(answer: Answer): Verdict {
	const { json, specific, command } = answer;
	const refusal = blockReason(answer);
	if (refusal !== null) return { decision: "deny", reason: refusal };
	const decision = specific.permissionDecision ?? json.decision;
	const reason = textOf(specific.permissionDecisionReason) || textOf(json.reason);
	switch (decision) {
		case "deny":
			return { decision, reason: reason || `${shortly(command)} denied it without a reason` };
		case "ask":
			return { decision, reason: reason || "Run this call?" };
		case undefined:
		case "allow":
		case "approve":
		case "defer":
			return { decision: null, reason };
		default:
			return { decision: "deny", reason: `${shortly(command)} answered with an unknown permissionDecision` };
	}
}

/** The arguments that a command wants, as JSON. */
function changedInput({ specific }: Answer): string[] {
	return specific.updatedInput === undefined ? [] : [JSON.stringify(specific.updatedInput)];
}

/** @returns the arguments for pi, or why the call is blocked */
function changedArguments(
	call: { toolName: string; input: Readonly<Record<string, unknown>> },
	[first = "", ...others]: readonly string[],
): Record<string, unknown> | string {
	if (others.length > 0) return "Hooks of Claude Code want different arguments for this call";
	const changed: unknown = JSON.parse(first);
	const input = isRecord(changed) ? ownInput(call, changed) : null;
	return input ?? `A hook of Claude Code changed the arguments to some that ${call.toolName} does not have`;
}

function resultText({ content }: ToolResultEvent): string {
	return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}

/** The result in the shape that scripts for Claude Code read. */
function responseOf(event: ToolResultEvent, text: string, ctx: HookEventContext): object {
	if (event.toolName === "bash") return { stdout: text, stderr: "", interrupted: false, isImage: false };
	const filePath = claudeCalls(event, ctx)[0]?.inputs[0]?.file_path;
	return { ...(filePath !== undefined && { filePath }), success: true, content: text };
}
