import { describeError, errorText } from "../../errors.js";
import type { AgentSession } from "../../session/agent-session.js";
import { onAbort } from "../../util/abort.js";
import type { ModeIO } from "../mode.js";
import { EventSender } from "./event-sender.js";
import { createHandlers, LANES, type RpcHandlers } from "./handlers.js";
import { Lanes } from "./lanes.js";
import { LineWriter, MAX_LINE_BYTES, readLines } from "./lines.js";
import type { RpcCommand, RpcCommandName, RpcResponse } from "./protocol.js";
import { readLine } from "./read-line.js";
import { RpcUI } from "./rpc-ui.js";

/** What a server speaks through. */
export interface RpcServerOptions {
	session: AgentSession;
	/** Where the client's lines come from. */
	input: AsyncIterable<Uint8Array | string>;
	io: Pick<ModeIO, "out">;
	/** Ends the service as the end of the input does. */
	signal?: AbortSignal;
}

/** How long the last commands may take once the client has gone, in ms. */
const LAST_COMMANDS_MS = 500;
/** How long what was stopped may take to answer, in ms. */
const STOP_MS = 1500;
/** How long the session may take to end, in ms: hooks have two seconds for their shutdown. */
const DISPOSE_MS = 2500;

/**
 * Drives a session by lines of JSON: starts it, answers commands, tells events, and disposes it when the input ends.
 * Every line gets an answer; commands that wait for nothing are answered out of turn.
 * @see docs/rpc.md
 */
export class RpcServer {
	readonly #options: RpcServerOptions;
	readonly #writer: LineWriter;
	readonly #events: EventSender;
	readonly #ui: RpcUI;
	readonly #handlers: RpcHandlers;
	/** Counts aborts: prompts that were still waiting at one are not said. */
	#aborts = 0;
	#isEnding = false;

	constructor(options: RpcServerOptions) {
		this.#options = options;
		this.#writer = new LineWriter(options.io);
		this.#events = new EventSender(this.#writer);
		this.#ui = new RpcUI((event) => this.#writer.write(event));
		this.#handlers = createHandlers({
			session: options.session,
			onFailure: (message) => this.#events.send({ type: "notice", level: "error", message }),
		});
	}

	/** Serves until the input ends and all is written. @throws what starting the session throws */
	async serve(): Promise<void> {
		const { session, input, signal } = this.#options;
		const unsubscribe = session.subscribe((event) => this.#events.send(event));
		session.attachUI(this.#ui, null, false);
		// What went wrong before there was anybody to hear of it.
		for (const message of session.loaded.warnings) this.#events.send({ type: "notice", level: "warning", message });
		const started = session.start();
		const lanes = new Lanes(
			started.catch(() => {
				this.#isEnding = true;
			}),
		);
		// An input that breaks has ended.
		const ended = this.#readCommands(input, lanes).catch(() => {});
		try {
			await Promise.race([ended, aborted(signal), started.then(() => ended)]);
		} finally {
			await settled(lanes.idle(), LAST_COMMANDS_MS);
			this.#isEnding = true;
			this.#ui.close();
			await settled(session.dispose(), DISPOSE_MS);
			await settled(lanes.idle(), STOP_MS);
			unsubscribe();
			this.#events.close();
			await settled(this.#writer.drained(), STOP_MS);
		}
	}

	async #readCommands(input: RpcServerOptions["input"], lanes: Lanes): Promise<void> {
		for await (const line of readLines(input)) {
			if ("tooLong" in line) {
				const error = `A line of ${line.tooLong} bytes is longer than the limit of ${MAX_LINE_BYTES}`;
				this.#answer({ type: "response", command: "parse", success: false, error });
			} else this.#take(line.text, lanes);
			// A client that does not read its answers is not read either.
			if (this.#writer.isBehind) await this.#writer.drained();
		}
	}

	#take(text: string, lanes: Lanes): void {
		const line = readLine(text);
		if (line.kind === "refused") this.#answer(line.response);
		else if (line.kind === "ui_response") this.#ui.answer(line.response);
		else {
			const { command } = line;
			if (command.type === "abort") this.#aborts++;
			const lane = LANES[command.type];
			const aborts = this.#aborts;
			lanes.run(lane, () => this.#carryOut(command, this.#isEnding || (lane === "session" && aborts !== this.#aborts)));
		}
	}

	async #carryOut(command: RpcCommand, isAborted: boolean): Promise<void> {
		const base = {
			...(command.id === undefined ? {} : { id: command.id }),
			type: "response" as const,
			command: command.type,
		};
		try {
			if (isAborted) throw new Error("Stopped before it began");
			const data = await this.#call(command);
			this.#answer({ ...base, success: true, ...(data === null ? {} : { data }) });
		} catch (error) {
			this.#answer({ ...base, success: false, error: describeError(error) });
		}
	}

	#call<N extends RpcCommandName>(command: RpcCommand<N>): unknown {
		return this.#handlers[command.type](command);
	}

	#answer(response: RpcResponse): void {
		try {
			this.#writer.write(response);
		} catch (error) {
			// An id can be nested deeper than JSON is written, and what hooks and tools leave may be no JSON at all.
			const { command } = response;
			const reason = `The answer cannot be told as JSON: ${errorText(error)}`;
			this.#writer.write({ type: "response", command, success: false, error: reason });
		}
	}
}

/** Waits for a promise, but not for ever. Never rejects. */
async function settled(promise: Promise<unknown>, limitMs: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, limitMs);
	});
	await Promise.race([
		promise.then(
			() => {},
			() => {},
		),
		limit,
	]);
	clearTimeout(timer);
}

/** Resolves when the signal is aborted; never without one. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve) => {
		if (signal) onAbort(signal, resolve);
	});
}
