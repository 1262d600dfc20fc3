/** Length in characters from which a body is encoded as bytes. */
const LARGE_CHARS = 4 * 1024 * 1024;

/**
 * Encodes the body of a request as JSON. A large one becomes bytes, written item by item: V8 would build its text in pieces,
 * join them in a second copy, and the connection would need a third one.
 */
export function encodeJson(body: object): string | Uint8Array {
	let text = "";
	for (const piece of piecesOf(body)) {
		text += piece;
		if (text.length > LARGE_CHARS) return encodeLarge(body);
	}
	return text;
}

function encodeLarge(body: object): Uint8Array {
	let size = 0;
	for (const piece of piecesOf(body)) size += Buffer.byteLength(piece);
	const bytes = Buffer.allocUnsafeSlow(size);
	let end = 0;
	for (const piece of piecesOf(body)) end += bytes.write(piece, end);
	return bytes;
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
