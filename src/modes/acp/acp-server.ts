import type { Readable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { onAbort } from "../../util/abort.js";
import { jsonLine } from "../json.js";
import type { ModeIO } from "../mode.js";
import { MAX_LINE_BYTES } from "../rpc/rpc-lines.js";
import { waitAtMost } from "../session-end.js";
import { type AcpAgentOptions, createAgent } from "./acp-agent.js";
import { explainInvalidParams } from "./acp-errors.js";
import { AcpSessions, type SessionFactory } from "./acp-sessions.js";

/** Options of a server. */
export interface AcpServerOptions extends Pick<AcpAgentOptions, "checkLogin"> {
	factory: SessionFactory;
	/** Lines of the client. */
	input: Readable;
	io: Pick<ModeIO, "out">;
	/** Ends the service like the end of the input. */
	signal?: AbortSignal;
}

/** Maximum time for open requests after the client has disconnected, in ms. */
const LAST_REQUESTS_MS = 2000;

/**
 * Speaks the Agent Client Protocol with one client: opens sessions, answers requests and sends updates until the input
 * ends; then answers what is open and disposes the sessions.
 * @see docs/acp.md
 */
export class AcpServer {
	readonly #options: AcpServerOptions;
	readonly #sessions: AcpSessions;
	readonly #answers = new Set<Promise<unknown>>();

	constructor(options: AcpServerOptions) {
		this.#options = options;
		this.#sessions = new AcpSessions(options.factory);
	}

	/** Reports an error outside of any handler. @returns false if no hook caused it */
	blameHook(error: unknown): boolean {
		return this.#sessions.blameHook(error);
	}

	/** Serves until the input has ended and all sessions are disposed. */
	async serve(): Promise<void> {
		const { checkLogin, signal } = this.#options;
		const agent = createAgent({ sessions: this.#sessions, checkLogin, track: (answer) => this.#track(answer) });
		const connection = agent.connect(this.#stream());
		const release = signal ? onAbort(signal, () => connection.close()) : () => {};
		await connection.closed;
		release();
		await this.#sessions.closeAll();
	}

	#track<T>(answer: Promise<T>): Promise<T> {
		const settled = answer.then(
			() => {},
			() => {},
		);
		this.#answers.add(settled);
		void settled.then(() => this.#answers.delete(settled));
		return answer;
	}

	#stream(): Stream {
		const { input, io } = this.#options;
		const decoder = new TextDecoder();
		const bytes = new WritableStream<Uint8Array>({ write: (chunk) => io.out(decoder.decode(chunk, { stream: true })) });
		// Writes only its own errors to `bytes`: messages need well-formed strings, which it does not ensure.
		const { readable } = ndJsonStream(bytes, bytesOf(input), { maxMessageBytes: MAX_LINE_BYTES });
		const finish = () => this.#finishAnswers();
		return {
			readable: readable.pipeThrough(new TransformStream<AnyMessage, AnyMessage>({ flush: finish })),
			writable: new WritableStream({ write: (message) => io.out(jsonLine(explainInvalidParams(message))) }),
		};
	}

	/** Called when the input has ended, before the connection closes: open requests still get their answers. */
	async #finishAnswers(): Promise<void> {
		const finished = (async () => {
			await this.#sessions.cancelAll();
			while (this.#answers.size > 0) await Promise.all(this.#answers);
		})();
		await waitAtMost(LAST_REQUESTS_MS, finished).catch(() => {});
		// The last answer is written a few ticks after its handler has returned.
		await new Promise((resolve) => setImmediate(resolve));
	}
}

/** The bytes of a stream; its failure counts as its end. */
function bytesOf(input: Readable): ReadableStream<Uint8Array> {
	const chunks = input[Symbol.asyncIterator]();
	return new ReadableStream({
		async pull(controller) {
			const next = await chunks.next().catch(() => ({ done: true, value: null }) as const);
			if (next.done) controller.close();
			else controller.enqueue(Buffer.from(next.value));
		},
	});
}
