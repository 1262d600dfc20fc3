/** Length in characters from which a body is not encoded as one text. */
const LARGE_CHARS = 4 * 1024 * 1024;
/** Smaller pieces are joined, because each one is a write to the connection. Characters. */
const PIECE_CHARS = 64 * 1024;

/** The functions for `fetch` that send a `JsonBody`. */
const senders = new WeakSet<typeof globalThis.fetch>();

/** Marks a function for `fetch` as one that sends a `JsonBody`; others get the text of large bodies. */
export function sendsJsonBodies(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	senders.add(fetch);
	return fetch;
}

/**
 * Encodes the body of a request as JSON. A large one is encoded item by item, and only while it is sent, if `fetch` can do
 * that: V8 would build its text in pieces, join them in a second copy, and the connection would need a third one.
 */
export function encodeJson(body: object): string | JsonBody {
	let text = "";
	for (const piece of piecesOf(body)) {
		text += piece;
		if (text.length > LARGE_CHARS) {
			const large = new JsonBody(body);
			return senders.has(globalThis.fetch) ? large : large.text();
		}
	}
	return text;
}

/** The body of a request as JSON that is never in memory as a whole. The object must not change until it is sent. */
export class JsonBody {
	/** Its length in UTF-8. */
	readonly byteLength: number;

	/** @throws as `JSON.stringify` does */
	constructor(private readonly body: object) {
		let size = 0;
		for (const piece of piecesOf(body)) size += Buffer.byteLength(piece);
		this.byteLength = size;
	}

	/** Its text in pieces of at least 64 KB, except for the last one. */
	*pieces(): Generator<string, undefined> {
		let text = "";
		for (const piece of piecesOf(this.body)) {
			text += piece;
			if (text.length < PIECE_CHARS) continue;
			yield text;
			text = "";
		}
		if (text !== "") yield text;
	}

	/** Its text, for clients that take nothing else. */
	text(): string {
		return [...this.pieces()].join("");
	}
}

/** The pieces of `JSON.stringify(body)`: each item of a list in the body, such as a message, is one. */
function* piecesOf(body: object): Generator<string> {
	let start = "{";
	for (const [key, value] of Object.entries(body)) {
		if (Array.isArray(value)) {
			yield `${start}${JSON.stringify(key)}:[`;
			for (const [index, item] of value.entries()) yield `${index > 0 ? "," : ""}${JSON.stringify(item) ?? "null"}`;
			yield "]";
		} else {
			const json = JSON.stringify(value);
			if (json === undefined) continue;
			yield `${start}${JSON.stringify(key)}:${json}`;
		}
		start = ",";
	}
	yield start === "{" ? "{}" : "}";
}
