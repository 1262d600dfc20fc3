import type { ToolCall } from "@mariozechner/pi-ai";
import { meantCall } from "../tools/foreign-calls.js";
import { BUILTIN_TOOLS } from "../tools/index.js";

type Arguments = Record<string, unknown>;

/** How a program calls tools of pi, by its name of the tool, where models do not use that name here: see `meantCall`. */
export type CallNames = Readonly<
	Record<
		string,
		{
			/** The tool's name in pi. Default: as `meantCall` knows it. */
			tool?: string;
			/** Other names of arguments. */
			renamed?: Readonly<Record<string, string>>;
			/** Arguments that have no meaning here, such as a description for the user. */
			dropped?: readonly string[];
			/** Arguments in milliseconds where pi takes seconds. */
			milliseconds?: readonly string[];
		}
	>
>;

/** A call of another program as it is recorded here: as a call of a tool of pi if it means one, else as it was. */
export function ownCall(call: ToolCall, names: CallNames): ToolCall {
	const known = Object.hasOwn(names, call.name) ? names[call.name] : undefined;
	if (!known) return meantCall(call, BUILTIN_TOOLS);
	const args: Arguments = {};
	for (const [name, value] of Object.entries(call.arguments as Arguments)) {
		if (known.dropped?.includes(name)) continue;
		const target = known.renamed?.[name] ?? name;
		if (Object.hasOwn(args, target)) return call;
		const isMs = known.milliseconds?.includes(name) === true && typeof value === "number";
		args[target] = isMs ? Math.ceil(value / 1000) : value;
	}
	const name = known.tool ?? call.name.toLowerCase();
	const meant = meantCall({ ...call, name, arguments: args as ToolCall["arguments"] }, BUILTIN_TOOLS);
	const isOwn = BUILTIN_TOOLS.some((tool) => tool.name === meant.name && takes(tool.parameters, meant.arguments));
	return isOwn ? meant : call;
}

function takes(parameters: unknown, args: object): boolean {
	const { properties = {} } = parameters as { properties?: object };
	return Object.keys(args).every((name) => Object.hasOwn(properties, name));
}
