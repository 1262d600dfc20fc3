import { describeHookError, errorText, type HookError, hookFailure, inspectable, locate } from "../errors.js";
import type { AnyTool, ToolContext, ToolResult } from "../tools/tool.js";
import { CallClock } from "./call-clock.js";
import { createHookContext, type HookSession } from "./context-object.js";
import type { DrawingObserver } from "./entry-renderer.js";
import type { HookCallReport } from "./handler-calls.js";
import type { HookCall } from "./hook-call.js";
import { hookFileName } from "./hook-name.js";
import type { HookRegistry, LoadedHook, Named } from "./hook-registry.js";
import { isPartOfPi } from "./hook-scope.js";
import type { CustomTool } from "./load-tools.js";
import { createHookError, positionOfError } from "./source-position.js";
import { checkResult, type RegisteredTool, withCheckedUpdates } from "./tool-definition.js";
import type { ToolRenderer } from "./tool-drawing.js";
import type { HandlerWatch } from "./watchdog.js";

/** What calls of a hook's tool need of the session. */
export interface HookToolHost {
	host: HookSession;
	/** Detects tools that block the event loop. */
	watch?: HandlerWatch;
	/** In ms, for `watch`; read again for each call. */
	hookTimeoutMs(): number;
	/** Called after each call. */
	onCall(report: HookCallReport): void;
	/** Receives the error of a failed call, which the model gets as a result. */
	onFailure(error: HookError): void;
	/** Receives what is wrong with results that the model gets nevertheless, once for each tool. */
	onProblem(error: HookError): void;
}

/** The tools of hooks as the agent runs them. */
export class HookTools {
	readonly #known = new WeakMap<RegisteredTool, CustomTool>();

	constructor(private readonly session: HookToolHost) {}

	/** The tools of all hooks, by their place in the load order. A registered tool always gives the same object. */
	of(registry: Pick<HookRegistry, "tools">): CustomTool[] {
		return registry.tools().map(({ hook, options }) => {
			const known = this.#known.get(options);
			const tool = known ?? { tool: createHookTool(hook, options, this.session), file: hook };
			if (!known) this.#known.set(options, tool);
			return tool;
		});
	}
}

/** How a hook draws calls of its tool; undefined if it does not. */
export function toolRenderer(
	{ hook, options }: Named<RegisteredTool>,
	observer: DrawingObserver,
): ToolRenderer | undefined {
	const { renderCall, renderResult } = options;
	if (!renderCall && !renderResult) return undefined;
	const describeError = (event: string, thrown: unknown) => {
		const error = createHookError("hook_failed", hook, event, inspectable(thrown), options);
		observer.onError(error);
		return describeHookError(hookFailure(error), hookFileName(hook.path));
	};
	return { ...options, describeError, drew: (ms) => observer.onDraw(ms) };
}

/** A hook's tool as the agent runs it. Its results are checked, and its errors name the hook, unless it is an extension. */
function createHookTool(hook: LoadedHook, tool: RegisteredTool, session: HookToolHost): AnyTool {
	const { renderCall, renderResult, ...fields } = tool;
	let isReported = false;
	const onLostDetails = (cause: unknown) => {
		// Programs of extensions accept any details.
		if (isReported || hook.kind === "extension") return;
		isReported = true;
		const reason = `the details of its result were dropped: ${errorText(cause)}`;
		session.onProblem(createHookError("hook_failed", hook, `tool ${tool.name}`, reason, tool));
	};
	return { ...fields, run: (args, context) => runHookTool(hook, tool, { args, context, onLostDetails }, session) };
}

async function runHookTool(
	hook: LoadedHook,
	tool: RegisteredTool,
	{ args, context, onLostDetails }: { args: unknown; context: ToolContext; onLostDetails(cause: unknown): void },
	{ host, watch, hookTimeoutMs, onCall, onFailure }: HookToolHost,
): Promise<ToolResult> {
	const { signal } = context;
	const event = `tool ${tool.name}`;
	const source = () => {
		const registered = { hookPath: hook.path, ...positionOfError(hook.places.get(tool), hook) };
		const { subject, at } = locate(registered, hookFileName(hook.path));
		return `The tool "${tool.name}" of hook ${subject}${at}`;
	};
	const clock = new CallClock();
	const call: HookCall = {
		...{ hook, event, signal, deadline: null, clock, effects: true, defersRebuild: false, holdsRun: true },
		tool: { id: context.toolCallId, name: tool.name },
	};
	const isOwn = isPartOfPi(hook);
	const leave = isOwn ? undefined : watch?.enter(`hook ${hook.path} in ${event}`, hookTimeoutMs());
	let outcome: HookCallReport["outcome"] = "done";
	try {
		const checked = { ...withCheckedUpdates(context, source, onLostDetails), ctx: createHookContext(host, call) };
		const result = checkResult(await host.enter(hook, () => tool.run(args, checked)), source, onLostDetails);
		if (result.isError) outcome = signal.aborted ? "aborted" : "failed";
		return result;
	} catch (thrown) {
		const error = inspectable(thrown);
		outcome = signal.aborted ? "aborted" : "failed";
		if (signal.aborted) throw error;
		const failure = createHookError("hook_failed", hook, event, error, tool);
		onFailure(failure);
		// Tools of extensions throw to report that a call failed: the model gets their text.
		if (hook.kind === "extension") throw error;
		throw new Error(describeHookError(hookFailure(failure), hookFileName(hook.path)), { cause: error });
	} finally {
		leave?.();
		onCall({ hookPath: hook.path, event, ms: clock.ms, outcome });
	}
}
