import { describeError, describeHookError, HookError, inspectable } from "../errors.js";
import type { AnyTool, ToolContext, ToolResult } from "../tools/tool.js";
import type { HookCall } from "./hook-call.js";
import { hookFileName } from "./hook-name.js";
import { createHookContext, type HookHost } from "./host-context.js";
import type { LoadedHook } from "./registry.js";
import type { HookCallReport } from "./runner.js";
import { checkDefinition, checkResult, functionOf, withCheckedUpdates } from "./tool-definition.js";
import type { HookEventContext, HookTool, HookToolContext } from "./types.js";
import type { HandlerWatch } from "./watchdog.js";

/** A tool that a hook registered. */
export interface RegisteredTool extends Omit<AnyTool, "run">, Pick<HookTool, "renderCall" | "renderResult"> {
	run(args: unknown, context: HookToolContext): unknown;
}

type Execute = (
	toolCallId: string,
	params: unknown,
	signal: AbortSignal,
	onUpdate: HookToolContext["onUpdate"],
	ctx: HookEventContext,
) => unknown;

/** Checks and copies the argument of `pi.tool`. @throws Error naming the missing or invalid field */
export function checkHookTool(value: unknown): RegisteredTool {
	const definition = checkDefinition(value);
	const { name, description, parameters, readOnly, promptLine, guidelines } = definition;
	const run = functionOf(definition, "run") as RegisteredTool["run"] | undefined;
	const execute = functionOf(definition, "execute") as Execute | undefined;
	const renderCall = functionOf(definition, "renderCall") as HookTool["renderCall"];
	const renderResult = functionOf(definition, "renderResult") as HookTool["renderResult"];
	if (!run && !execute) throw new Error(`the tool ${name} has no run or execute function`);
	return Object.freeze<RegisteredTool>({
		name,
		description,
		parameters,
		...(readOnly === undefined ? {} : { readOnly }),
		...(promptLine === undefined ? {} : { promptLine }),
		...(guidelines === undefined ? {} : { guidelines: Object.freeze([...guidelines]) }),
		...(renderCall ? { renderCall } : {}),
		...(renderResult ? { renderResult } : {}),
		run: (args, context) =>
			run ? run(args, context) : execute?.(context.toolCallId, args, context.signal, context.onUpdate, context.ctx),
	});
}

/** What calls of a hook's tool need of the session. */
export interface HookToolHost {
	host: HookHost;
	/** Detects tools that block the event loop. */
	watch?: HandlerWatch;
	/** In ms, for `watch`; read again for each call. */
	hookTimeoutMs(): number;
	/** Called after each call. */
	onCall(report: HookCallReport): void;
	/** Receives the error of a failed call, which the model gets as a result. */
	onFailure(error: HookError): void;
}

/** A hook's tool as the agent runs it. Its results are checked, and its errors name the hook. */
export function createHookTool(hook: LoadedHook, tool: RegisteredTool, session: HookToolHost): AnyTool {
	const { renderCall, renderResult, ...fields } = tool;
	return { ...fields, run: (args, context) => runHookTool(hook, tool, args, context, session) };
}

async function runHookTool(
	hook: LoadedHook,
	tool: RegisteredTool,
	args: unknown,
	context: ToolContext,
	{ host, watch, hookTimeoutMs, onCall, onFailure }: HookToolHost,
): Promise<ToolResult> {
	const { signal } = context;
	const event = `tool ${tool.name}`;
	const source = `The tool "${tool.name}" of hook ${hookFileName(hook.path)}`;
	const call: HookCall = { hook, event, signal, deadline: null, effects: true, defersRebuild: true };
	const startedAt = performance.now();
	const isOwn = hook.scope === "builtin" || hook.scope === "bundled";
	const leave = isOwn ? undefined : watch?.enter(`hook ${hook.path} in ${event}`, hookTimeoutMs());
	let outcome: HookCallReport["outcome"] = "done";
	try {
		const checked = { ...withCheckedUpdates(context, source), ctx: createHookContext(host, call) };
		const result = checkResult(await tool.run(args, checked), source);
		if (result.isError) outcome = signal.aborted ? "aborted" : "failed";
		return result;
	} catch (thrown) {
		const error = inspectable(thrown);
		outcome = signal.aborted ? "aborted" : "failed";
		if (signal.aborted) throw error;
		const failure = new HookError("hook_failed", hook.path, event, error);
		onFailure(failure);
		throw new Error(
			describeHookError({ event, error: describeError(error), cause: failure }, hookFileName(hook.path)),
			{
				cause: error,
			},
		);
	} finally {
		leave?.();
		onCall({ hookPath: hook.path, event, ms: performance.now() - startedAt, outcome });
	}
}
