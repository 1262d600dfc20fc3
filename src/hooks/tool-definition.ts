import { TOOL_NAME } from "../tools/legal-names.js";
import { cutMiddle, plainOutput } from "../tools/output.js";
import type { AnyTool, ToolContext, ToolResult } from "../tools/tool.js";
import { isRecord } from "../util/is-record.js";
import { isContent, jsonCopy } from "./check-values.js";
import type { HookEventContext, HookTool, HookToolContext } from "./types.js";

// Tools of files and hooks run without type checks, so pi checks definitions and results.

/** A definition whose fields, except its functions, are valid. */
export type CheckedDefinition = Omit<AnyTool, "run"> & Readonly<Record<string, unknown>>;

/** Checks the fields that all tools have, except functions. @throws Error naming the missing or invalid field */
function checkDefinition(value: unknown): CheckedDefinition {
	if (typeof value !== "object" || value === null)
		throw new Error(`expected a tool or a function that returns one, not ${typeof value}`);
	const fields = value as Readonly<Record<string, unknown>>;
	const { name, description, parameters, readOnly, promptLine, guidelines } = fields;
	if (typeof name !== "string" || !TOOL_NAME.test(name)) {
		throw new Error(
			`${JSON.stringify(name) ?? "undefined"} is not a valid tool name: use up to 64 letters, digits, "_" and "-"`,
		);
	}
	if (typeof description !== "string" || description.trim() === "")
		throw new Error(`the tool ${name} has no description`);
	checkParameters(name, parameters);
	if (readOnly !== undefined && typeof readOnly !== "boolean")
		throw new Error(`readOnly of the tool ${name} must be true or false`);
	if (promptLine !== undefined && typeof promptLine !== "string")
		throw new Error(`promptLine of the tool ${name} must be a string`);
	const isList = Array.isArray(guidelines) && guidelines.every((line) => typeof line === "string");
	if (guidelines !== undefined && !isList) throw new Error(`guidelines of the tool ${name} must be a list of strings`);
	// All fields are checked above.
	return fields as CheckedDefinition;
}

/** Checks the parts of a schema that a provider or the validation would stumble over. */
function checkParameters(name: string, parameters: unknown): void {
	const refuse = (reason: string) => new Error(`the parameters of the tool ${name} ${reason}`);
	if (!isRecord(parameters) || parameters.type !== "object")
		throw refuse("must be an object schema, such as Type.Object({ … })");
	const { properties, required } = parameters;
	if (properties !== undefined && !isRecord(properties)) throw refuse("have properties that are not an object");
	const invalid = Object.entries(properties ?? {}).find(
		([, schema]) => typeof schema !== "boolean" && !isRecord(schema),
	);
	if (invalid) throw refuse(`have a property without a schema: ${invalid[0]}`);
	const isList = Array.isArray(required) && required.every((property) => typeof property === "string");
	if (required !== undefined && !isList) throw refuse("must have a list of names as required");
	try {
		jsonCopy(parameters);
	} catch (cause) {
		throw new Error(`the parameters of the tool ${name} cannot be sent as JSON`, { cause });
	}
}

/** The function under this name; undefined if it is absent. @throws Error if it is not a function */
function functionOf(definition: CheckedDefinition, field: string): ((...args: never[]) => unknown) | undefined {
	const value = definition[field];
	if (value === undefined) return undefined;
	if (typeof value === "function") return (...args) => value.apply(definition, args) as unknown;
	throw new Error(`${field} of the tool ${definition.name} is not a function`);
}

/** A tool that a hook registered. */
export interface RegisteredTool extends Omit<AnyTool, "run">, Pick<HookTool, "renderCall" | "renderResult"> {
	run(args: unknown, context: HookToolContext): unknown;
}

type Execute = (
	toolCallId: string,
	params: unknown,
	signal: AbortSignal,
	onUpdate: HookToolContext["onUpdate"],
	/** Absent in tools of files. */
	ctx?: HookEventContext,
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

/** Checks a value and returns it as a tool with checked results. @throws Error naming the missing or invalid field */
export function checkTool(value: unknown): AnyTool {
	const tool = checkDefinition(value);
	const { name } = tool;
	const run = functionOf(tool, "run") as AnyTool["run"] | undefined;
	const execute = functionOf(tool, "execute") as Execute | undefined;
	if (!run && !execute) throw new Error(`the tool ${name} has no run or execute function`);
	const source = () => `The tool "${name}"`;
	return {
		...tool,
		async run(args, given) {
			const context = withCheckedUpdates(given, source);
			const { toolCallId, signal, onUpdate } = context;
			return checkResult(await (run ? run(args, context) : execute?.(toolCallId, args, signal, onUpdate)), source);
		},
	};
}

/** The context of a call that checks partial results, as `checkResult` does. */
export function withCheckedUpdates(
	context: ToolContext,
	source: () => string,
	onLostDetails?: (cause: unknown) => void,
): ToolContext & Required<Pick<ToolContext, "onUpdate">> {
	return { ...context, onUpdate: (partial) => context.onUpdate?.(checkResult(partial, source, onLostDetails)) };
}

/**
 * Checks and copies a result, makes its text plain, and cuts it to the limits of all tools. A malformed one becomes an error
 * result.
 * @param source names the tool in that error
 * @param onLostDetails receives why JSON cannot represent the details, without which the result is returned
 */
export function checkResult(
	result: unknown,
	source: () => string,
	onLostDetails?: (cause: unknown) => void,
): ToolResult {
	if (isRecord(result) && isContent(result.content)) {
		const content = asJson(result.content);
		const details = asJson(result.details, onLostDetails);
		if (isContent(content)) {
			return {
				content: cutContent(content.map(asPlainText)),
				...(details === undefined ? {} : { details }),
				...(result.isError === true ? { isError: true } : {}),
				...(result.terminate === true ? { terminate: true } : {}),
			};
		}
	}
	const text = `${source()} did not return { content: [{ type: "text", text }] }.`;
	return { content: [{ type: "text", text }], isError: true };
}

/** A block without control sequences, which mean nothing to a model and would reach the terminals of other programs. */
function asPlainText(block: ToolResult["content"][number]): ToolResult["content"][number] {
	return block.type === "text" ? { ...block, text: plainOutput(block.text) } : block;
}

/** Content whose text has about as many lines and bytes as that of a built-in tool. Its last lines are kept. */
function cutContent(content: ToolResult["content"]): ToolResult["content"] {
	const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
	const text = cutMiddle(texts.join("\n"), "Call the tool so that it returns less.");
	if (text === null) return content;
	const images = content.filter(({ type }) => type === "image");
	return [{ type: "text", text }, ...images];
}

/** A copy of a value after a round trip through JSON; undefined if JSON cannot represent it. */
function asJson(value: unknown, onLost?: (cause: unknown) => void): unknown {
	try {
		return jsonCopy(value);
	} catch (cause) {
		onLost?.(cause);
		return undefined; // only the screen shows details
	}
}
