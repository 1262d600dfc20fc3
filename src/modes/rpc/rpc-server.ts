import { codeField, describeError, errorText } from "../../errors.js";
import type { LoggedMessage } from "../../log/entry.js";
import { RPC_OPERATIONS, type RpcOperations } from "../../operations/index.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { onAbort } from "../../util/abort.js";
import { errorEvent } from "../json.js";
import type { ModeIO } from "../mode.js";
import { requestError } from "../request-error.js";
import { waitAtMost } from "../session-end.js";
import { CommandScheduler } from "./command-scheduler.js";
import { EventSender } from "./event-sender.js";
import type { HookUIResponse, RpcCommand, RpcCommandName, RpcResponse } from "./protocol.js";
import { createQueries, type RpcQueries } from "./queries.js";
import { readLine } from "./read-line.js";
import { LineWriter, MAX_LINE_BYTES, readLines } from "./rpc-lines.js";
import { RpcUI } from "./rpc-ui.js";

/** Options of a server. */
export interface RpcServerOptions {
	session: AgentSession;
	/** Lines of the client. */
	input: AsyncIterable<Uint8Array | string>;
	io: Pick<ModeIO, "out">;
	/** Ends the service like the end of the input. */
	signal?: AbortSignal;
}

/** Maximum time for pending commands after the client has disconnected, in ms. */
const LAST_COMMANDS_MS = 500;
/** Maximum time for aborted commands to answer, in ms. */
const STOP_MS = 1500;
/** Maximum time for the session to end, in ms: shutdown handlers of hooks have 2 s. */
const DISPOSE_MS = 2500;

/**
 * Drives a session with lines of JSON: starts it, answers commands, sends events, and disposes it when the input ends.
 * Every line gets an answer, not necessarily in order.
 * @see docs/rpc.md
 */
export class RpcServer {
	readonly #options: RpcServerOptions;
	readonly #writer: LineWriter;
	readonly #events: EventSender;
	readonly #ui: RpcUI;
	readonly #queries: RpcQueries;
	/** Number of aborts: prompts that were still waiting at an abort are not sent. */
	#aborts = 0;
	#isEnding = false;

	constructor(options: RpcServerOptions) {
		this.#options = options;
		this.#writer = new LineWriter(options.io);
		this.#events = new EventSender(this.#writer);
		this.#ui = new RpcUI((event) => this.#writer.write(event));
		this.#queries = createQueries(options.session);
	}

	/** Serves until the input has ended and all output is written. @throws errors of starting the session */
	async serve(): Promise<void> {
		const { session, input, signal } = this.#options;
		const unsubscribe = session.subscribe((event) => {
			if (event.type === "agent_end") this.#reportFailure(event.messages);
			this.#events.send(event);
		});
		session.attachUI(this.#ui, null, false);
		session.mode = "rpc";
		// Warnings from before the subscription.
		for (const message of session.loaded.warnings) this.#events.send({ type: "notice", level: "warning", message });
		const started = session.start();
		const scheduler = new CommandScheduler(
			started.catch(() => {
				this.#isEnding = true;
			}),
		);
		// A broken input counts as ended.
		const ended = this.#readCommands(input, scheduler).catch(() => {});
		try {
			await Promise.race([ended, aborted(signal), started.then(() => ended)]);
		} finally {
			await settled(scheduler.idle(), LAST_COMMANDS_MS);
			this.#isEnding = true;
			this.#ui.close();
			await settled(session.dispose(), DISPOSE_MS);
			await settled(scheduler.idle(), STOP_MS);
			unsubscribe();
			this.#events.close();
			await settled(this.#writer.drained(), STOP_MS);
		}
	}

	#reportFailure(messages: readonly LoggedMessage[]): void {
		const last = messages.findLast(({ role }) => role === "assistant");
		if (last?.role !== "assistant" || last.stopReason !== "error") return;
		this.#events.send(errorEvent(requestError(last, this.#options.session.sessionFile !== null)));
	}

	async #readCommands(input: RpcServerOptions["input"], scheduler: CommandScheduler): Promise<void> {
		for await (const line of readLines(input)) {
			if ("tooLong" in line) {
				const error = `The line has ${line.tooLong} bytes, more than the limit of ${MAX_LINE_BYTES}`;
				this.#answer({ type: "response", command: "parse", success: false, error, code: "bad_arguments" });
			} else this.#handleLine(line.text, scheduler);
			// Backpressure: stop reading commands while the client does not read answers.
			if (this.#writer.isBehind) await this.#writer.drained();
		}
	}

	#handleLine(text: string, scheduler: CommandScheduler): void {
		const line = readLine(text);
		if (line.kind === "rejected") this.#answer(line.response);
		else if (line.kind === "ui_response") this.#answerDialog(line.response);
		else {
			const { command } = line;
			if (command.type === "abort") this.#aborts++;
			const concurrency = isOperation(command.type) ? RPC_OPERATIONS[command.type].concurrency : "ordered";
			const aborts = this.#aborts;
			scheduler.run(concurrency, () => {
				const isAborted = concurrency === "conversation" && aborts !== this.#aborts;
				return this.#execute(command, this.#isEnding || isAborted);
			});
		}
	}

	#answerDialog(response: HookUIResponse): void {
		const problem = this.#ui.answer(response);
		if (problem === null) return;
		const { id, type: command } = response;
		const error = `${problem} · the dialog was canceled`;
		this.#answer({ id, type: "response", command, success: false, error, code: "bad_arguments" });
	}

	async #execute(command: RpcCommand, isAborted: boolean): Promise<void> {
		const base = {
			...(command.id === undefined ? {} : { id: command.id }),
			type: "response" as const,
			command: command.type,
		};
		try {
			if (isAborted) throw new Error("Aborted before it started");
			const data = await this.#answerOf(command);
			this.#answer({ ...base, success: true, ...(data === null ? {} : { data }) });
		} catch (error) {
			this.#answer({ ...base, success: false, error: describeError(error), ...codeField(error) });
		}
	}

	#answerOf(command: RpcCommand): unknown {
		const { type } = command;
		if (!isOperation(type)) return this.#queries[type]();
		const onFailure = (message: string) => this.#events.send({ type: "notice", level: "error", message });
		return this.#options.session.answerCommand(type, command, onFailure);
	}

	#answer(response: RpcResponse): void {
		try {
			this.#writer.write(response);
		} catch (error) {
			// The id can be nested too deeply, and results of hooks and tools may not be JSON.
			const { command } = response;
			const reason = `Cannot send the answer as JSON: ${errorText(error)}`;
			this.#writer.write({ type: "response", command, success: false, error: reason });
		}
	}
}

function isOperation(name: RpcCommandName): name is keyof RpcOperations {
	return Object.hasOwn(RPC_OPERATIONS, name);
}

/** Waits for a promise, but at most `limitMs` milliseconds. Never rejects. */
function settled(promise: Promise<unknown>, limitMs: number): Promise<void> {
	return waitAtMost(limitMs, promise).catch(() => {});
}

/** Resolves when the signal is aborted; never without a signal. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve) => {
		if (signal) onAbort(signal, resolve);
	});
}
