/** The exchanges of `lightFetch`; the diagnostics channels of Node report those of `fetch`. */
export interface ExchangeListener {
	/** @param raw the headers of the response, names and values in turn */
	onResponse(origin: string, status: number, raw: readonly string[]): void;
	/** A connection failed, before or during the response. */
	onFailure(origin: string, error: Error): void;
}

const listeners = new Set<ExchangeListener>();

/** Reports the exchanges of `lightFetch` to a listener. @returns ends it */
export function watchExchanges(listener: ExchangeListener): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}

/** Passes what happened in an exchange to the listeners. */
export function reportExchange(report: (listener: ExchangeListener) => void): void {
	for (const listener of listeners) report(listener);
}
