import { inputTokens, type ModelName } from "../context/calibration.js";
import type { TracedMessage } from "../context/context-message.js";
import type { Preamble } from "../context/preamble.js";
import { TokenSum } from "../context/request-memo.js";
import { isMessageEntry, type SessionEntry } from "../log/entry.js";

/** The size of a request before and after the provider counted it. */
export interface RequestScale {
	/** Tokens of the model for each estimated token. */
	ratio: number;
	/** Estimated tokens of the system prompt and the tools if the session does not record them. */
	unrecorded: number;
}

/** How the estimates of a session relate to what its providers counted. */
export class SessionScale {
	readonly #ratios = new Map<string, number>();
	readonly #scales = new Map<number, RequestScale>();
	readonly #estimate = new TokenSum();
	#unrecorded: number | null = null;

	/** The scale of a recorded request. Ask for the requests in order. @param messages of the request without a strategy */
	note(
		entry: SessionEntry | undefined,
		reply: number,
		messages: readonly TracedMessage[],
		preamble: Preamble,
	): RequestScale {
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") return { ratio: 1, unrecorded: 0 };
		const hasPreamble = preamble.sections.length + preamble.tools.length > 0;
		const estimate = this.#estimate.update(messages) + preamble.tokens;
		const { message, context } = entry;
		const counted = inputTokens(message);
		if (hasPreamble) this.#unrecorded = 0;
		else if (this.#unrecorded === null && counted > 0) this.#unrecorded = Math.max(0, counted - estimate);
		const unrecorded = hasPreamble ? 0 : (this.#unrecorded ?? 0);
		const size = hasPreamble ? (context?.estimate ?? estimate) : estimate + unrecorded;
		const key = keyOf({ provider: message.provider, id: message.model });
		if (counted > 0 && size > 0) this.#ratios.set(key, counted / size);
		const scale = { ratio: this.#ratios.get(key) ?? 1, unrecorded };
		this.#scales.set(reply, scale);
		return scale;
	}

	/** The scale of a request that was noted. */
	of(reply: number): RequestScale {
		return this.#scales.get(reply) ?? { ratio: 1, unrecorded: 0 };
	}
}

function keyOf({ provider, id }: ModelName): string {
	return `${provider}/${id}`;
}
