import { describeHookError, hookFailure, inspectable, PiError } from "../errors.js";
import type { CreateShellHost } from "../tools/host/shell-engine.js";
import type { ToolHost } from "../tools/host/tool-host.js";
import { abortable } from "../util/abort.js";
import { errnoCode } from "../util/fs.js";
import type { HookCall } from "./hook-call.js";
import { hookFileName } from "./hook-name.js";
import { createHookContext, type HookHost } from "./host-context.js";
import type { Named } from "./registry.js";
import { createHookError } from "./source-place.js";
import type { ToolHostContext, ToolHostFactory, ToolHostSpec } from "./types.js";

/**
 * Calls the factory of a host, without a time limit.
 * @throws PiError `host_unreachable` that names the spec and, for an error of its own, the hook
 */
export async function openToolHost(
	{ hook, options: factory }: Named<ToolHostFactory>,
	spec: ToolHostSpec,
	{ host, signal }: { host: HookHost; signal: AbortSignal },
): Promise<ToolHost> {
	const event = `host ${spec.scheme}:`;
	const call: HookCall = { hook, event, signal, deadline: null, effects: true, defersRebuild: true };
	const shellHost: CreateShellHost = async (engine, options) =>
		(await import("../tools/host/shell-host.js")).createShellHost(engine, { signal, ...options });
	const context = Object.defineProperties(
		{ shellHost },
		Object.getOwnPropertyDescriptors(createHookContext(host, call)),
	) as ToolHostContext;
	try {
		const made = await abortable(
			host.enter(async () => factory(spec, Object.freeze(context))),
			signal,
		);
		if (typeof made?.exec !== "function" || typeof made.name !== "string") throw new TypeError("it returned no host");
		return made;
	} catch (thrown) {
		if (thrown instanceof PiError) throw thrown;
		const code = errnoCode(thrown);
		if (thrown instanceof Error && (code === "host_unreachable" || code === "bad_arguments")) {
			throw new PiError(code, thrown.message, { cause: thrown });
		}
		const reason = describeHookError(
			hookFailure(createHookError("hook_failed", hook, event, inspectable(thrown), factory)),
			hookFileName(hook.path),
		);
		throw new PiError("host_unreachable", `Cannot use ${spec.text}: ${reason}`, { cause: thrown });
	}
}

/** @returns null for a text that names no host */
export function readHostSpec(text: string): ToolHostSpec | null {
	const parsed = /^([a-z][a-z0-9-]*)(?::(.*))?$/is.exec(text);
	return parsed ? { scheme: (parsed[1] ?? "").toLowerCase(), rest: parsed[2] ?? "", text } : null;
}
