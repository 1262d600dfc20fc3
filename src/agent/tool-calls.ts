import type { AssistantMessage, JsonValue, ToolCall } from "@mariozechner/pi-ai";
import { errorText } from "../errors.js";
import type { ChangedInput, FileChange, GateRecord, SessionToolResult, ToolCaller } from "../log/entry.js";
import type { ToolJobs } from "../tools/background-jobs.js";
import { describeParameters, hasOtherNames, meantTool } from "../tools/foreign-calls.js";
import type { ToolHost } from "../tools/machine/machine.js";
import { plainOutput } from "../tools/output.js";
import type { AnyTool, ToolResult } from "../tools/tool.js";
import { sleep } from "../util/abort.js";
import { isRecord } from "../util/is-record.js";
import type { AgentEvent } from "./events.js";
import { describeIncompleteCall } from "./incomplete-calls.js";
import { describeInvalidArguments } from "./invalid-arguments.js";

/** A tool call whose arguments match the tool's schema. */
export interface CheckedCall {
	toolCallId: string;
	toolName: string;
	input: Record<string, unknown>;
	/** Absent for a call of the model. */
	caller?: ToolCaller;
}

/** What the gate decides about a call: the reason against it and who gave it, or the arguments to run it with. */
export type GateDecision =
	| { blocked: string; by?: string; terminate?: boolean }
	| { input: Record<string, unknown>; changed?: ChangedInput };

/** Checks tool calls and their results. The session implements it with hooks, which the loop does not know. */
export interface ToolCallGate {
	/**
	 * May block a call or change its arguments.
	 * @param validate checks changed arguments against the schema of the tool. Throws like `ArgumentValidator`
	 */
	before(
		call: CheckedCall,
		validate: (input: Record<string, unknown>) => Record<string, unknown>,
		signal: AbortSignal,
	): Promise<GateDecision>;
	/** May change the result that the model gets. */
	after(call: CheckedCall, result: ToolResult, signal: AbortSignal): Promise<ToolResult>;
}

/** Validates and converts arguments. @throws with a message that a model can act on */
export type ArgumentValidator = (tool: AnyTool, call: ToolCall) => Record<string, unknown>;

/** Observes what a tool does to files while it works on `host`. */
export interface FileRecording {
	host: ToolHost;
	/** Call when the tool has ended. @returns the changes, in order; never rejects */
	end(): Promise<readonly FileChange[]>;
}

export interface ToolCallDeps {
	tools: readonly AnyTool[];
	gate: ToolCallGate;
	validator(): Promise<ArgumentValidator>;
	cwd: string;
	/** The machine on which tools work. */
	host: ToolHost;
	tmpDir: string;
	/** The background commands of the session. */
	jobs?: ToolJobs;
	shellPath?: string;
	signal: AbortSignal;
	/** Absent for calls of the model. */
	caller?: ToolCaller;
	/** Begins to observe the files that a call changes. */
	recordFiles(host: ToolHost): FileRecording;
	/**
	 * Writes a result to the log, then emits `ended` and the events of the message. Called as soon as the call has ended.
	 * @param input the arguments that the tool received; those of the call if it was not run
	 * @param files what the call changed
	 */
	finish(
		result: SessionToolResult,
		ended: AgentEvent,
		input: Readonly<Record<string, unknown>>,
		files: readonly FileChange[],
	): void;
	emit(event: AgentEvent): void;
}

/** Time for a tool to return a partial result after an abort, ms: longer than the kill delay of child processes. */
const ABORT_GRACE_MS = 1300;
/** Maximum length of a validation error that is sent to the model, in characters. */
const MAX_VALIDATION_CHARS = 4000;

/**
 * Runs the tool calls of one assistant message. They run in parallel if all of them are read-only, else one after another;
 * the gate sees them in the order of the message. Never throws: a failure is a result with `isError`.
 * @returns `results`: one per call, in the order of the calls; `terminate`: whether each of them ends the run
 */
