import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { errorText, PiError } from "../../errors.js";
import { callListeners } from "../../util/call-listeners.js";
import { packageRoot } from "../../util/package-root.js";
import type {
	HookDialogRequest,
	HookUIRequest,
	HookUIResponse,
	RpcCommandName,
	RpcEvent,
	RpcParams,
	RpcResponse,
	RpcResults,
} from "./protocol.js";
import { readLines } from "./rpc-lines.js";

/** Streams of a connection to a server. */
export interface RpcStreams {
	/** The server's stdout. */
	input: Readable;
	/** The server's stdin. */
	output: Writable;
}

/** Options for starting a server. */
export interface RpcSpawnOptions {
	/** Arguments in addition to `--mode rpc`. */
	args?: readonly string[];
	cwd?: string;
	/** The complete environment. Default: that of this process. */
	env?: Record<string, string>;
	/** JavaScript file of the program. Default: pi of this package. */
	entry?: string;
	/** Receives the server's stderr. Default: it is forwarded to stderr of this process. */
	onStderr?(text: string): void;
}

/** A dialog that expects an answer. */
export type Dialog = Extract<HookUIRequest, HookDialogRequest>;

/** The user's answer to a dialog, a list for `multiple`; null when they closed it. */
export type DialogAnswer = string | readonly string[] | boolean | null;

/** Fields of a command; optional if no field is required. */
type CallArguments<N extends RpcCommandName> =
	Record<never, never> extends RpcParams[N] ? [params?: RpcParams[N]] : [params: RpcParams[N]];

interface Pending {
	resolve(data: unknown): void;
	reject(error: PiError): void;
}

/**
 * Drives a pi process in RPC mode. Matches answers to commands by id and passes events to subscribers. Until `close`, the
 * connection keeps this process running.
 */
export class RpcClient {
	readonly #output: Writable;
	readonly #pending = new Map<string, Pending>();
	readonly #listeners = new Set<(event: RpcEvent) => void>();
	#answerDialog: ((dialog: Dialog) => DialogAnswer | Promise<DialogAnswer>) | null = null;
	#commands = 0;
	/** The process of `spawn`. */
	#server: ServerProcess | null = null;
	/** Resolves when the server has exited or closed its output. */
	readonly closed: Promise<void>;

	/** Connects through existing streams, for example to a process started elsewhere. */
	constructor({ input, output }: RpcStreams) {
		this.#output = output;
		// The end of the server's output reports the same problem.
		output.on("error", () => {});
		this.closed = this.#listen(input);
	}

	/** Starts a server. */
	static spawn(options: RpcSpawnOptions = {}): RpcClient {
		const { args = [], cwd, env, entry = join(packageRoot(), "bin", "pi.cjs"), onStderr } = options;
		const child = spawn(process.execPath, [entry, "--mode", "rpc", ...args], {
			cwd,
			env,
			stdio: ["pipe", "pipe", "pipe"],
		});
		child.on("error", () => child.stdout.destroy());
		child.stderr.setEncoding("utf8");
		if (onStderr) child.stderr.on("data", onStderr);
		else child.stderr.pipe(process.stderr, { end: false });
		const client = new RpcClient({ input: child.stdout, output: child.stdin });
		client.#server = new ServerProcess(child, cwd);
		return client;
	}

