import type { ToolHost } from "../../tools/machine/machine.js";
import type { CreateShellHost } from "../../tools/machine/shell-engine.js";
import type { HookEventContext } from "./context.js";

/** What the user wrote after `--on`, in the setting `on` or what a resumed session names: `scheme:rest`. */
export interface ToolHostSpec {
	/** Lowercase, such as `ssh`. */
	readonly scheme: string;
	/** After the colon, such as `//user@host:2222/path`; empty if nothing follows. */
	readonly rest: string;
	/** The complete text. */
	readonly text: string;
}

/** Second argument of a host's factory: the context of handlers, and what builds a host. */
export interface ToolHostContext extends HookEventContext {
	/**
	 * Makes a host of an engine that can start `sh` there. The engine outlives this context: it must not use it.
	 * @throws PiError `host_unreachable`
	 */
	readonly shellHost: CreateShellHost;
}

/**
 * Reaches the host that a spec names. Called once for a session, and again when the host has to be reached again, as after
 * `/reload`. A throw ends the start of pi with its message: say what is wrong, where, and what to do. The message alone is
 * shown if the error's `code` is `host_unreachable`, or `bad_arguments` for a spec that cannot be read; else pi also names the
 * hook and the line. `ctx.signal` aborts when the user gives up, and after the time of the setting `onTimeout`, while no dialog is
 * open.
 */
export type ToolHostFactory = (spec: ToolHostSpec, ctx: ToolHostContext) => ToolHost | Promise<ToolHost>;
