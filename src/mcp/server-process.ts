import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { type JSONRPCMessage, SdkError, SdkErrorCode, type Transport } from "@modelcontextprotocol/client";
import type { Environment } from "../config/paths.js";
import { errorText } from "../errors.js";
import { sleep } from "../util/abort.js";
import { isRecord } from "../util/is-record.js";
import { announcedStart, endGroup, isGroupAlive, startFailure } from "../util/process.js";
import { prepareReaper, trackGroup, untrackGroup } from "../util/reaper.js";
import { MessageLines, REFUSED_CODE, TOO_LONG_TEXT } from "./message-lines.js";

/** Time for a server to end after its stdin was closed, ms. */
const GRACE_MS = 300;
/** Maximum wait for the last messages of a server that has ended, while another process holds its pipes, ms. */
const LINGER_MS = 200;
/** The answer to a request whose result is no object. */
const MALFORMED_TEXT = "its answer is malformed";
/** Maximum length of a line of stdout that is no message, in the log. */
const MAX_LOGGED = 1000;
/** Variables of pi that every server gets; Windows starts no program without its own. */
const INHERITED =
	process.platform === "win32"
		? /^(?:PATH|PATHEXT|SYSTEMROOT|USERPROFILE|TEMP)$/i
		: /^(?:PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+)$/;

export interface ServerProcessOptions {
	command: string;
	args: readonly string[];
	/** The complete environment. */
	env: Readonly<Record<string, string>>;
	cwd: string;
	/** Receives what the server prints to stderr. A returned promise pauses it. */
	onStderr(chunk: Buffer): Promise<void> | undefined;
	/** Receives lines for the log of the server. */
	onLog(line: string): void;
}

/** The complete environment of a server. @param env that of pi @param own what the server's configuration sets */
export function serverEnvironment(env: Environment, own: Readonly<Record<string, string>>): Record<string, string> {
	const inherited = Object.entries(env).flatMap(([name, value]) =>
		INHERITED.test(name) && value !== undefined ? [[name, value] as const] : [],
	);
	return { ...Object.fromEntries(inherited), ...own };
}

/**
 * A server that runs as a child process and speaks MCP over stdin and stdout. In contrast to the transport of the SDK, it is
 * the leader of its own process group, which ends with pi in any case, and a message that is too long only fails its request.
 */
export class ServerProcess implements Transport {
	onclose?: () => void;
	onerror?: (error: Error) => void;
	onmessage?: <T extends JSONRPCMessage>(message: T) => void;
	/** How the process ended: `exit code 1`, `SIGKILL`; null while it runs. */
	ending: string | null = null;
	#child: ChildProcess | null = null;
	#exited: Promise<void> = Promise.resolve();
	#isClosed = false;

	constructor(private readonly options: ServerProcessOptions) {}

	/** Starts the process. @throws Error without a cause, which would be said after the message, with the reason why it could not be started */
	start(): Promise<void> {
		const { command, args, env, cwd, onStderr } = this.options;
		prepareReaper();
		let child: ChildProcess;
		try {
			const start = announcedStart(command, args, { cwd, env });
			const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...start.pipes];
			child = spawn(start.program, start.args, { cwd, env: { ...env }, detached: true, stdio });
		} catch (error) {
			return Promise.reject(new Error(startFailure(command, cwd, error)));
		}
		const group = child.pid;
		if (group === undefined) {
			return new Promise((_, reject) => {
				child.once("error", (error) => reject(new Error(startFailure(command, cwd, error))));
			});
		}
		trackGroup(group);
		this.#child = child;
		const lines = new MessageLines({
			onLine: (line) => this.#receive(line),
			onTooLong: (id) => this.#refuse(id, TOO_LONG_TEXT),
		});
		child.stdout?.on("data", (chunk: Buffer) => lines.add(chunk));
		child.stderr?.on("data", (chunk: Buffer) => {
			const paused = onStderr(chunk);
			if (paused === undefined) return;
			child.stderr?.pause();
			void paused.finally(() => child.stderr?.resume());
		});
		for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on("error", () => {}); // its exit is reported
		child.on("error", () => {}); // a signal could not be sent; pi signals the group separately
		this.#exited = new Promise((resolve) => {
			child.once("exit", (code, signal) => {
				this.ending = signal ?? `exit code ${code}`;
				resolve();
				// What it has started must not survive it.
				this.#endGroup(group);
				// Its last messages may still be in the pipe.
				setTimeout(() => this.#reportClose(), LINGER_MS);
			});
			child.once("close", () => this.#reportClose());
		});
		return Promise.resolve();
	}

	send(message: JSONRPCMessage): Promise<void> {
		const stdin = this.#child?.stdin;
		const ended = () => new SdkError(SdkErrorCode.ConnectionClosed, "the server has ended");
		if (!stdin || this.ending !== null) return Promise.reject(ended());
		return new Promise((resolve, reject) => {
			stdin.write(`${JSON.stringify(message)}\n`, (error) => {
				if (!error) return resolve();
				// The pipe breaks before the exit is reported, which says why.
				void Promise.race([this.#exited, sleep(LINGER_MS)]).then(() => reject(ended()));
			});
		});
	}

	/** Closes stdin, then ends the process group. Resolves when the process has ended, or was signaled. */
	async close(): Promise<void> {
		const child = this.#child;
		if (!child?.pid || this.ending !== null) return;
		child.stdin?.end();
		await Promise.race([this.#exited, sleep(GRACE_MS)]);
		if (this.ending !== null) return;
		this.#endGroup(child.pid);
		// It must not keep pi running; the reaper knows its group.
		child.unref();
		this.#reportClose();
	}

	#reportClose(): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		this.onclose?.();
	}

	#endGroup(group: number): void {
		if (isGroupAlive(group)) endGroup(group, () => untrackGroup(group));
		else untrackGroup(group);
	}

	#receive(line: string): void {
		let message: unknown;
		try {
			message = withoutResultOfError(JSON.parse(line));
		} catch {
			this.options.onLog(`stdout: ${line.slice(0, MAX_LOGGED)}`);
			return;
		}
		const pass = () => {
			try {
				// The SDK checks the form of what it expects and ignores the rest.
				const id = idOfMalformed(message);
				if (id !== null) this.#refuse(id, MALFORMED_TEXT);
				else if (isMessage(message)) this.onmessage?.(message);
				else this.options.onLog(`no message: ${line.slice(0, MAX_LOGGED)}`);
			} catch (error) {
				this.options.onLog(`invalid message: ${errorText(error)}`);
			}
		};
		// The SDK handles notifications in a microtask, and drops those of a call that has been answered meanwhile.
		if (isRecord(message) && !("method" in message)) queueMicrotask(pass);
		else pass();
	}

	#refuse(id: string | number | undefined, message: string): void {
		this.options.onLog(message);
		if (id !== undefined) this.onmessage?.({ jsonrpc: "2.0", id, error: { code: REFUSED_CODE, message } });
	}
}

/** The message; an error without the result that some servers add, such as null. The SDK would ignore it. */
function withoutResultOfError(message: unknown): unknown {
	if (!isRecord(message) || !("result" in message) || !isRecord(message.error)) return message;
	const { result: _, ...error } = message;
	return error;
}

/** The id of an answer whose result is no object; null for other messages. The SDK ignores it, and its request waits for long. */
function idOfMalformed(value: unknown): string | number | null {
	if (!isRecord(value) || !("result" in value) || isRecord(value.result)) return null;
	return typeof value.id === "string" || typeof value.id === "number" ? value.id : null;
}

function isMessage(value: unknown): value is JSONRPCMessage {
	return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}
