import type { HookFactory, ToolHost, ToolHostContext, ToolHostFactory } from "../../src/hooks/index.js";
import type { CreateShellHost, ShellEngine } from "../../src/tools/machine/shell-engine.js";
import { createShellHost } from "../../src/tools/machine/shell-machine.js";

/** What the factory of a host receives from a session. */
export interface HookHostOptions {
	cwd: string;
	flags?: Record<string, boolean | string>;
	sessionFile?: string;
}

/** Opens the host of a spec such as `sandbox:` as pi does, without a session. */
export async function openHookHost(
	hook: HookFactory,
	text: string,
	options: HookHostOptions,
	shellHost: CreateShellHost = createShellHost,
): Promise<ToolHost> {
	const factories = new Map<string, ToolHostFactory>();
	const pi = { flag() {}, toolHost: (scheme: string, factory: ToolHostFactory) => factories.set(scheme, factory) };
	await hook(pi as unknown as Parameters<HookFactory>[0]);
	const [, scheme = "", rest = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
	const factory = factories.get(scheme);
	if (!factory) throw new Error(`the hook has no host ${scheme}:`);
	const { cwd, flags = {}, sessionFile = null } = options;
	const ctx = { cwd, flags, sessionFile, signal: new AbortController().signal, shellHost };
	return factory({ scheme, rest, text }, ctx as unknown as ToolHostContext);
}

/** The engine of such a host, without the connection. */
export async function openHookEngine(hook: HookFactory, text: string, options: HookHostOptions): Promise<ShellEngine> {
	const engines: ShellEngine[] = [];
	await openHookHost(hook, text, options, (engine) => {
		engines.push(engine);
		return Promise.resolve({} as ToolHost);
	});
	const [engine] = engines;
	if (!engine) throw new Error(`${text} did not make a host`);
	return engine;
}
