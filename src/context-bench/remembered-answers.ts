import type {
	Api,
	AssistantMessage,
	AssistantMessageEventStream,
	Context,
	Model,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import { failedReply } from "../agent/failed-reply.js";
import type { RetryPolicy } from "../agent/retry.js";
import { describeError } from "../errors.js";
import type { RequestAuth } from "../models/credentials.js";
import type { ModelClient } from "../services/service-types.js";
import { createAssistantMessageEventStream } from "../util/pi-ai.js";
import { type AnswerFile, digestRequest } from "./answer-file.js";

/** What `pi context bench --ask` has asked so far. */
export interface AskedRequests {
	requests: number;
	/** Requests that were not sent, because their answers are remembered. */
	remembered: number;
	/** Requests without an answer. */
	failed: number;
	/** USD of those that were sent. */
	cost: number;
	/** Requests whose price is unknown. */
	unpriced: number;
}

export interface AskOptions {
	client: Pick<ModelClient, "stream" | "prepare" | "isOverflow">;
	/** @throws PiError `key_missing` */
	requestAuth(model: Model<Api>): Promise<RequestAuth>;
	isPriced(model: Model<Api>): boolean;
	answers: AnswerFile;
	/** Writes the summaries of compactions; null: the model of the session. */
	summarizer: Model<Api> | null;
	retry: RetryPolicy;
	/** See the setting `streamIdleTimeoutMs`. */
	idleTimeoutMs: number;
	/** Removes secrets from error messages. */
	redact(text: string): string;
	/** Called before and after each request that is sent. */
	onAsk?(asked: AskedRequests): void;
	/** Receives why answers cannot be remembered, once. */
	onWarning(line: string): void;
}

type AskArguments = [Model<Api>, Context, SimpleStreamOptions, AssistantMessageEventStream];

const UNFINISHED = "the reply did not end";

/** The models that a bench asks, each thing only once: it remembers their answers. */
export class AskedModels {
	readonly asked: AskedRequests = { requests: 0, remembered: 0, failed: 0, cost: 0, unpriced: 0 };
	#canRemember = true;

	constructor(readonly options: AskOptions) {}

	/** Sends a request with the key of its model, unless its answer is remembered. Never throws: a failure is an event. */
	readonly stream = (
		model: Model<Api>,
		context: Context,
		options: SimpleStreamOptions = {},
	): AssistantMessageEventStream => {
		const events = createAssistantMessageEventStream();
		void this.#answer(model, context, options, events).then((message) => {
			const { stopReason } = message;
			if (stopReason === "error" || stopReason === "aborted")
				events.push({ type: "error", reason: stopReason, error: message });
			else if (stopReason === "pending")
				events.push({
					type: "error",
					reason: "error",
					error: { ...message, stopReason: "error", errorMessage: UNFINISHED },
				});
			else events.push({ type: "done", reason: stopReason, message });
		});
		return events;
	};

	async #answer(...[model, context, options, events]: AskArguments): Promise<AssistantMessage> {
		const key = digestRequest(model, context, options);
		const known = this.options.answers.find(key);
		if (known) {
			this.asked.remembered++;
			return known;
		}
		const message = await this.#send(model, context, options, events);
		if (message.stopReason === "error" || message.stopReason === "aborted") this.asked.failed++;
		else await this.#remember(key, message);
		return message;
	}

	async #send(...[model, context, options, events]: AskArguments): Promise<AssistantMessage> {
		const { client, requestAuth, isPriced, onAsk, redact } = this.options;
		const { asked } = this;
		try {
			const [auth] = await Promise.all([requestAuth(model), client.prepare(model)]);
			const headers = { ...auth.headers, ...options.headers };
			asked.requests++;
			onAsk?.(asked);
			const reply = client.stream(model, context, { ...options, headers, apiKey: auth.apiKey });
			// Who waits for the answer sees that it is being written.
			for await (const event of reply) if (event.type !== "done" && event.type !== "error") events.push(event);
			const message = await reply.result();
			asked.cost += message.usage.cost.total;
			if (!isPriced(model)) asked.unpriced++;
			onAsk?.(asked);
			return message;
		} catch (error) {
			return failedReply(model, [], options.signal?.aborted ? "aborted" : "error", redact(describeError(error)));
		}
	}

	async #remember(key: string, message: AssistantMessage): Promise<void> {
		if (!this.#canRemember) return;
		try {
			await this.options.answers.add(key, message);
		} catch (error) {
			this.#canRemember = false;
			this.options.onWarning(`Answers of models are not remembered: ${describeError(error)}`);
		}
	}
}
