import { trimOf } from "../util/trim.js";

/** Bytes that HTTP removes around the value of a header. */
const PADDING = "\t\n\r ";

/**
 * The part of `Headers` that clients of providers use. The global class is part of Node's fetch, which takes Node 20 more
 * than 10 ms to load.
 */
export class LightHeaders implements Iterable<[string, string]> {
	readonly #values = new Map<string, string>();

	/** @param raw names and values in turn, as Node's HTTP client reports them */
	constructor(raw: readonly string[] = []) {
		for (let i = 0; i + 1 < raw.length; i += 2) this.append(raw[i] ?? "", raw[i + 1] ?? "");
	}

	append(name: string, value: string): void {
		const key = name.toLowerCase();
		const earlier = this.#values.get(key);
		const added = trimOf(String(value), PADDING);
		this.#values.set(key, earlier === undefined ? added : `${earlier}, ${added}`);
	}

	set(name: string, value: string): void {
		this.delete(name);
		this.append(name, value);
	}

	delete(name: string): void {
		this.#values.delete(name.toLowerCase());
	}

	get(name: string): string | null {
		return this.#values.get(name.toLowerCase()) ?? null;
	}

	has(name: string): boolean {
		return this.#values.has(name.toLowerCase());
	}

	forEach(visit: (value: string, name: string, headers: LightHeaders) => void): void {
		for (const [name, value] of this.#values) visit(value, name, this);
	}

	entries(): IterableIterator<[string, string]> {
		return this.#values.entries();
	}

	keys(): IterableIterator<string> {
		return this.#values.keys();
	}

	values(): IterableIterator<string> {
		return this.#values.values();
	}

	[Symbol.iterator](): IterableIterator<[string, string]> {
		return this.entries();
	}
}

/** A request of a client that was built for `LightHeaders`. */
export interface LightRequest {
	method?: string;
	headers: LightHeaders;
	body?: string;
	signal?: AbortSignal | null;
	redirect?: "manual";
}

/** True for a request that `lightFetch` can send. */
export function isLightRequest(request: readonly unknown[]): request is [url: string, init: LightRequest] {
	const [url, init] = request;
	if (typeof url !== "string" || !/^https?:/.test(url)) return false;
	if (typeof init !== "object" || init === null || !("headers" in init)) return false;
	if (!(init.headers instanceof LightHeaders)) return false;
	const { method, headers, body, signal, redirect, ...others }: Partial<Record<string, unknown>> = { ...init };
	if (redirect !== undefined && redirect !== "manual") return false;
	return (body === undefined || typeof body === "string") && Object.keys(others).length === 0;
}