	/**
	 * Sends a command and waits for its answer. A prompt is answered when its run has begun; events report its progress.
	 * @throws PiError with the server's error and its code (`command_failed` if it has none); `command_failed` with the reason
	 * why the server has exited
	 */
	call<N extends RpcCommandName>(type: N, ...[params]: CallArguments<N>): Promise<RpcResults[N]>;
	call(type: RpcCommandName, params: object = {}): Promise<unknown> {
		if (this.#output.destroyed || this.#output.writableEnded) return this.#rejectOnceClosed();
		const id = `c${++this.#commands}`;
		return new Promise((resolve, reject) => {
			this.#pending.set(id, { resolve, reject });
			this.#send({ ...params, id, type });
		});
	}

	/**
	 * Passes every event to `listener`, in order. An error that it throws becomes an uncaught exception of the process; the
	 * connection continues.
	 * @returns a function that unsubscribes it
	 */
	subscribe(listener: (event: RpcEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Resolves with the next event that satisfies a test. @throws PiError `command_failed` when the server exits first */
	nextEvent<E extends RpcEvent>(wanted: (event: RpcEvent) => event is E): Promise<E>;
	nextEvent(wanted: (event: RpcEvent) => boolean): Promise<RpcEvent>;
	nextEvent(wanted: (event: RpcEvent) => boolean): Promise<RpcEvent> {
		return new Promise((resolve, reject) => {
			const stop = this.subscribe((event) => {
				if (!wanted(event)) return;
				stop();
				resolve(event);
			});
			void this.closed.then(() => {
				stop();
				reject(this.#exited());
			});
		});
	}

	/** Sets the handler that answers dialogs of hooks. Default: each dialog is canceled immediately. */
	onDialog(answer: (dialog: Dialog) => DialogAnswer | Promise<DialogAnswer>): void {
		this.#answerDialog = answer;
	}

	/** Ends the session; resolves when the server has exited. */
	async close(): Promise<void> {
		this.#output.end();
		await this.closed;
	}

	async #listen(input: Readable): Promise<void> {
		try {
			for await (const line of readLines(input)) if ("text" in line) this.#take(line.text);
		} catch {
			// A broken connection counts as closed.
		}
		await this.#server?.ended;
		for (const { reject } of this.#pending.values()) reject(this.#exited());
		this.#pending.clear();
	}

	async #rejectOnceClosed(): Promise<never> {
		// Only then is the reason known.
		await this.#server?.ended;
		throw this.#exited();
	}

	#exited(): PiError {
		return new PiError("command_failed", this.#server?.describeEnd() ?? "The pi process has exited");
	}

	#take(text: string): void {
		const line = parse(text);
		if (line === null) return;
		if (line.type === "response") {
			const pending = typeof line.id === "string" ? this.#pending.get(line.id) : undefined;
			if (typeof line.id === "string") this.#pending.delete(line.id);
			if (line.success) pending?.resolve(line.data ?? null);
			else if (pending) pending.reject(new PiError(line.code ?? "command_failed", line.error));
			else if (line.command === "hook_ui_response") process.emitWarning(`Invalid answer to a dialog: ${line.error}`);
			return;
		}
		callListeners([...this.#listeners], line);
		if (line.type === "hook_ui_request" && isDialog(line)) void this.#answer(line);
	}

	async #answer(dialog: Dialog): Promise<void> {
		let answer: DialogAnswer = null;
		try {
			answer = (await this.#answerDialog?.(dialog)) ?? null;
		} catch (error) {
			// Answer anyway: the hook would wait forever.
			process.emitWarning(`Canceled the dialog ${JSON.stringify(dialog.title)} after an error: ${errorText(error)}`);
		}
		const base = { type: "hook_ui_response", id: dialog.id } as const;
		let response: HookUIResponse = { ...base, cancelled: true };
		if (typeof answer === "boolean") response = { ...base, confirmed: answer };
		else if (answer !== null) response = { ...base, value: typeof answer === "string" ? answer : [...answer] };
		this.#send(response);
	}

	#send(value: object): void {
		if (!this.#output.destroyed && !this.#output.writableEnded) this.#output.write(`${JSON.stringify(value)}\n`);
	}
}

function isDialog(request: HookUIRequest): request is Dialog {
	return "title" in request && request.method !== "setTitle";
}

/** Maximum time between the end of a server and that of its output streams, which its own processes may hold open, in ms. */
const CLOSE_MS = 1000;
/** Characters of stderr that are kept for the reason of an exit. */
const MAX_STDERR = 4000;

/** Finds out why a server has exited. */
class ServerProcess {
	/** Resolves when the process has exited, or could not be started. */
	readonly ended: Promise<void>;
	#stderr = "";
	#failure: string | null = null;

	constructor(
		private readonly child: ChildProcess,
		cwd: string | undefined,
	) {
		child.stderr?.on("data", (text: string) => {
			this.#stderr = `${this.#stderr}${text}`.slice(-MAX_STDERR);
		});
		this.ended = new Promise((resolve) => {
			child.once("error", (error) => {
				// Node names the program instead.
				this.#failure = cwd === undefined || existsSync(cwd) ? error.message : `there is no directory ${cwd}`;
				resolve();
			});
			child.once("exit", () => setTimeout(resolve, CLOSE_MS).unref());
			child.once("close", () => resolve());
		});
	}

	describeEnd(): string {
		if (this.#failure !== null) return `The pi process cannot be started: ${this.#failure}`;
		const { exitCode, signalCode } = this.child;
		if (signalCode !== null) return `The pi process has exited on ${signalCode}`;
		if (exitCode === null || exitCode === 0) return "The pi process has exited";
		const [line] = this.#stderr.trimEnd().split("\n").slice(-1);
		return `The pi process has exited with code ${exitCode}${line ? `: ${line}` : ""}`;
	}
}

/** Parses a line of the server; null if it is not a line of the protocol. */
function parse(text: string): RpcEvent | RpcResponse | null {
	try {
		const value: unknown = JSON.parse(text);
		const isLine = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
		// The server is trusted to send the fields that belong to a type.
		return isLine ? (value as RpcEvent | RpcResponse) : null;
	} catch {
		return null;
	}
}
