import { formatBytes } from "../tools/output.js";

/** Maximum size of a message: that of the SDK. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The answer to a request whose message was too long. */
export const TOO_LONG_TEXT = `the answer is larger than ${formatBytes(MAX_MESSAGE_BYTES)} and was dropped`;
/** JSON-RPC: internal error. The code of answers that pi gives in the place of a server. */
export const REFUSED_CODE = -32_603;
/** What is kept of the start and the end of a message that is too long: its id is in one of them. */
const KEPT_BYTES = 512;
const NEWLINE = 0x0a;

const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,20})`;
const ID_AT_START = new RegExp(String.raw`^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*${ID}`);
const ID_AT_END = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** Receives the lines of a server. */
export interface MessageLinesTarget {
	onLine(line: string): void;
	/** A message was longer than the limit and was dropped. `id`: that of the request it answers, if it could be found. */
	onTooLong(id: string | number | undefined): void;
}

/** Splits what a server prints into lines. Keeps at most one message in memory, whatever the server prints. */
export class MessageLines {
	#chunks: Buffer[] = [];
	#bytes = 0;
	/** Start and end of a message that is too long. */
	#dropped: { start: Buffer; end: Buffer } | null = null;

	constructor(
		private readonly target: MessageLinesTarget,
		private readonly maxBytes = MAX_MESSAGE_BYTES,
	) {}

	add(chunk: Buffer): void {
		let from = 0;
		for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
			this.#extend(chunk.subarray(from, at));
			this.#finish();
			from = at + 1;
		}
		this.#extend(chunk.subarray(from));
	}

	#extend(part: Buffer): void {
		if (part.length === 0) return;
		if (this.#dropped === null && this.#bytes + part.length > this.maxBytes) {
			const start = Buffer.concat([...this.#chunks, part].map((kept) => kept.subarray(0, KEPT_BYTES)));
			this.#dropped = { start: start.subarray(0, KEPT_BYTES), end: Buffer.alloc(0) };
			this.#chunks = [];
			this.#bytes = 0;
		}
		if (this.#dropped) {
			const end = Buffer.concat([this.#dropped.end, part.subarray(-KEPT_BYTES)]);
			// A copy: a view would keep the complete chunk in memory.
			this.#dropped.end = Buffer.from(end.subarray(-KEPT_BYTES));
			return;
		}
		this.#chunks.push(part);
		this.#bytes += part.length;
	}

	#finish(): void {
		const dropped = this.#dropped;
		const line = Buffer.concat(this.#chunks).toString("utf8");
		this.#chunks = [];
		this.#bytes = 0;
		this.#dropped = null;
		if (dropped) this.target.onTooLong(findId(dropped.start.toString("utf8"), dropped.end.toString("utf8")));
		else if (line.trim() !== "") this.target.onLine(line);
	}
}

function findId(start: string, end: string): string | number | undefined {
	const found = (ID_AT_END.exec(end) ?? ID_AT_START.exec(start))?.[1];
	if (found === undefined) return undefined;
	const id: unknown = JSON.parse(found);
	return typeof id === "string" || typeof id === "number" ? id : undefined;
}
