import { describeHookError, hookFailure, inspectable, PiError } from "../errors.js";
import type { ToolHost } from "../tools/machine/machine.js";
import type { CreateShellHost } from "../tools/machine/shell-engine.js";
import { abortable, linkSignals } from "../util/abort.js";
import { errnoCode } from "../util/fs.js";
import { createHookContext, type HookSession } from "./context-object.js";
import { Deadline } from "./deadline.js";
import type { HookCall } from "./hook-call.js";
import { hookFileName } from "./hook-name.js";
import type { Named } from "./hook-registry.js";
import { createHookError } from "./source-position.js";
import type { ToolHostContext, ToolHostFactory, ToolHostSpec } from "./types.js";

/** The user is told what pi waits for after this time, ms. */
const TELL_AFTER_MS = 2000;

export interface OpenMachineOptions {
	host: HookSession;
	signal: AbortSignal;
	/** Maximum time without the time that dialogs are open, ms; 0: none. */
	timeoutMs: number;
	/** Receives a line if the host takes long. */
	onWait(line: string): void;
}

/**
 * Calls the factory of a host.
 * @throws PiError `host_unreachable` that names the spec, after the time limit what did not answer, and, for an error of the
 * hook's own, the hook
 */
export async function openMachine(
	{ hook, options: factory }: Named<ToolHostFactory>,
	spec: ToolHostSpec,
	{ host, signal, timeoutMs, onWait }: OpenMachineOptions,
): Promise<ToolHost> {
	const event = `host ${spec.scheme}:`;
	let step = "to connect";
	const own = new AbortController();
	const linked = linkSignals(signal, own.signal);
	const expire = () => {
		const seconds = Math.round(timeoutMs / 100) / 10;
		const message = `Cannot reach ${spec.text}: it took longer than ${seconds} s ${step}`;
		own.abort(new PiError("host_unreachable", message, { hint: "set onTimeout in settings.json to wait longer" }));
	};
	const deadline = timeoutMs === 0 ? null : new Deadline(timeoutMs, expire);
	const teller = setTimeout(() => onWait(`Waiting for ${spec.text} ${step}`), TELL_AFTER_MS);
	const call: HookCall = { hook, event, signal: linked.signal, deadline, effects: true, defersRebuild: true };
	const shellHost: CreateShellHost = async (engine, options) => {
		const onStep = (next: string) => {
			step = next;
		};
		const { createShellHost } = await import("../tools/machine/shell-machine.js");
		return createShellHost(engine, { signal: linked.signal, ...options, onStep });
	};
	const context = Object.defineProperties(
		{ shellHost },
		Object.getOwnPropertyDescriptors(createHookContext(host, call)),
	) as ToolHostContext;
	try {
		const made = await abortable(
			host.enter(hook, async () => factory(spec, Object.freeze(context))),
			linked.signal,
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
	} finally {
		deadline?.clear();
		clearTimeout(teller);
		linked.unlink();
	}
}

/** @returns null for a text that names no host */
export function readMachineSpec(text: string): ToolHostSpec | null {
	const parsed = /^([a-z][a-z0-9-]*)(?::(.*))?$/is.exec(text);
	return parsed ? { scheme: (parsed[1] ?? "").toLowerCase(), rest: parsed[2] ?? "", text } : null;
}
