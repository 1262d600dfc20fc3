import { onAbort } from "../util/abort.js";

/** A request that waits for its answer. */
interface OpenRequest {
	/** Restarts its time limit, or stops it while the server waits for the user. */
	restart(): void;
	pause(): void;
}

/** The requests of one server: their time limits stop while the server waits for the user. */
export class OpenRequests {
	readonly #open = new Set<OpenRequest>();
	readonly #questions = new Set<AbortController>();

	/**
	 * Sends a request that is aborted when no progress arrives for `timeoutMs`.
	 * @param send receives the signal, and a function that restarts the limit
	 * @throws DOMException `TimeoutError` when it was too slow; what `send` throws
	 */
	async send<T>(
		timeoutMs: number,
		signal: AbortSignal,
		send: (signal: AbortSignal, restart: () => void) => Promise<T>,
	): Promise<T> {
		const late = new AbortController();
		let timer: NodeJS.Timeout | undefined;
		const pause = () => clearTimeout(timer);
		const restart = () => {
			pause();
			if (this.#questions.size > 0) return;
			timer = setTimeout(() => late.abort(new DOMException("timed out", "TimeoutError")), timeoutMs);
		};
		const request = { restart, pause };
		this.#open.add(request);
		const release = onAbort(signal, () => {
			this.#open.delete(request);
			// A question belongs to one of the requests that wait; which one, the protocol does not say.
			if (this.#open.size === 0) this.cancelQuestions();
		});
		restart();
		try {
			return await send(AbortSignal.any([signal, late.signal]), restart);
		} catch (error) {
			throw late.signal.aborted && !signal.aborted ? late.signal.reason : error;
		} finally {
			release();
			pause();
			this.#open.delete(request);
		}
	}

	/** Asks the user for the server. @param ask receives a signal that also aborts when nothing waits for the answer */
	async ask<T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const question = new AbortController();
		this.#questions.add(question);
		for (const request of this.#open) request.pause();
		try {
			return await ask(AbortSignal.any([signal, question.signal]));
		} finally {
			this.#questions.delete(question);
			if (this.#questions.size === 0) for (const request of this.#open) request.restart();
		}
	}

	/** Closes the dialogs of the server. */
	cancelQuestions(): void {
		for (const question of this.#questions) question.abort();
	}
}
