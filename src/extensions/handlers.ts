import { inspectable } from "../errors.js";
import type { HookEventContext } from "../hooks/types.js";
import type { Calls } from "./calls.js";

/** A handler as extensions register it. */
export type Handler = (event: never, ctx: object) => unknown;

export interface HandlersDeps {
	calls: Calls;
	/** Makes the second argument of handlers. */
	contextFor(ctx: HookEventContext): object;
	/** Shows the error of a handler to the user. */
	report(event: string, error: unknown): void;
}

/** The handlers of an extension, by its names of events. */
export class Handlers {
	readonly #byEvent = new Map<string, Set<{ handler: Handler }>>();

	constructor(private readonly deps: HandlersDeps) {}

	/** @returns a function that removes the handler */
	add(event: string, handler: Handler): () => void {
		const handlers = this.#byEvent.get(event) ?? new Set();
		this.#byEvent.set(event, handlers);
		const record = { handler };
		handlers.add(record);
		return () => void handlers.delete(record);
	}

	has(...events: readonly string[]): boolean {
		return events.some((event) => (this.#byEvent.get(event)?.size ?? 0) > 0);
	}

	/**
	 * Calls the handlers of an event in order. An error is reported, and the next handler is called.
	 * @param eventOf makes the argument of each handler
	 * @param onAnswer receives what each handler returns; true ends the calls
	 */
	async emit(
		name: string,
		ctx: HookEventContext,
		eventOf: () => object,
		onAnswer: (answer: Readonly<Record<string, unknown>>) => boolean | void = () => {},
	): Promise<void> {
		for (const { handler } of [...(this.#byEvent.get(name) ?? [])]) {
			try {
				if (onAnswer(answerOf(await this.#call(handler, eventOf(), ctx)))) return;
			} catch (error) {
				this.deps.report(name, inspectable(error));
			}
		}
	}

	/** Like `emit`, but an error ends the calls. @throws the error of a handler */
	async gate(
		name: string,
		ctx: HookEventContext,
		eventOf: () => object,
		onAnswer: (answer: Readonly<Record<string, unknown>>) => boolean | void,
	): Promise<void> {
		for (const { handler } of [...(this.#byEvent.get(name) ?? [])]) {
			if (onAnswer(answerOf(await this.#call(handler, eventOf(), ctx)))) return;
		}
	}

	#call(handler: Handler, event: object, ctx: HookEventContext): Promise<unknown> {
		return this.deps.calls.run(ctx, () => handler({ ...event } as never, this.deps.contextFor(ctx)));
	}
}

function answerOf(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null ? { ...value } : {};
}
