import type { PiError } from "../errors.js";
import { findBundled } from "./bundled-words.js";
import type { HookFile } from "./discover.js";
import type { LoadedHook } from "./hook-registry.js";
import { createModuleLoader, loadFailure, loadWithin, type ModuleLoader } from "./module-loader.js";
import { type RegisterOptions, register } from "./register.js";
import type { HookSource } from "./source-position.js";
import type { HookFactory } from "./types.js";

export interface LoadHooksOptions extends RegisterOptions {
	/** A private directory (0700) for compiled hooks. */
	cacheDir: string;
	/** Makes a hook of the default export of an extension. Absent: extensions do not load. */
	adaptExtension?(file: HookFile, exported: unknown): Promise<HookFactory>;
}

/** Hook files that may run, in load order. */
export interface FoundHooks {
	files: HookFile[];
	errors: PiError[];
	/** Finds the files to load next; call it after these have loaded. It may ask the user. */
	next?(): Promise<FoundHooks>;
}

/** A part of pi that is written as a hook and uses only the hook API. */
export interface BuiltinHook {
	name: string;
	factory: HookFactory;
}

/** A hook that did not load. */
export interface LoadFailure {
	file: HookFile;
	/** `hook_load_failed`; `bad_arguments` for a file that was named for this session. */
	error: PiError;
}

export interface LoadHooksResult {
	hooks: LoadedHook[];
	failures: LoadFailure[];
}

/** Compiles and runs hook files, in order. A file that fails is reported; the others load. */
export async function loadHooks(files: readonly HookFile[], options: LoadHooksOptions): Promise<LoadHooksResult> {
	if (files.length === 0) return { hooks: [], failures: [] };
	const loader = await createHookLoader(files, options.cacheDir);
	const hooks: LoadedHook[] = [];
	const failures: LoadFailure[] = [];
	for (const file of files) {
		try {
			const limits = file.scope === "bundled" ? { timeoutMs: options.timeoutMs } : options;
			const hook = await loadWithin(limits, "hook", file, loader, async (factory) => {
				if (typeof factory !== "function") throw new Error("its default export is not a function");
				const adapted = file.kind === "extension" ? await options.adaptExtension?.(file, factory) : factory;
				if (!adapted) throw new Error("extensions cannot be loaded here");
				return register(withCompiler(file, loader), adapted as HookFactory, options);
			});
			hooks.push(hook);
		} catch (cause) {
			failures.push({ file, error: loadFailure("Hook", withCompiler(file, loader), cause) });
		}
	}
	return { hooks, failures };
}

/** Takes bundled hooks from pi itself and inline ones from the program, and compiles all others. */
async function createHookLoader(files: readonly HookFile[], cacheDir: string): Promise<ModuleLoader> {
	const compiled = files.filter(isCompiled);
	const loader = compiled.length > 0 ? await createModuleLoader(compiled, cacheDir) : null;
	return {
		locator: (file) => loader?.locator(file),
		loadDefault: async (file) => {
			const inline = files.find(({ path }) => path === file.path)?.factory;
			if (inline) return inline;
			const bundled = findBundled(file.path);
			return bundled ? (await bundled.load()).default : loader?.loadDefault(file);
		},
	};
}

function isCompiled({ scope }: HookFile): boolean {
	return scope !== "bundled" && scope !== "inline";
}

/** The file with its compiler, which finds positions in its source. */
function withCompiler(file: HookFile, loader: ModuleLoader): HookFile & HookSource {
	const compiler = loader.locator(file);
	return compiler && isCompiled(file) ? { ...file, compiler } : file;
}

/** Loads built-in hooks, in order. */
export async function loadBuiltinHooks(
	builtins: readonly BuiltinHook[],
	options: LoadHooksOptions,
): Promise<LoadHooksResult> {
	const hooks: LoadedHook[] = [];
	const failures: LoadFailure[] = [];
	for (const { name, factory } of builtins) {
		const path = `built-in/${name}`;
		const file: HookFile = { path, realPath: path, scope: "builtin", name };
		try {
			hooks.push(await register(file, factory, options));
		} catch (cause) {
			failures.push({ file, error: loadFailure("Hook", file, cause) });
		}
	}
	return { hooks, failures };
}
