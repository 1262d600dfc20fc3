import { AsyncLocalStorage } from "node:async_hooks";
import type { AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../agent/stream.js";

type PiAi = Pick<typeof import("@mariozechner/pi-ai"), "getApiProvider" | "registerApiProvider">;
/** The function that sends the requests of a provider; undefined if pi-ai does. */
type FindStream = (provider: string) => StreamFunction | undefined;

/** Sessions whose hooks send requests. In each, requests of pi-ai's `complete` reach these hooks too; the latest first. */
const sessions: FindStream[] = [];
const routed = new Set<string>();
/** The providers whose stream function is running: what it requests of pi-ai, pi-ai sends. */
const answering = new AsyncLocalStorage<readonly string[]>();

/** Routes the requests that hooks send with pi-ai itself to the providers of other hooks. */
export class HookRoutes {
	#isClosed = false;

	constructor(
		private readonly ai: PiAi,
		private readonly find: FindStream,
	) {}

	/** Routes requests to these models, and only to them. */
	use(models: readonly Model<string>[]): void {
		this.#remove();
		if (this.#isClosed || models.length === 0) return;
		sessions.unshift(this.find);
		for (const { api } of models) route(this.ai, api);
	}

	/** Ends all routes, at the end of the session. */
	close(): void {
		this.#isClosed = true;
		this.#remove();
	}

	#remove(): void {
		const at = sessions.indexOf(this.find);
		if (at >= 0) sessions.splice(at, 1);
	}
}

/** Calls the stream function of a provider so that the requests that it sends to the same provider are pi-ai's. */
export function callStream<T>(provider: string, call: () => T): T {
	return answering.run([...(answering.getStore() ?? []), provider], call);
}

/** Replaces the client of a wire format, for good: without a route, it sends requests like the one before. */
function route(ai: PiAi, api: string): void {
	if (routed.has(api)) return;
	routed.add(api);
	const own = ai.getApiProvider(api);
	const send =
		(method: "stream" | "streamSimple") =>
		(model: Model<string>, context: Context, options: SimpleStreamOptions = {}): AssistantMessageEventStream => {
			const found = sessions.map((find) => find(model.provider)).find((stream) => stream !== undefined);
			if (found && !answering.getStore()?.includes(model.provider)) return found(model, context, options);
			if (own) return own[method](model, context, options);
			throw new Error(`No loaded hook sends requests to the provider ${model.provider}`);
		};
	ai.registerApiProvider({ api, stream: send("stream"), streamSimple: send("streamSimple") });
}
