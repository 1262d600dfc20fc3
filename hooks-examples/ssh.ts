/**
 * Runs the tools on another machine: `pi --on ssh://user@host:2222/path`. `ssh:host` works in the home directory there,
 * `ssh:host:~/src` and `ssh://host/~/src` in a directory below it.
 *
 * The installed `ssh` connects, with your configuration, keys and agent, and never asks: the host key must be known, and a
 * key with a passphrase must be in the agent. All commands share one connection, yours if you have one open with
 * `ControlMaster`, else one that ends with pi. When it is lost, running commands fail, and the next one connects again.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type EngineProcess, type HookAPI, quoteForShell } from "@mariozechner/pi-coding-agent/hooks";

/** Waits before each attempt to connect again, ms. */
const RECONNECT_DELAYS_MS = [0, 500, 1500, 3000];
/** No further attempt starts after this time, ms. */
const RECONNECT_MS = 10_000;
/** What servers accept on one connection unless configured otherwise. ssh would also connect again, but with a message. */
const MAX_SESSIONS = 10;
/** Wait for a place in the shared connection, ms. */
const SESSION_WAIT_MS = 200;
/** A socket's path has at most 104 bytes, of which ssh needs 17 for a temporary name and this hook 16. */
const MAX_TMP_BYTES = 70;

/** For every use of `ssh`: no questions, nothing that disturbs a command. */
const COMMON = ["-T", ...options("BatchMode=yes", "ClearAllForwardings=yes", "RemoteCommand=none")];
/** Without greetings. */
const CLIENT = [...COMMON, ...options("LogLevel=ERROR", "ControlMaster=no")];
/**
 * Finds a dead connection within 15 s. The local command runs when other processes can use the connection. That the server
 * closed the connection counts as information for ssh, not as an error.
 */
const MASTER = [
	...["-M", "-N", ...COMMON, ...options("LogLevel=INFO")],
	...options("ControlPersist=no", "ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=3"),
	...options("PermitLocalCommand=yes", "LocalCommand=echo connected"),
];

/**
 * What the user may have configured for other uses, by its name in the output of `ssh -G`: pi needs stdin, the foreground and a
 * program. Older versions of ssh do not know them, and would refuse to start.
 */
const NEWER_OPTIONS = [
	["stdinnull", "StdinNull=no"],
	["forkafterauthentication", "ForkAfterAuthentication=no"],
] as const;
const NEWER_CLIENT_OPTIONS = [...NEWER_OPTIONS, ["sessiontype", "SessionType=default"]] as const;

/** Runs the shared connection. Ends it, and removes its directory, when stdin ends, as after any end of pi. */
const KEEPER = `
directory=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
ssh=$!
{ cat <&3 >/dev/null; kill "$ssh"; } 2>/dev/null &
exec 3<&-
wait "$ssh"
code=$?
rm -rf -- "$directory"
exit "$code"
`;

/** What to do about what ssh says. The first match counts. */
const ADVICE: readonly (readonly [RegExp, (target: Target) => string])[] = [
	[
		/has changed|IDENTIFICATION HAS CHANGED/,
		({ host }) =>
			`The host key has changed: find out why; after a new installation remove the old key (ssh-keygen -R ${host})`,
	],
	[
		/Host key verification failed|host key is known/,
		({ command }) => `The host key is unknown: run "${command}" in a terminal once and accept the key`,
	],
	[
		/Permission denied|authentication failures|No more authentication methods/,
		({ command }) => `Add the key to the agent with ssh-add, and try "${command}" in a terminal`,
	],
	[/Could not resolve/, () => "Check the name, or define it as Host in ~/.ssh/config"],
	[/refused/, ({ command }) => `Check the port, and that sshd runs there: "${command}"`],
	[/timed out|No route|unreachable|closed|reset|broken/i, ({ command }) => `Check the network, and try "${command}"`],
	[/ENOENT/, () => "Install the OpenSSH client (package openssh-client)"],
];
/** Failures that do not pass by waiting. */
const LASTING = /host key|Permission denied|authentication|configuration option|not found/i;

/** A machine as the user names it. */
export interface Target {
	/** With the user, as ssh understands it: an alias of its configuration, a name or an address. */
	destination: string;
	host: string;
	port: string | undefined;
	/** Absolute, below `~`, or relative to the home directory. */
	cwd: string | undefined;
	/** What the user can try in a terminal. */
	command: string;
}

export default function ssh(pi: HookAPI): void {
	pi.toolHost("ssh", async (spec, { shellHost, signal }) => {
		const target = parseTarget(spec.rest);
		const connection = new Connection(target);
		try {
			await connection.open(signal);
			const engine = {
				name: `ssh ${target.destination}`,
				spawn: (command: readonly string[]) => connection.spawn(command),
				dispose: () => connection.close(),
			};
			return await shellHost(engine, { cwd: target.cwd, signal });
		} catch (error) {
			await connection.close();
			throw error;
		}
	});
}

