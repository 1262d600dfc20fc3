import { bashTool } from "./bash.js";
import { editTool } from "./edit.js";
import { findTool as findFilesTool } from "./find.js";
import { grepTool } from "./grep.js";
import { lsTool } from "./ls.js";
import { readTool } from "./read.js";
import type { AnyTool } from "./tool.js";
import { writeTool } from "./write.js";

/** The tools that come with pi, in the order in which models are told of them. */
export const BUILTIN_TOOLS: readonly AnyTool[] = [
	readTool,
	bashTool,
	editTool,
	writeTool,
	grepTool,
	findFilesTool,
	lsTool,
];

/** Names of the tools that are on unless the user says otherwise. */
export const DEFAULT_TOOL_NAMES: readonly string[] = BUILTIN_TOOLS.map((tool) => tool.name);

/** The tool with this name; undefined when there is none. */
export function findTool(name: string, tools: readonly AnyTool[] = BUILTIN_TOOLS): AnyTool | undefined {
	return tools.find((tool) => tool.name === name);
}
