import { basename, dirname } from "node:path";
import { PiError } from "../errors.js";
import type { AnyTool, ToolContext, ToolResult } from "../tools/tool.js";
import { isContent } from "./answers.js";
import { type DiscoverOptions, discoverHooks, type HookFile } from "./discover.js";
import { createModuleLoader, type LoadLimits, loadFailure, loadWithin, withinTime } from "./module-loader.js";

/** What the factory of a tool file is given. */
export interface ToolFactoryApi {
	/** Absolute working directory of the session. */
	cwd: string;
}

/** What a tool file may export as default. */
export type ToolModule =
	| AnyTool
	| AnyTool[]
	| ((api: ToolFactoryApi) => AnyTool | AnyTool[] | Promise<AnyTool | AnyTool[]>);

/** A tool of the user or the project, and where it is from. */
export interface CustomTool {
	tool: AnyTool;
	file: HookFile;
}

/** What loading tools needs. */
export interface LoadToolsOptions extends LoadLimits {
	/** A private directory (0700) for compiled files. */
	cacheDir: string;
	cwd: string;
}

/** What a provider accepts as the name of a tool. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Tool files in load order: `<global>/<name>/index.ts`, `<project>/<name>/index.ts`, those of the settings, `--tool`.
 * A file that several places name is taken from the first. The options are as for hooks, with directories of tools.
 */
export function discoverTools(options: DiscoverOptions): { files: HookFile[]; errors: PiError[] } {
	const { files, errors } = discoverHooks(options);
	return {
		files: files.filter(({ path, scope }) => {
			const isFound = scope === "global" || scope === "project";
			const root = scope === "global" ? options.globalDir : options.projectDir;
			return !isFound || (basename(path) === "index.ts" && dirname(path) !== root);
		}),
		errors: errors.map(
			({ code, message, cause, hint }) => new PiError(code, message.replace(/^Hook/, "Tool"), { cause, hint }),
		),
	};
}

/** Compiles and runs tool files, in order. A file that fails, or exports what is no tool, is reported; the others load. */
export async function loadTools(
	files: readonly HookFile[],
	options: LoadToolsOptions,
): Promise<{ tools: CustomTool[]; errors: PiError[] }> {
	if (files.length === 0) return { tools: [], errors: [] };
	const loader = await createModuleLoader(files, options.cacheDir);
	const tools: CustomTool[] = [];
	const errors: PiError[] = [];
	for (const file of files) {
		try {
			const made = await loadWithin(options, "tool", file, loader, (exported) => makeTools(exported, options));
			if (made.length === 0) throw new Error("it has no tools");
			tools.push(...made.map((tool) => ({ tool: checkTool(tool), file })));
		} catch (cause) {
			errors.push(loadFailure("Tool", file, cause));
		}
	}
	return { tools, errors };
}

/** What a file exports, or what the function makes that it exports. */
async function makeTools(exported: unknown, { timeoutMs, cwd }: LoadToolsOptions): Promise<unknown[]> {
	const made: unknown =
		typeof exported === "function"
			? await withinTime<unknown>(timeoutMs, "its factory", exported(Object.freeze({ cwd })))
			: exported;
	return Array.isArray(made) ? made : [made];
}

/**
 * Built-in tools and custom ones as one list. A custom tool takes the place of a built-in one only when the user named
 * its file with `--tool`; of two custom tools with one name the later is used.
 * @returns also a line for each clash
 */
export function mergeTools(
	builtins: readonly AnyTool[],
	custom: readonly CustomTool[],
): { tools: AnyTool[]; warnings: string[] } {
	const warnings: string[] = [];
	const byName = new Map(builtins.map((tool) => [tool.name, tool]));
	const files = new Map<string, HookFile>();
	for (const { tool, file } of custom) {
		const { name } = tool;
		const earlier = files.get(name);
		if (!earlier && byName.has(name) && file.scope !== "flag") {
			warnings.push(
				`The tool ${name} of ${file.path} is not used: it has the name of a built-in tool · --tool ${file.path} would replace it`,
			);
			continue;
		}
		if (earlier) warnings.push(`The tool ${name} is made by ${earlier.path} and by ${file.path}; the latter is used`);
		byName.set(name, tool);
		files.set(name, file);
	}
	return { tools: [...byName.values()], warnings };
}

/** A value as a tool whose results are checked. @throws Error that says what is missing */
function checkTool(value: unknown): AnyTool {
	if (typeof value !== "object" || value === null)
		throw new Error(`expected a tool or a function that makes one, not ${typeof value}`);
	const name: unknown = "name" in value ? value.name : undefined;
	if (typeof name !== "string" || !TOOL_NAME.test(name)) {
		throw new Error(
			`${JSON.stringify(name) ?? "undefined"} cannot be the name of a tool: use up to 64 letters, digits, "_" and "-"`,
		);
	}
	if (!("description" in value) || typeof value.description !== "string" || value.description.trim() === "") {
		throw new Error(`the tool ${name} has no description`);
	}
	const parameters: unknown = "parameters" in value ? value.parameters : undefined;
	if (
		typeof parameters !== "object" ||
		parameters === null ||
		!("type" in parameters) ||
		parameters.type !== "object"
	) {
		throw new Error(`the parameters of the tool ${name} are not the schema of an object, such as Type.Object({ … })`);
	}
	if (!("run" in value) || typeof value.run !== "function") throw new Error(`the tool ${name} has no function run`);
	// Each field that the program relies on has been looked at.
	return withCheckedResults(value as AnyTool);
}

/** Whatever a tool gives back, the program gets a result that it can send, show and keep. */
function withCheckedResults(tool: AnyTool): AnyTool {
	return {
		...tool,
		async run(args, context) {
			const checked: ToolContext = {
				...context,
				onUpdate: (partial) => context.onUpdate?.(checkResult(partial, tool.name)),
			};
			return checkResult(await tool.run(args, checked), tool.name);
		},
	};
}

function checkResult(result: unknown, name: string): ToolResult {
	if (typeof result === "object" && result !== null && "content" in result && isContent(result.content)) {
		const { content } = result;
		const details = "details" in result ? asJson(result.details) : undefined;
		const isError = "isError" in result && result.isError === true;
		return { content, ...(details === undefined ? {} : { details }), ...(isError ? { isError } : {}) };
	}
	const text = `The tool "${name}" gave back something other than { content: [{ type: "text", text }] }.`;
	return { content: [{ type: "text", text }], isError: true };
}

/** Details as the session keeps them; undefined for what JSON cannot hold. */
function asJson(details: unknown): unknown {
	try {
		const text = JSON.stringify(details);
		return text === undefined ? undefined : JSON.parse(text);
	} catch {
		return undefined; // only the screen would have shown them
	}
}
