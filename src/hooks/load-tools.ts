import { basename, dirname } from "node:path";
import { PiError } from "../errors.js";
import type { AnyTool } from "../tools/tool.js";
import { type DiscoverOptions, discoverHooks, type HookFile } from "./discover.js";
import { createModuleLoader, type LoadLimits, loadFailure, loadWithin, withinTime } from "./module-loader.js";
import { checkTool } from "./tool-definition.js";

/** Argument of the factory in a tool file. */
export interface ToolFactoryApi {
	/** Absolute working directory of the session. */
	cwd: string;
}

/** Allowed default exports of a tool file. */
export type ToolModule =
	| AnyTool
	| AnyTool[]
	| ((api: ToolFactoryApi) => AnyTool | AnyTool[] | Promise<AnyTool | AnyTool[]>);

/** A tool of the user, the project or a hook, and the file that defines it. */
export interface CustomTool {
	tool: AnyTool;
	file: HookFile;
}

export interface LoadToolsOptions extends LoadLimits {
	/** A private directory (0700) for compiled files. */
	cacheDir: string;
	cwd: string;
}

/**
 * Tool files in load order: `<global>/<name>/index.ts`, `<project>/<name>/index.ts`, files in the settings, `--tool`.
 * A file found in several of them is listed once, at its first position. The options are those of hooks, for tools.
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

/** Compiles and runs tool files, in order. A file that fails or exports no valid tool is reported; the others load. */
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
			if (made.length === 0) throw new Error("it exports no tools");
			tools.push(...made.map((tool) => ({ tool: checkTool(tool), file })));
		} catch (cause) {
			const compiler = loader.locator(file);
			errors.push(loadFailure("Tool", { ...file, ...(compiler && { compiler }) }, cause));
		}
	}
	return { tools, errors };
}

/** The default export of a file, or the result of calling it if it is a function. */
async function makeTools(exported: unknown, { timeoutMs, cwd }: LoadToolsOptions): Promise<unknown[]> {
	const made: unknown =
		typeof exported === "function"
			? await withinTime<unknown>(timeoutMs, "its factory", exported(Object.freeze({ cwd })))
			: exported;
	return Array.isArray(made) ? made : [made];
}

/**
 * Merges built-in and custom tools. A tool of a file replaces a built-in one only if the user named its file with `--tool`,
 * a tool of a hook always does. Of two custom tools with the same name, the later one is used, and those of hooks are last.
 * @returns the tools, and a warning for each name conflict
 */
export function mergeTools(
	builtins: readonly AnyTool[],
	ofFiles: readonly CustomTool[],
	ofHooks: readonly CustomTool[] = [],
): { tools: AnyTool[]; warnings: string[] } {
	const warnings: string[] = [];
	const byName = new Map(builtins.map((tool) => [tool.name, tool]));
	const files = new Map<string, HookFile>();
	for (const custom of [...ofFiles, ...ofHooks]) {
		const { tool, file } = custom;
		const { name } = tool;
		const earlier = files.get(name);
		if (!earlier && byName.has(name) && file.scope !== "flag" && !ofHooks.includes(custom)) {
			warnings.push(
				`The tool ${name} of ${file.path} is ignored: a built-in tool has this name · use --tool ${file.path} to replace it`,
			);
			continue;
		}
		if (earlier) warnings.push(`The tool ${name} is defined in ${earlier.path} and ${file.path}; the latter is used`);
		byName.set(name, tool);
		files.set(name, file);
	}
	return { tools: [...byName.values()], warnings };
}
