import { constants } from "node:os";
import { posix } from "node:path";
import { PiError } from "../../errors.js";
import { linkSignals } from "../../util/abort.js";
import { monotonicMs } from "../../util/clock.js";
import type { ProcessResult } from "../../util/process.js";
import type {
	FileKind,
	HostEntry,
	HostExecOptions,
	HostFile,
	HostStat,
	OpenFileOptions,
	SearchRequest,
	SearchResult,
	ToolHost,
	WrittenFile,
} from "./machine.js";
import { posixSearch, withFilters } from "./posix-search.js";
import { ripgrepArguments, runSearch, searchOptions } from "./ripgrep.js";
import { type ShellCallEnd, type ShellCallOptions, ShellCalls } from "./shell-call.js";
import type { ShellEngine, ShellHostOptions } from "./shell-engine.js";
import { EXEC, EXIT_ERRORS, EXIT_KINDS, LIST, PROBE, READ, REAL_PATH, SEARCH, STAT, WRITE } from "./shell-scripts.js";
import { rejectCommand } from "./spawn-shell.js";
import { StreamedFile } from "./streamed-file.js";

/** What the probe finds out about a host. */
interface Facts {
	cwd: string;
	realCwd: string;
	home: string;
	realHome: string;
	tmpDir: string;
	platform: string;
	/** Path of ripgrep; empty if the host does not have it. */
	ripgrep: string;
	shell: string;
	/** As `ToolHost.warnings`. */
	warnings: readonly string[];
	/** Programs that searches without ripgrep need and the host does not have. */
	missing: readonly string[];
}

const KINDS: Readonly<Record<string, FileKind>> = { d: "directory", f: "file", o: "other", l: "link", L: "link" };

/** Gives what follows a process group of its own. */
const LEAD = ["sh", "-c", 'exec setsid "$@"', "sh"];
const NO_GROUP = "they have no process group of their own, and setsid is not installed there";

/** As `CreateShellHost`. @param options `onStep`: receives what it waits for, as in "it took long to connect" */
export async function createShellHost(
	engine: ShellEngine,
	options: ShellHostOptions & { onStep?(step: string): void } = {},
): Promise<ToolHost> {
	const calls = new ShellCalls(engine);
	const { cwd = "", signal, onStep } = options;
	onStep?.("to start a shell there, which reads its start files first, such as ~/.bashrc");
	const onBegin = () => onStep?.(`to open the directory ${cwd || "~"} there`);
	const { end, output } = await collect(calls, PROBE, [cwd], signal, onBegin);
	signal?.throwIfAborted();
	if (end.status === null) {
		throw new PiError("host_unreachable", `Cannot reach ${engine.name}: ${end.problem || "the connection was closed"}`);
	}
	const facts = output.toString().split("\0");
	if (end.status !== "0" || facts.length < 10) {
		throw new PiError(
			"host_unreachable",
			`Cannot use ${engine.name}: ${describeDirectory(cwd, Number(end.status))} there`,
			{
				hint: "name a directory that exists and that you may enter",
			},
		);
	}
	const [
		at = "/",
		realCwd = at,
		home = "/",
		realHome = home,
		tmpDir = "/tmp",
		system = "",
		ripgrep = "",
		shell = "sh",
		missing = "",
		group = "",
	] = facts;
	const platform = system.toLowerCase();
	const leading =
		group === "setsid" ? new ShellCalls({ spawn: (command) => engine.spawn([...LEAD, ...command]) }) : calls;
	const warnings =
		group === "none" ? [`Processes on ${engine.name} can survive an abort and the end of pi: ${NO_GROUP}`] : [];
	return new ShellHost(engine, leading, {
		warnings: [...(engine.warnings ?? []), ...warnings],
		...{ cwd: at, realCwd, home, realHome, tmpDir, platform, ripgrep, shell },
		missing: missing.split(" ").filter((program) => program !== ""),
	});
}

/** Runs a script and collects its output. Never rejects. */
async function collect(
	calls: ShellCalls,
	script: string,
	args: readonly string[],
	signal: AbortSignal | undefined,
	onBegin?: () => void,
): Promise<{ end: ShellCallEnd; output: Buffer }> {
	const chunks: Buffer[] = [];
	const end = await calls.run((mark) => ["sh", "-c", script, "sh", mark, ...args], {
		...(signal && { signal }),
		...(onBegin && { onBegin }),
		onOutput(chunk) {
			chunks.push(chunk);
			return undefined;
		},
	});
	return { end, output: Buffer.concat(chunks) };
}

/** The command line of `EXEC`. */
function wrap(
	mark: string,
	{ cwd, bytes, streams }: { cwd: string; bytes: number; streams: "join" | "drain" | "split" },
	command: readonly string[],
): string[] {
	return ["sh", "-c", EXEC, "sh", mark, cwd, String(bytes), streams, ...command];
}

