import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { errorText, PiError } from "../../errors.js";
import { packageRoot } from "../../util/package-root.js";
import { readLines } from "./lines.js";
import type {
	HookUIRequest,
	HookUIResponse,
	RpcCommandName,
	RpcEvent,
	RpcParams,
	RpcResponse,
	RpcResults,
} from "./protocol.js";

/** The two ends of a connection to a server. */
export interface RpcStreams {
	/** The server's stdout. */
	input: Readable;
	/** The server's stdin. */
	output: Writable;
}

/** How a server is started. */
export interface RpcSpawnOptions {
	/** Arguments beside `--mode rpc`. */
	args?: readonly string[];
	cwd?: string;
	/** The whole environment; absent: that of this process. */
	env?: Record<string, string>;
	/** The program's JavaScript file; absent: this package's own. */
	entry?: string;
	/** Hears the server's stderr; absent: it goes to that of this process. */
	onStderr?(text: string): void;
}

/** A dialog that waits for an answer. */
export type Dialog = Exclude<HookUIRequest, { method: "notify" }>;

/** What a person said to a dialog; null when they closed it. */
export type DialogAnswer = string | boolean | null;

/** Fields of a command; may be left out where none is needed. */
type CallArguments<N extends RpcCommandName> =
	Record<never, never> extends RpcParams[N] ? [params?: RpcParams[N]] : [params: RpcParams[N]];

interface Pending {
	resolve(data: unknown): void;
	reject(error: PiError): void;
}

/** Drives a pi in RPC mode. Answers are matched with commands by id; events go to the subscribers. */
export class RpcClient {
	readonly #output: Writable;
	readonly #pending = new Map<string, Pending>();
	readonly #listeners = new Set<(event: RpcEvent) => void>();
	#answerDialog: ((dialog: Dialog) => DialogAnswer | Promise<DialogAnswer>) | null = null;
	#commands = 0;
	/** Resolves when the server has ended or closed its side. */
	readonly closed: Promise<void>;

	/** Speaks through streams, such as those of a program that was started elsewhere. */
	constructor({ input, output }: RpcStreams) {
		this.#output = output;
		// A server that is gone is noticed when its output ends.
		output.on("error", () => {});
		this.closed = this.#listen(input);
	}

	/** Starts a server. */
	static spawn(options: RpcSpawnOptions = {}): RpcClient {
		const { args = [], cwd, env, entry = join(packageRoot(), "bin", "pi.js"), onStderr } = options;
		const child = spawn(process.execPath, [entry, "--mode", "rpc", ...args], {
			cwd,
			env,
			stdio: ["pipe", "pipe", "pipe"],
		});
		child.on("error", () => child.stdout.destroy());
		if (onStderr) child.stderr.setEncoding("utf8").on("data", onStderr);
		else child.stderr.pipe(process.stderr, { end: false });
		return new RpcClient({ input: child.stdout, output: child.stdin });
	}

	/**
	 * Sends a command and waits for its answer. A prompt is answered when its run has begun; events tell the rest.
	 * @throws PiError `command_failed` with what the server says, or when it has ended
	 */
	call<N extends RpcCommandName>(type: N, ...[params]: CallArguments<N>): Promise<RpcResults[N]>;
	call(type: RpcCommandName, params: object = {}): Promise<unknown> {
		if (this.#output.destroyed || this.#output.writableEnded) return Promise.reject(gone());
		const id = `c${++this.#commands}`;
		return new Promise((resolve, reject) => {
			this.#pending.set(id, { resolve, reject });
			this.#send({ ...params, id, type });
		});
	}

	/** Hears every event, in order. @returns a function that stops it */
	subscribe(listener: (event: RpcEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Resolves with the next event that satisfies a test. @throws PiError `command_failed` when the server ends before */
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
				reject(gone());
			});
		});
	}

	/** Says how dialogs of hooks are answered. Without it each is closed as soon as it opens. */
	onDialog(answer: (dialog: Dialog) => DialogAnswer | Promise<DialogAnswer>): void {
		this.#answerDialog = answer;
	}

	/** Ends the session; resolves when the server has ended. */
	async close(): Promise<void> {
		this.#output.end();
		await this.closed;
	}

	async #listen(input: Readable): Promise<void> {
		try {
			for await (const line of readLines(input)) if ("text" in line) this.#take(line.text);
		} catch {
			// A broken connection is a closed one.
		}
		for (const { reject } of this.#pending.values()) reject(gone());
		this.#pending.clear();
	}

	#take(text: string): void {
		const line = parse(text);
		if (line === null) return;
		if (line.type === "response") {
			const pending = typeof line.id === "string" ? this.#pending.get(line.id) : undefined;
			if (typeof line.id === "string") this.#pending.delete(line.id);
			if (line.success) pending?.resolve(line.data ?? null);
			else pending?.reject(new PiError("command_failed", line.error));
			return;
		}
		for (const listener of [...this.#listeners]) listener(line);
		if (line.type === "hook_ui_request" && line.method !== "notify") void this.#answer(line);
	}

	async #answer(dialog: Dialog): Promise<void> {
		let answer: DialogAnswer = null;
		try {
			answer = (await this.#answerDialog?.(dialog)) ?? null;
		} catch (error) {
			// Whoever waits for the dialog must not wait for ever.
			process.emitWarning(`The dialog ${JSON.stringify(dialog.title)} was closed: ${errorText(error)}`);
		}
		const base = { type: "hook_ui_response", id: dialog.id } as const;
		let response: HookUIResponse = { ...base, cancelled: true };
		if (typeof answer === "boolean") response = { ...base, confirmed: answer };
		else if (answer !== null) response = { ...base, value: answer };
		this.#send(response);
	}

	#send(value: object): void {
		if (!this.#output.destroyed && !this.#output.writableEnded) this.#output.write(`${JSON.stringify(value)}\n`);
	}
}

function gone(): PiError {
	return new PiError("command_failed", "The pi that was driven has ended");
}

/** What a server wrote, told apart by its type; null for what is no line of the protocol. */
function parse(text: string): RpcEvent | RpcResponse | null {
	try {
		const value: unknown = JSON.parse(text);
		const isLine = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
		// The other side is this program: a type stands for its fields.
		return isLine ? (value as RpcEvent | RpcResponse) : null;
	} catch {
		return null;
	}
}