/** Reads what follows `ssh:`. @throws Error that says what is valid */
export function parseTarget(rest: string): Target {
	const parts =
		/^(?:\/\/)?(?:([\w.+\\][\w.@+\\-]*)@)?(\[[\w:.%]+\]|\w[\w.-]*)(?::(\d{1,5})(?=\/|$))?(?:(\/.*)|:(.+))?$/s.exec(
			rest,
		);
	if (!parts || Number(parts[3] ?? 22) > 65_535) {
		const message = `"ssh:${rest}" names no machine: use ssh://[user@]host[:port][/path] or ssh:[user@]host[:path]`;
		throw Object.assign(new Error(message), { code: "bad_arguments" });
	}
	const [, user, name = "", port, urlPath, path = urlPath] = parts;
	const host = name.replace(/^\[|\]$/g, "");
	const destination = user === undefined ? host : `${user}@${host}`;
	const cwd = path?.replace(/^\/~(?=\/|$)/, "~");
	const command = quoteForShell(["ssh", ...(port === undefined ? [] : ["-p", port]), destination]);
	return { destination, host, port, cwd, command };
}

/** The connection that all commands share. */
class Connection {
	readonly #target: Target;
	readonly #closed = new AbortController();
	/** Options that make a command use the connection; null while it is lost. */
	#share: readonly string[] | null = null;
	/** Names of the options that this version of ssh knows, in lower case. */
	#known: ReadonlySet<string> = new Set();
	/** Number of running commands. */
	#sessions = 0;
	/** Commands that wait for a place, the first to come first. */
	#waiting: (() => void)[] = [];
	#keeper: ChildProcessWithoutNullStreams | undefined;
	#reconnecting: Promise<void> | undefined;

	constructor(target: Target) {
		this.#target = target;
	}

