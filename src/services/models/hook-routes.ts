import { AsyncLocalStorage } from "node:async_hooks";
import type { AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../../agent/stream.js";
import { meteredBy } from "../../models/hook-meter.js";

type PiAi = Pick<typeof import("../../util/pi-ai.js"), "getApiProvider" | "registerApiProvider">;
/** The function that sends the requests of a provider; undefined if pi-ai does. */
type FindStream = (provider: string) => StreamFunction | undefined;

/** The sessions whose hooks send requests. */
const sessions = new Set<FindStream>();
/** The session whose hook is running. */
const running = new AsyncLocalStorage<FindStream>();
/** Wire formats whose client has been replaced. */
const routed = new Set<string>();
/** The providers whose stream function is running: what it requests of pi-ai, pi-ai sends. */
const answering = new AsyncLocalStorage<readonly string[]>();

/** Routes the requests that hooks send with pi-ai itself to the providers of other hooks of their session. */
export class HookRoutes {
	#isClosed = false;

	constructor(
		private readonly ai: PiAi,
		private readonly find: FindStream,
	) {}

	/** Routes requests to these models, and only to them. */
	use(models: readonly Model<string>[]): void {
		sessions.delete(this.find);
		if (this.#isClosed || models.length === 0) return;
		sessions.add(this.find);
		for (const { api } of models) route(this.ai, api);
	}

	/** Calls a function of a hook: its requests, and those that follow from it, are of this session. */
	run<T>(action: () => T): T {
		return sessions.size === 0 ? action() : running.run(this.find, action);
	}

	/** Ends all routes, at the end of the session. */
	close(): void {
		this.#isClosed = true;
		sessions.delete(this.find);
	}
}

/** Calls the stream function of a provider so that the requests that it sends to the same provider are pi-ai's. */
export function callStream<T>(provider: string, call: () => T): T {
	// Its reply is counted where the request came from.
	return answering.run([...(answering.getStore() ?? []), provider], () => meteredBy(null, call));
}

/** @throws Error if the provider is one of several sessions, and the request of none of them */
function findRoute(provider: string): StreamFunction | undefined {
	if (answering.getStore()?.includes(provider)) return undefined;
	const own = running.getStore();
	// Outside of calls, such as in a key handler of a component, there is mostly one session to choose from.
	const [stream, ...others] = (own ? [own] : [...sessions]).flatMap((find) => find(provider) ?? []);
	if (others.length > 0) throw new Error(`Several sessions have a provider ${provider}; call it in a handler`);
	return stream;
}

/** Replaces the client of a wire format, for good: without a route, it sends requests like the one before. */
function route(ai: PiAi, api: string): void {
	if (routed.has(api)) return;
	routed.add(api);
	const own = ai.getApiProvider(api);
	const send =
		(method: "stream" | "streamSimple") =>
		(model: Model<string>, context: Context, options: SimpleStreamOptions = {}): AssistantMessageEventStream => {
			const found = findRoute(model.provider);
			if (found) return found(model, context, options);
			if (own) return own[method](model, context, options);
			throw new Error(`No loaded hook sends requests to the provider ${model.provider}`);
		};
	ai.registerApiProvider({ api, stream: send("stream"), streamSimple: send("streamSimple") });
}