export async function runToolCalls(message: AssistantMessage, deps: ToolCallDeps): Promise<ToolResults> {
	const calls = message.content.filter((block) => block.type === "toolCall");
	const parallel = calls.every((call) => deps.tools.find((tool) => tool.name === call.name)?.readOnly === true);
	const running: Promise<EndedCall>[] = [];
	for (const call of calls) {
		const prepared = await prepare(call, describeIncompleteCall(call, message), deps);
		const run = execute(call, prepared, deps);
		running.push(run);
		if (!parallel) await run;
	}
	const answers = await Promise.all(running);
	return { results: answers.map(({ result }) => result), terminate: answers.every(({ terminate }) => terminate) };
}

/**
 * Runs one call through the gate. Never throws: a failure is a result with `isError`.
 * @param refusal why the call must not be run
 */
export async function runToolCall(call: ToolCall, deps: ToolCallDeps, refusal: string | null): Promise<EndedCall> {
	return execute(call, await prepare(call, refusal, deps), deps);
}

/** A finished call. `terminate`: see `ToolResult`. */
export interface EndedCall {
	result: SessionToolResult;
	terminate: boolean;
}

/** The results of the tool calls of one message. */
export interface ToolResults {
	results: SessionToolResult[];
	/** No request follows. */
	terminate: boolean;
}

type Prepared =
	| { tool: AnyTool; checked: CheckedCall; changed?: ChangedInput | undefined }
	| { refusal: string; by?: string | undefined; terminate?: boolean | undefined };

async function prepare(call: ToolCall, refusal: string | null, deps: ToolCallDeps): Promise<Prepared> {
	if (deps.signal.aborted) return { refusal: ABORTED };
	const caller = callerOf(deps);
	const { id: toolCallId, name: toolName } = call;
	deps.emit({ type: "tool_execution_start", toolCallId, toolName, args: call.arguments, ...caller });
	if (refusal !== null) return { refusal };
	const tool = deps.tools.find(({ name }) => name === call.name);
	if (!tool) {
		const names = deps.tools.map(({ name }) => name).join(", ");
		const meant = meantTool(call.name, deps.tools);
		const hint = meant ? ` ${describeParameters(meant)}` : "";
		return { refusal: `There is no tool "${call.name}". The tools are: ${names || "none"}.${hint}` };
	}
	let validate: Awaited<ReturnType<typeof validatorFor>>;
	let input: Record<string, unknown>;
	try {
		validate = await validatorFor(tool, call, deps);
		input = validate(call.arguments);
	} catch (error) {
		const text = describeInvalidArguments(error, tool.parameters);
		const shown = text.length > MAX_VALIDATION_CHARS ? `${text.slice(0, MAX_VALIDATION_CHARS)} …` : text;
		return { refusal: hasOtherNames(call, deps.tools) ? `${shown}\n${describeParameters(tool)}` : shown };
	}
	const checked = { toolCallId, toolName, input, ...caller };
	let decision: GateDecision;
	try {
		decision = await deps.gate.before(checked, validate, deps.signal);
	} catch (error) {
		decision = { blocked: `The call was blocked: ${errorText(error)}` };
	}
	if (deps.signal.aborted) return { refusal: ABORTED };
	if ("blocked" in decision) return { refusal: decision.blocked, by: decision.by, terminate: decision.terminate };
	const { changed } = decision;
	if (changed)
		deps.emit({ type: "tool_input_changed", toolCallId, toolName, args: decision.input, changed, ...caller });
	return { tool, checked: { ...checked, input: decision.input }, changed };
}

function callerOf({ caller }: Pick<ToolCallDeps, "caller">): Pick<ToolCallDeps, "caller"> {
	return caller ? { caller } : {};
}

async function validatorFor(tool: AnyTool, call: ToolCall, deps: ToolCallDeps) {
	const { checkArguments } = tool;
	if (checkArguments) return (args: Record<string, unknown>) => checkArguments(args);
	const validate = await deps.validator();
	return (args: Record<string, unknown>) =>
		validate(tool, { ...call, arguments: omitNulls(args, tool.parameters) as ToolCall["arguments"] });
}

const ABORTED = "aborted: the user stopped the run before this call was finished";