class ShellHost implements ToolHost {
	readonly name: string;
	readonly note?: string;
	readonly warnings: readonly string[];
	readonly sharesFiles: boolean;
	readonly cwd: string;
	readonly home: string;
	readonly tmpDir: string;
	readonly platform: string;

	constructor(
		private readonly engine: ShellEngine,
		private readonly calls: ShellCalls,
		private readonly facts: Facts,
	) {
		this.name = engine.name;
		if (engine.note !== undefined) this.note = engine.note;
		this.warnings = facts.warnings;
		this.sharesFiles = engine.sharesFiles === true;
		this.cwd = facts.cwd;
		this.home = facts.home;
		this.tmpDir = facts.tmpDir;
		this.platform = facts.platform;
	}

	async exec(command: string | readonly string[], options: HostExecOptions = {}): Promise<ProcessResult> {
		const startedAt = monotonicMs();
		const isLine = typeof command === "string";
		const rejection = rejectCommand(isLine ? command : command.join(" "));
		if (rejection) return rejection;
		const { cwd = this.cwd, env = {}, shellPath = this.facts.shell, stdin = "", ...others } = options;
		const program = isLine ? [shellPath, "-c", command] : command;
		const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
		const words = variables.length === 0 ? program : ["env", ...variables, ...program];
		const bytes = Buffer.byteLength(stdin);
		const streams = isLine ? (others.waitsForGroup ? "drain" : "join") : "split";
		const end = await this.calls.run((mark) => wrap(mark, { cwd, bytes, streams }, words), {
			...others,
			splits: !isLine,
			...(bytes > 0 && { stdin }),
		});
		const { endedBy, leftRunning } = end;
		const result = (fields: Partial<ProcessResult>): ProcessResult => ({
			exitCode: null,
			exitSignal: null,
			endedBy,
			leftRunning,
			durationMs: Math.round(monotonicMs() - startedAt),
			...fields,
		});
		if (endedBy !== "itself") return result({});
		if (end.status?.startsWith("D")) {
			const reason = describeDirectory(cwd, Number(end.status.slice(1)));
			return result({ exitCode: 126, failure: `Cannot start ${program[0]}: ${reason}` });
		}
		switch (end.status) {
			case null:
				return result({ failure: describeLoss(this.name, end) });
			case "N":
				return result({ exitCode: 127, failure: `${words[0]}: command not found` });
			case "I":
				return result({ exitCode: 126, failure: `Cannot start ${program[0]}: its input could not be stored` });
		}
		const code = Number(end.status);
		const exitSignal = code > 128 ? signalOf(code - 128) : null;
		return result(exitSignal === null ? { exitCode: code } : { exitSignal });
	}