	/** @throws Error with what ssh said and what to do */
	async open(signal?: AbortSignal): Promise<void> {
		const [hasOwnMaster, known] = await Promise.all([this.#hasOwnMaster(), this.#knownOptions()]);
		this.#known = known;
		if (hasOwnMaster) this.#share = [];
		else await this.#startMaster(AbortSignal.any([this.#closed.signal, ...(signal ? [signal] : [])]));
	}

	/** Starts a program there; after a lost connection as soon as there is one again. */
	spawn(command: readonly string[]): EngineProcess {
		if (this.#share !== null && this.#sessions < MAX_SESSIONS) return this.#start(command, this.#share);
		if (this.#share !== null)
			return new LateProcess(this.#freeSession().then(() => this.#start(command, this.#share ?? [])));
		this.#reconnecting ??= this.#reconnect().finally(() => {
			this.#reconnecting = undefined;
		});
		return new LateProcess(this.#reconnecting.then(() => this.#start(command, this.#share ?? [])));
	}

	/** Never rejects. */
	async close(): Promise<void> {
		this.#closed.abort();
		const keeper = this.#keeper;
		if (keeper === undefined || keeper.exitCode !== null || keeper.signalCode !== null) return;
		keeper.ref();
		keeper.stdin.end();
		await once(keeper, "exit");
	}

	#start(command: readonly string[], share: readonly string[]): ChildProcessWithoutNullStreams {
		const connection = this.#sessions < MAX_SESSIONS ? share : ["-S", "none"];
		const client = [...CLIENT, ...this.#newer(NEWER_CLIENT_OPTIONS)];
		const process = spawnSsh([...client, ...connection, ...this.#address(), quoteForShell(command)]);
		this.#sessions++;
		process.once("close", () => {
			this.#sessions--;
			this.#waiting.shift()?.();
		});
		return process;
	}

	/** Resolves when a command has ended and left its place, or soon: another connection takes longer than most commands. */
	#freeSession(): Promise<void> {
		return new Promise((resolve) => {
			const go = () => {
				clearTimeout(timer);
				this.#waiting = this.#waiting.filter((other) => other !== go);
				resolve(this.#closed.signal.aborted ? Promise.reject(this.#closed.signal.reason) : undefined);
			};
			const timer = setTimeout(go, SESSION_WAIT_MS);
			this.#waiting.push(go);
		});
	}

	#address(): string[] {
		const { port, destination } = this.#target;
		return [...(port === undefined ? [] : ["-p", port]), "--", destination];
	}

	#newer(list: readonly (readonly [string, string])[]): string[] {
		return options(...list.flatMap(([name, option]) => (this.#known.has(name) ? [option] : [])));
	}

	/** The options of `ssh -G`; none if it fails: connecting then reports why. */
	async #knownOptions(): Promise<ReadonlySet<string>> {
		const print = spawnSsh(["-G", ...this.#address()]);
		let text = "";
		print.stdout.on("data", (chunk: Buffer) => {
			text += chunk.toString();
		});
		print.stderr.resume();
		await once(print, "close").catch(() => {});
		return new Set(text.split("\n").map((line) => line.split(" ")[0] ?? ""));
	}

	/** Whether the user has a shared connection open; it may have needed a password that pi cannot ask for. */
	async #hasOwnMaster(): Promise<boolean> {
		const check = spawnSsh(["-O", "check", ...this.#address()]);
		check.stdout.resume();
		check.stderr.resume();
		try {
			const [code] = await once(check, "close");
			return code === 0;
		} catch (error) {
			throw explain(this.#target, `ssh: ${error instanceof Error ? error.message : error}`);
		}
	}

	async #startMaster(signal: AbortSignal): Promise<void> {
		signal.throwIfAborted();
		const parent = Buffer.byteLength(tmpdir()) > MAX_TMP_BYTES ? "/tmp" : tmpdir();
		const directory = await mkdtemp(join(parent, "pi-ssh-")); // mode 0700
		const share = ["-S", join(directory, "s")];
		const master = ["ssh", ...MASTER, ...this.#newer(NEWER_OPTIONS), ...share, ...this.#address()];
		const keeper = spawn("/bin/sh", ["-c", KEEPER, "sh", directory, ...master], { stdio: "pipe", detached: true });
		this.#keeper = keeper;
		keeper.stdin.on("error", () => {}); // it may have ended
		const giveUp = () => keeper.stdin.end();
		signal.addEventListener("abort", giveUp);
		let said = "";
		keeper.stderr.on("data", (chunk: Buffer) => {
			said = (said + chunk.toString()).slice(-4000);
		});
		try {
			await new Promise<void>((resolve, reject) => {
				keeper.stdout.once("data", resolve);
				keeper.once("error", reject);
				keeper.once("close", () => reject(signal.aborted ? signal.reason : explain(this.#target, said)));
			});
		} finally {
			signal.removeEventListener("abort", giveUp);
		}
		this.#share = share;
		keeper.once("exit", () => {
			if (this.#share === share) this.#share = null;
		});
		keeper.unref();
		for (const stream of [keeper.stdin, keeper.stdout, keeper.stderr]) if (stream instanceof Socket) stream.unref();
	}

	async #reconnect(): Promise<void> {
		const startedAt = performance.now();
		let failure: unknown;
		for (const delay of RECONNECT_DELAYS_MS) {
			if (performance.now() - startedAt > RECONNECT_MS) break;
			await sleep(delay, undefined, { signal: this.#closed.signal });
			try {
				return await this.open();
			} catch (error) {
				failure = error;
				if (LASTING.test(String(error))) break;
			}
		}
		throw failure;
	}
}

/** A program that starts when the connection is back. */
class LateProcess extends EventEmitter implements EngineProcess {
	readonly stdin = new PassThrough();
	readonly stdout = new PassThrough();
	readonly stderr = new PassThrough();
	#process: ChildProcessWithoutNullStreams | undefined;
	#isKilled = false;

	constructor(start: Promise<ChildProcessWithoutNullStreams>) {
		super();
		start.then(
			(process) => this.#connect(process),
			(error: unknown) => this.#end(255, null, `${error instanceof Error ? error.message : error}\n`),
		);
	}

	kill(signal?: NodeJS.Signals): void {
		this.#isKilled = true;
		if (this.#process) this.#process.kill(signal);
		else this.#end(null, "SIGTERM");
	}

	#connect(process: ChildProcessWithoutNullStreams): void {
		process.stdin.on("error", () => {}); // the program need not read it
		if (this.#isKilled) {
			process.stdin.end();
			return;
		}
		this.#process = process;
		this.stdin.pipe(process.stdin);
		process.stdout.pipe(this.stdout);
		process.stderr.pipe(this.stderr);
		process.once("error", (error) => this.emit("error", error));
		process.once("close", (code, signal) => this.#end(code, signal));
	}

	/** The listener must find both streams read, as with a `ChildProcess`. */
	#end(code: number | null, signal: NodeJS.Signals | null, message = ""): void {
		this.stdout.end();
		this.stderr.end(message);
		const read = [this.stdout, this.stderr].map((stream) => finished(stream, { writable: false }));
		Promise.allSettled(read).then(() => this.emit("close", code, signal));
	}
}

function spawnSsh(args: readonly string[]): ChildProcessWithoutNullStreams {
	// Not in the terminal's process group: Ctrl+C is for pi.
	return spawn("ssh", args, { stdio: "pipe", detached: true });
}

/** What ssh said, and what the user can do about it. */
function explain(target: Target, said: string): Error {
	const lines = said
		.split(/\r?\n/)
		.map((line) => line.replace(/^(ssh|sh): (\d+: )?/, "").trim())
		.filter((line) => line !== "" && !/^[@]+$/.test(line));
	const last = (lines.at(-1) ?? "ssh ended without a message").replace(/\.$/, "");
	const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1](target) ?? `Try "${target.command}" in a terminal`;
	const message = `Cannot connect to ${target.destination}: ${last}. ${advice}`;
	return Object.assign(new Error(message), { code: "host_unreachable" });
}

function options(...words: readonly string[]): string[] {
	return words.flatMap((word) => ["-o", word]);
}
