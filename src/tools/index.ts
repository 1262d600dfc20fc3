import { bashTool } from "./bash.js";
import { editTool } from "./edit.js";
import { findTool as findFilesTool } from "./find.js";
import { grepTool } from "./grep.js";
import { jobsTool } from "./jobs.js";
import { lsTool } from "./ls.js";
import { readTool } from "./read.js";
import type { AnyTool } from "./tool.js";
import { writeTool } from "./write.js";

/** The built-in tools, in the order in which requests list them. */
export const BUILTIN_TOOLS: readonly AnyTool[] = [
	readTool,
	bashTool,
	editTool,
	writeTool,
	grepTool,
	findFilesTool,
	lsTool,
	jobsTool,
];
