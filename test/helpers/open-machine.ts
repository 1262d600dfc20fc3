import { delimiter } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { HookAPI, HookFactory, ToolHostContext, ToolHostFactory } from "../../src/hooks/types.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import { createShellHost } from "../../src/tools/machine/shell-machine.js";

/** Puts a directory before all others of PATH until the test ends; alone with `isOnly`. */
export function usePath(directory: string, { isOnly = false } = {}): void {
	vi.stubEnv("PATH", isOnly ? directory : `${directory}${delimiter}${process.env.PATH}`);
	onTestFinished(() => void vi.unstubAllEnvs());
}

/** Opens the host that a spec names with the factory of a hook, and disposes of it when the test ends. */
export async function openHost(
	hook: HookFactory,
	spec: string,
	signal = new AbortController().signal,
): Promise<ToolHost> {
	const factories = new Map<string, ToolHostFactory>();
	const pi: Pick<HookAPI, "toolHost"> = { toolHost: (scheme, factory) => void factories.set(scheme, factory) };
	await hook(pi as HookAPI);
	const colon = spec.indexOf(":");
	const scheme = spec.slice(0, colon);
	const context: Pick<ToolHostContext, "shellHost" | "signal"> = { shellHost: createShellHost, signal };
	const parts = { scheme, rest: spec.slice(colon + 1), text: spec };
	const host = await factories.get(scheme)?.(parts, context as ToolHostContext);
	if (host === undefined) throw new Error(`the hook has no factory for ${scheme}`);
	onTestFinished(() => host.dispose());
	return host;
}
