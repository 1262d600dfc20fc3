import { AsyncLocalStorage } from "node:async_hooks";
import type { Api, AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";

type Send = (model: Model<Api>, context: Context, options: SimpleStreamOptions) => AssistantMessageEventStream;

/** Returns a function that sends the same requests and counts them. */
export type HookMeter = (send: Send) => Send;

/** The meter of the running code; null for code whose requests are counted already. */
const running = new AsyncLocalStorage<HookMeter | null>();
let isNeeded = false;

/**
 * Call when a hook imports functions that send requests. Before the first call, `meteredBy` uses no asynchronous context:
 * keeping one takes up to half of the CPU time of a stream on Node 20 and 22.
 */
export function needMeter(): void {
	isNeeded = true;
}

/** Calls a function: what it sends with pi-ai, and what follows from it, is counted by a meter; null: by none. */
export function meteredBy<T>(meter: HookMeter | null, action: () => T): T {
	return isNeeded ? running.run(meter, action) : action();
}

/** Sends requests, counted by the meter of the running code if it has one. */
export function metered(send: Send): Send {
	return running.getStore()?.(send) ?? send;
}