	async openFile(path: string, { offset = 0, signal }: OpenFileOptions = {}): Promise<HostFile> {
		const stop = new AbortController();
		const linked = signal ? linkSignals(signal, stop.signal) : { signal: stop.signal, unlink() {} };
		const file = new StreamedFile(() => stop.abort());
		const command = (mark: string) => ["sh", "-c", READ, "sh", mark, path, String(offset)];
		const options: ShellCallOptions = { signal: linked.signal, onOutput: (chunk) => file.push(chunk) };
		void this.calls.run(command, options).then((end) => {
			linked.unlink();
			file.finish(this.#failure(end, path, "read", signal));
		});
		await file.opened;
		return file;
	}

	async writeFile(
		path: string,
		data: string | Uint8Array,
		{ signal }: { signal?: AbortSignal } = {},
	): Promise<WrittenFile> {
		const bytes = Buffer.byteLength(data);
		let output = "";
		const end = await this.calls.run((mark) => ["sh", "-c", WRITE, "sh", mark, path, String(bytes)], {
			...(signal && { signal }),
			stdin: data,
			endsStdin: true,
			onOutput(chunk) {
				output += chunk.toString();
				return undefined;
			},
		});
		const failure = this.#failure(end, path, "write", signal);
		if (failure !== undefined) throw failure;
		return { created: output.startsWith("1"), realPath: posix.resolve(output.slice(1)) };
	}

	async stat(path: string, options: { signal?: AbortSignal } = {}): Promise<HostStat> {
		const output = (await this.#run(STAT, [path], path, options.signal)).toString();
		const kind = output.startsWith("d") ? "directory" : output.startsWith("f") ? "file" : "other";
		return { kind, size: Number(output.slice(1)) || 0 };
	}

	async list(path: string, options: { signal?: AbortSignal } = {}): Promise<HostEntry[]> {
		const output = await this.#run(LIST, [path], path, options.signal);
		const fields = output.toString().split("\0");
		const entries: HostEntry[] = [];
		for (let at = 0; at + 1 < fields.length; at += 2) {
			const letter = fields[at]?.[0] ?? "o";
			const name = fields[at]?.slice(1) ?? "";
			const target = fields[at + 1] ?? "";
			const kind = KINDS[letter] ?? "other";
			const isFolder = letter === "d" || letter === "L";
			entries.push({ name, kind, isFolder, ...(target === "" ? {} : { target }) });
		}
		return entries;
	}

	async realPath(path: string): Promise<string> {
		const { cwd, realCwd, home, realHome } = this.facts;
		if (path === cwd) return realCwd;
		if (path === home) return realHome;
		return posix.resolve((await this.#run(REAL_PATH, [path], path, undefined)).toString());
	}

	async search(request: SearchRequest): Promise<SearchResult> {
		const { path, lines } = request;
		const program = this.facts.ripgrep
			? [this.facts.ripgrep, ...ripgrepArguments(request)]
			: posixSearch(request, { name: this.name, missing: this.facts.missing });
		if (typeof program === "string") return { status: "failed", problem: program };
		const args = [lines ? "lines" : "files", path, ...program];
		/** `d` or `f`; without ripgrep, of a directory followed by `g` or `a`. */
		let place = "";
		const length = () => (this.facts.ripgrep !== "" || place === "f" ? 1 : 2);
		let failure: unknown;
		const result = await runSearch(
			async ({ signal, onOutput }) => {
				const end = await this.calls.run((mark) => ["sh", "-c", SEARCH, "sh", mark, ...args], {
					signal,
					splits: true,
					onOutput(chunk, stream) {
						if (stream === "stderr") return onOutput(chunk, stream);
						let rest = chunk;
						for (; place.length < length() && rest.length > 0; rest = rest.subarray(1)) {
							place += rest.toString("latin1", 0, 1);
						}
						return rest.length > 0 ? onOutput(rest, stream) : undefined;
					},
				});
				const isSearched = place !== "" && end.status !== null;
				if (!isSearched) failure = this.#failure(end, path, "read", request.signal);
				return { exitCode: Number(end.status) };
			},
			searchOptions(this.facts.ripgrep ? request : withFilters(request), () => place === "f"),
		);
		if (failure !== undefined && result.status === "done" && result.complete) throw failure;
		return place === "da" && result.status === "done" ? { ...result, includesIgnored: true } : result;
	}

	async dispose(): Promise<void> {
		await this.calls.endAll();
		await this.engine.dispose?.();
	}

	async #run(script: string, args: readonly string[], path: string, signal: AbortSignal | undefined): Promise<Buffer> {
		const { end, output } = await collect(this.calls, script, args, signal);
		const failure = this.#failure(end, path, "read", signal);
		if (failure !== undefined) throw failure;
		return output;
	}

	/** Why a script did not succeed; undefined if it did. */
	#failure(end: ShellCallEnd, path: string, access: Access, signal: AbortSignal | undefined): unknown {
		if (signal?.aborted) return signal.reason;
		return failureOf(this.name, end, path, access);
	}
}

/** The signal with this number; null if none has it. */
function signalOf(number: number): NodeJS.Signals | null {
	const found = Object.entries(constants.signals).find(([, each]) => each === number);
	return found ? (found[0] as NodeJS.Signals) : null;
}

/** What was tried with a file. */
type Access = "read" | "write";

const REASONS: Readonly<Record<string, string>> = {
	ENOENT: "no such file",
	EACCES: "permission denied",
	ENOTDIR: "not a directory",
	EISDIR: "it is a directory",
	ELOOP: "its symbolic links form a loop",
};

/** Why a directory cannot be the working directory. @param code that of the script */
function describeDirectory(path: string, code: number): string {
	const name = EXIT_ERRORS.get(code);
	if (name === "EACCES") return `you have no permission to enter the directory ${path}`;
	return name === "ENOTDIR" || EXIT_KINDS.has(code)
		? `${path} is not a directory`
		: `the directory ${path} does not exist`;
}

/** The error of a script that nobody ended; undefined if it succeeded. */
function failureOf(host: string, end: ShellCallEnd, path: string, access: Access): Error | undefined {
	if (end.status === null) return new PiError("host_unreachable", describeLoss(host, end));
	const code = Number(end.status);
	if (code === 0) return undefined;
	const start = `Cannot ${access} ${path}`;
	const kind = EXIT_KINDS.get(code);
	if (kind !== undefined) return new PiError("file_unreadable", `${start}: it is ${kind}`);
	const name = EXIT_ERRORS.get(code);
	if (name === undefined) {
		return new PiError("file_unreadable", `${start}${end.problem === "" ? "" : `: ${end.problem}`}`);
	}
	return Object.assign(new Error(`${start}: ${REASONS[name]}`), { code: name });
}

/** Why a connection did not last until the end of a program. */
function describeLoss(host: string, { problem }: ShellCallEnd): string {
	const reason = problem === "" ? "" : `: ${problem.split("\n").join(" ")}`;
	return `The connection to ${host} was lost${reason}`;
}
