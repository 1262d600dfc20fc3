import type { ByteSource } from "../util/paced-fetch.js";

/**
 * The part of `ReadableStream` that clients of models use. Node's class takes 1.4 ms to load, and 2 ms to release its first
 * reader.
 */
export class LightBody implements AsyncIterable<Uint8Array> {
	constructor(private readonly source: ByteSource) {}

	getReader(): ByteSource & { releaseLock(): void } {
		return { read: () => this.source.read(), cancel: (reason) => this.source.cancel(reason), releaseLock() {} };
	}

	/** Ends the connection. */
	cancel(reason?: unknown): Promise<void> {
		return this.source.cancel(reason);
	}

	[Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
		return {
			next: async () => {
				const next = await this.source.read();
				return next.done ? { done: true, value: undefined } : next;
			},
			return: async () => {
				await this.source.cancel();
				return { done: true, value: undefined };
			},
		};
	}

	/** Two bodies with the bytes that are left: the first that is read reads them all. Canceling one ends the connection. */
	tee(): [LightBody, LightBody] {
		let chunks: Promise<Uint8Array[]> | undefined;
		const readAll = async () => {
			const read: Uint8Array[] = [];
			for await (const chunk of this) read.push(chunk);
			return read;
		};
		const half = () => {
			let next = 0;
			return new LightBody({
				read: async () => {
					chunks ??= readAll();
					const value = (await chunks)[next++];
					return value ? { done: false, value } : { done: true };
				},
				cancel: (reason) => this.cancel(reason),
			});
		};
		return [half(), half()];
	}
}
