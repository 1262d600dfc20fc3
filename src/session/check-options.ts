import { errorText, PiError } from "../errors.js";
import { checkTool } from "../hooks/tool-definition.js";
import type { HookFactory } from "../hooks/types.js";
import type { AnyTool } from "../tools/tool.js";

/** @throws PiError `bad_arguments` naming the first hook that is malformed */
export function checkHooks(hooks: readonly (string | HookFactory)[]): readonly (string | HookFactory)[] {
	const at = hooks.findIndex((hook) => typeof hook !== "string" && typeof hook !== "function");
	if (at < 0) return hooks;
	throw new PiError("bad_arguments", `hooks[${at}] is neither a path nor a function`, {
		hint: "pass the path of a hook file, pi:name, or a function that receives pi",
	});
}

/** @throws PiError `bad_arguments` naming the first tool that is malformed or repeated */
export function checkExtraTools(tools: readonly AnyTool[]): AnyTool[] {
	return tools.map((tool, at) => {
		try {
			const isRepeated = tools.findIndex(({ name }) => name === tool.name) < at;
			if (isRepeated) throw new Error(`there is another tool ${tool.name}`);
			return checkTool(tool);
		} catch (cause) {
			throw new PiError("bad_arguments", `extraTools[${at}]: ${errorText(cause)}`, { hint: "see docs/sdk.md" });
		}
	});
}
