import type { AssistantMessage, ToolCall, ToolResultMessage } from "@mariozechner/pi-ai";
import { errorText } from "../errors.js";
import type { AnyTool, ToolResult } from "../tools/tool.js";
import { sleep } from "../util/abort.js";
import type { AgentEvent } from "./events.js";

/** A tool call with arguments that fit the tool's schema. */
export interface CheckedCall {
	toolCallId: string;
	toolName: string;
	input: Record<string, unknown>;
}

/** Stands between the model and the tools. The session implements it with hooks; the loop does not know them. */
export interface ToolCallGate {
	/** May stop a call. @returns why it is blocked, or null to let it run */
	before(call: CheckedCall, signal: AbortSignal): Promise<string | null>;
	/** May change what the model gets. */
	after(call: CheckedCall, result: ToolResult, signal: AbortSignal): Promise<ToolResult>;
}

/** Validates arguments and may convert them. @throws with a message that a model can act on */
export type ArgumentValidator = (tool: AnyTool, call: ToolCall) => Record<string, unknown>;

/** What running tool calls needs. */
export interface ToolCallDeps {
	tools: readonly AnyTool[];
	gate: ToolCallGate;
	validate: ArgumentValidator;
	cwd: string;
	tmpDir: string;
	shellPath?: string;
	signal: AbortSignal;
	emit(event: AgentEvent): void;
}

/** How long a tool may take to give back what it has after an abort, in ms: longer than a stubborn child gets. */
const ABORT_GRACE_MS = 1300;
/** Longest message about bad arguments that goes back to the model, in characters. */
const MAX_VALIDATION_CHARS = 4000;

/**
 * Runs the tool calls of one assistant message and gives one result for each, in the order of the calls. All run at the
 * same time when every one is read-only, else one after another. Calls are announced to the gate in the order the model
 * wrote them. Never throws: what goes wrong is a result with `isError`.
 */
export async function runToolCalls(message: AssistantMessage, deps: ToolCallDeps): Promise<ToolResultMessage[]> {
	const calls = message.content.filter((block) => block.type === "toolCall");
	const parallel = calls.every((call) => deps.tools.find((tool) => tool.name === call.name)?.readOnly === true);
	const running: Promise<ToolResultMessage>[] = [];
	for (const call of calls) {
		const prepared = await prepare(call, deps);
		const run = execute(call, prepared, deps);
		running.push(run);
		if (!parallel) await run;
	}
	return Promise.all(running);
}

type Prepared = { tool: AnyTool; checked: CheckedCall } | { refusal: string };

async function prepare(call: ToolCall, deps: ToolCallDeps): Promise<Prepared> {
	if (deps.signal.aborted) return { refusal: ABORTED };
	deps.emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args: call.arguments });
	const tool = deps.tools.find(({ name }) => name === call.name);
	if (!tool) {
		const names = deps.tools.map(({ name }) => name).join(", ");
		return { refusal: `There is no tool "${call.name}". The tools are: ${names || "none"}.` };
	}
	let input: Record<string, unknown>;
	try {
		input = deps.validate(tool, call);
	} catch (error) {
		const text = error instanceof Error ? error.message : errorText(error);
		return { refusal: text.length > MAX_VALIDATION_CHARS ? `${text.slice(0, MAX_VALIDATION_CHARS)} …` : text };
	}
	const checked = { toolCallId: call.id, toolName: call.name, input };
	try {
		const blocked = await deps.gate.before(checked, deps.signal);
		if (blocked !== null) return { refusal: blocked };
	} catch (error) {
		return { refusal: deps.signal.aborted ? ABORTED : `The call was blocked: ${errorText(error)}` };
	}
	return deps.signal.aborted ? { refusal: ABORTED } : { tool, checked };
}

const ABORTED = "aborted: the user stopped the run before this call was finished";

async function execute(call: ToolCall, prepared: Prepared, deps: ToolCallDeps): Promise<ToolResultMessage> {
	let result: ToolResult;
	if ("refusal" in prepared) result = failure(prepared.refusal);
	else {
		result = await runTool(prepared.tool, prepared.checked, deps);
		try {
			result = await deps.gate.after(prepared.checked, result, deps.signal);
		} catch {
			// The gate reports its own errors; the result of the tool stands.
		}
	}
	const isError = result.isError === true;
	deps.emit({ type: "tool_execution_end", toolCallId: call.id, toolName: call.name, result, isError });
	return {
		role: "toolResult",
		toolCallId: call.id,
		toolName: call.name,
		content: result.content,
		...(result.details === undefined ? {} : { details: result.details }),
		isError,
		timestamp: Date.now(),
	};
}

async function runTool(tool: AnyTool, call: CheckedCall, deps: ToolCallDeps): Promise<ToolResult> {
	const { toolCallId, toolName, input } = call;
	let settled = false;
	const run = (async () => {
		try {
			const result: unknown = await tool.run(input, {
				cwd: deps.cwd,
				signal: deps.signal,
				toolCallId,
				tmpDir: deps.tmpDir,
				...(deps.shellPath ? { shellPath: deps.shellPath } : {}),
				onUpdate(partialResult) {
					if (!settled) deps.emit({ type: "tool_execution_update", toolCallId, toolName, args: input, partialResult });
				},
			});
			return isToolResult(result) ? result : failure(`The tool "${toolName}" returned nothing that can be shown.`);
		} catch (error) {
			return failure(deps.signal.aborted ? ABORTED : errorText(error));
		} finally {
			settled = true;
		}
	})();
	return Promise.race([run, afterAbort(deps.signal, run)]);
}

/** Settles a while after an abort, so that a tool that does not listen cannot hold the run; never without one. */
async function afterAbort(signal: AbortSignal, run: Promise<unknown>): Promise<ToolResult> {
	await new Promise<void>((resolve) => {
		if (signal.aborted) return resolve();
		const onAbort = () => resolve();
		signal.addEventListener("abort", onAbort, { once: true });
		void run.finally(() => signal.removeEventListener("abort", onAbort));
	});
	const grace = new AbortController();
	void run.finally(() => grace.abort());
	await sleep(ABORT_GRACE_MS, grace.signal).catch(() => {});
	return failure(ABORTED);
}

function failure(text: string): ToolResult {
	return { content: [{ type: "text", text }], isError: true };
}

function isToolResult(value: unknown): value is ToolResult {
	return (
		typeof value === "object" &&
		value !== null &&
		"content" in value &&
		Array.isArray(value.content) &&
		value.content.every((block: unknown) => typeof block === "object" && block !== null && "type" in block)
	);
}
