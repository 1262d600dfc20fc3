import type { HookEventContext, HookTool, HookToolContext, ToolRenderOptions } from "../hooks/types.js";
import type { Refusals } from "./refusals.js";
import { runInTool } from "./running-code.js";

/** What the adapter needs to make a tool. */
export interface ToolDeps {
	refusals: Refusals;
	cwd(): string;
	theme: object;
	contextFor(ctx: HookEventContext): object;
	run<T>(ctx: HookEventContext, action: () => T): Promise<Awaited<T>>;
	/** Calls code that draws. */
	draw<T>(action: () => T): T;
}

/** Fields of a tool that pi does not have, and why. */
export const REFUSED_TOOL_FIELDS: Readonly<Record<string, string>> = {
	prepareArguments: "pi validates the arguments as the model wrote them",
	renderShell: "pi draws the frame of every call",
	constrainedSampling: "pi asks models for arguments as their providers define it",
	executionMode: "pi runs calls that only read at the same time, and all others one after another",
};

type Fields = Readonly<Record<string, unknown>>;
type Fn = (...args: readonly unknown[]) => never;

function fnOf(fields: Fields, name: string): Fn | undefined {
	const value = fields[name];
	return typeof value === "function" ? (value as Fn) : undefined;
}

/** Makes a tool of a hook from the definition of an extension; `pi.tool` checks its fields. */
export function adaptTool(definition: unknown, { refusals, cwd, theme, contextFor, run, draw }: ToolDeps): HookTool {
	const fields: Fields = Object(definition);
	const { name, description, parameters, promptSnippet, promptGuidelines } = fields;
	for (const [field, reason] of Object.entries(REFUSED_TOOL_FIELDS)) {
		const isDefault = field === "executionMode" && fields[field] !== "parallel";
		if (fields[field] !== undefined && fields[field] !== false && !isDefault)
			refusals.refuse(`${field} of the tool ${String(name)}`, reason);
	}
	const execute = fnOf(fields, "execute");
	const renderCall = fnOf(fields, "renderCall");
	const renderResult = fnOf(fields, "renderResult");
	/** What both renderers receive as their last argument. A call of pi has no state between two drawings. */
	const drawing = (options: Partial<ToolRenderOptions>, args: unknown = {}) => ({
		args,
		toolCallId: "",
		invalidate: () => {},
		lastComponent: undefined,
		state: {},
		cwd: cwd(),
		executionStarted: true,
		argsComplete: true,
		showImages: false,
		isPartial: false,
		expanded: false,
		isError: false,
		...options,
	});
	const tool = {
		name,
		description,
		parameters,
		...(promptSnippet === undefined ? {} : { promptLine: promptSnippet }),
		...(promptGuidelines === undefined ? {} : { guidelines: promptGuidelines }),
		...(execute && {
			run: (params: unknown, call: HookToolContext) => {
				const { toolCallId, signal, onUpdate, ctx } = call;
				const own = contextFor(ctx);
				return runInTool(call, () =>
					run(ctx, () => execute.call(definition, toolCallId, params, signal, onUpdate, own) as unknown),
				);
			},
		}),
		...(renderCall && {
			renderCall: (args: unknown) => draw(() => renderCall.call(definition, args, theme, drawing({}, args)) as unknown),
		}),
		...(renderResult && {
			renderResult: (result: unknown, _: unknown, options: ToolRenderOptions) =>
				draw(() => renderResult.call(definition, result, options, theme, drawing(options)) as unknown),
		}),
	};
	// `pi.tool` checks every field: extensions run without type checks.
	return tool as unknown as HookTool;
}
