import { PiError } from "../errors.js";
import type { CommandContext, HookEventContext } from "../hooks/types.js";
import { AsyncScopes, type OpenScope } from "../util/async-scopes.js";
import { keepTheme, openCode } from "./running-code.js";

/** A call of an extension by pi. */
interface Call {
	ctx: HookEventContext | CommandContext;
	/** False once the call has settled, or another session has begun: its context object is stale then. */
	isRunning: boolean;
}

/**
 * The context object for members of the API that extensions call at any time: hooks receive one with each call. It is that
 * of the running call; in timers and callbacks, it is that of the last `session` event, which is valid as long as the session.
 */
export class Calls {
	readonly #running = new AsyncScopes<Call>();
	#session: HookEventContext | null = null;
	readonly #calls = new Set<Call>();

	/** Keeps the context object of a session that has begun. */
	begin(ctx: HookEventContext): void {
		this.#session = ctx;
		for (const call of this.#calls) call.isRunning = false;
	}

	/** Calls code of the extension. */
	async run<T>(ctx: HookEventContext | CommandContext, action: () => T): Promise<Awaited<T>> {
		// Now, because a context object refuses it once the session has changed.
		keepTheme(ctx.ui.theme);
		this.#session ??= ctx;
		const call: Call = { ctx, isRunning: true };
		this.#calls.add(call);
		const [own, code] = [this.#running.open(call), this.#openCode()];
		try {
			return await own.run(() => code.run(action));
		} finally {
			own.close();
			code.close();
			call.isRunning = false;
			this.#calls.delete(call);
		}
	}

	/** Calls code of the extension that returns at once, such as one that draws. */
	draw<T>(action: () => T): T {
		const code = this.#openCode();
		try {
			return code.run(action);
		} finally {
			code.close();
		}
	}

	#openCode(): OpenScope {
		return openCode({ theme: () => this.for("theme").ui.theme });
	}

	/** null before the session has started. */
	get current(): HookEventContext | CommandContext | null {
		const call = this.#running.current;
		return call?.isRunning ? call.ctx : this.#session;
	}

	/** @throws PiError `hook_stale` before the session has started, naming the member */
	for(member: string): HookEventContext | CommandContext {
		const ctx = this.current;
		if (ctx) return ctx;
		throw new PiError("hook_stale", `${member} was used while the extension loads`, {
			hint: 'use it in a handler, such as that of "session_start"',
		});
	}
}