async function execute(call: ToolCall, prepared: Prepared, deps: ToolCallDeps): Promise<EndedCall> {
	let result: ToolResult;
	let terminate = false;
	let files: readonly FileChange[] = [];
	if ("refusal" in prepared) {
		result = failure(prepared.refusal);
		terminate = prepared.terminate === true;
	} else {
		const recording = deps.recordFiles(deps.host);
		const { host } = recording;
		({ terminate = false, ...result } = await runTool(prepared.tool, prepared.checked, { ...deps, host }));
		files = await recording.end();
		try {
			result = await deps.gate.after(prepared.checked, result, deps.signal);
		} catch {
			// The gate reports its own errors; the result of the tool is unchanged.
		}
	}
	const isError = result.isError === true;
	const gate = gateRecord(prepared);
	const blockedBy = gate?.blockedBy;
	const answer: SessionToolResult = {
		role: "toolResult",
		toolCallId: call.id,
		toolName: call.name,
		content: result.content,
		// Logged as JSON, whatever a tool returns.
		...(result.details === undefined ? {} : { details: result.details as JsonValue }),
		...(gate ? { gate } : {}),
		isError,
		timestamp: Date.now(),
	};
	const ended: AgentEvent = {
		type: "tool_execution_end",
		toolCallId: call.id,
		toolName: call.name,
		result,
		isError,
		...(blockedBy === undefined ? {} : { blockedBy }),
		...callerOf(deps),
	};
	deps.finish(answer, ended, "checked" in prepared ? prepared.checked.input : call.arguments, files);
	return { result: answer, terminate };
}

async function runTool(tool: AnyTool, call: CheckedCall, deps: ToolCallDeps): Promise<ToolResult> {
	const { toolCallId, toolName, input } = call;
	let settled = false;
	const run = (async () => {
		try {
			const result: unknown = await tool.run(input, {
				cwd: deps.cwd,
				host: deps.host,
				signal: deps.signal,
				toolCallId,
				tmpDir: deps.tmpDir,
				...(deps.jobs ? { jobs: deps.jobs } : {}),
				...(deps.shellPath ? { shellPath: deps.shellPath } : {}),
				onUpdate(partialResult) {
					if (settled) return;
					const update = { toolCallId, toolName, args: input, partialResult, ...callerOf(deps) };
					deps.emit({ type: "tool_execution_update", ...update });
				},
			});
			return isToolResult(result) ? result : failure(`The tool "${toolName}" returned nothing that can be shown.`);
		} catch (error) {
			return failure(deps.signal.aborted ? ABORTED : plainOutput(errorText(error)));
		} finally {
			settled = true;
		}
	})();
	return Promise.race([run, afterAbort(deps.signal, run)]);
}

/** What the gate did to a call; null if it did nothing. */
function gateRecord(prepared: Prepared): GateRecord | null {
	if ("refusal" in prepared) return prepared.by === undefined ? null : { blockedBy: prepared.by };
	return prepared.changed ? { changed: prepared.changed } : null;
}

/** Resolves some time after an abort, so that a tool that ignores the signal cannot block the run. */
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

/**
 * Arguments without properties that are null although their schema does not allow it: models write null for an omitted
 * property, and a converted null would be 0, false or the text "null".
 */
export function omitNulls(args: Record<string, unknown>, schema: unknown): Record<string, unknown> {
	const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
	const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
	const given = Object.entries(args).filter(([name, value]) => value !== null || allowsNull(schemaOf(name)));
	return Object.fromEntries(given.map(([name, value]) => [name, omitNested(value, schemaOf(name))]));
}

function omitNested(value: unknown, schema: unknown): unknown {
	if (!isRecord(schema)) return value;
	if (Array.isArray(value)) return value.map((item) => omitNested(item, schema.items));
	return isRecord(value) ? omitNulls(value, schema) : value;
}

/** True unless a schema certainly excludes null. */
function allowsNull(schema: unknown): boolean {
	if (!isRecord(schema)) return true;
	const { type, enum: values, anyOf, oneOf } = schema;
	if ("const" in schema) return schema.const === null;
	if (Array.isArray(values)) return values.includes(null);
	const branches = anyOf ?? oneOf;
	if (Array.isArray(branches)) return branches.some(allowsNull);
	if (Array.isArray(type)) return type.includes("null");
	return type === undefined || type === "null";
}
