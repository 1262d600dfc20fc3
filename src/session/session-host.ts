import { dirname } from "node:path";
import { describeError, PiError } from "../errors.js";
import { BUNDLED_HOOKS, type BundledHook } from "../hooks/bundled.js";
import type { HookHost } from "../hooks/host-context.js";
import type { HookRegistry } from "../hooks/registry.js";
import { isInside, ReadableDirectories, withReadable } from "../tools/host/readable-directories.js";
import type { ToolHost } from "../tools/host/tool-host.js";
import { revealLine } from "../util/reveal.js";
import type { RecordedHost } from "./session-state.js";

/** The word of `--on` for the machine where pi runs. */
const LOCAL = "local";
const RETRY = "Try again";
const CONTINUE_HERE = "Continue on this machine";
const CONNECT = "Connect to it";

/** What connecting needs of the session. */
export interface HostConnection {
	/** Changes when a hook is added. */
	readonly registry: HookRegistry;
	/** Turns on the bundled hook that provides a host. */
	addBundled(hook: BundledHook): Promise<void>;
	host: HookHost;
	signal: AbortSignal;
	/** Shows the user a line about the host. */
	warn(line: string): void;
	/** Asks the user; null: there is nobody to ask. */
	ask: ((title: string, choices: readonly string[]) => Promise<string | null>) | null;
}

/** The machine that the log of a session names. */
export interface LoggedHost extends RecordedHost {
	/** True: the file is among the user's sessions. Others may have written other files, and no file may choose a machine. */
	isOwn: boolean;
}

/** Which machine the user chose. */
export interface HostChoice {
	/** `--on`, for the session with which pi starts. */
	on: string | undefined;
	/** The setting `on`: for sessions that name no machine. */
	setting: string | undefined;
	/** True if `local` is the host that `on` names: that of the session that started this one. */
	isConnected?: boolean;
}

/** A machine that is connected, before tools work there. */
export interface PreparedHost {
	/** Lets tools work there, and ends the connection to the machine before. */
	use(): Promise<RecordedHost>;
	/** Ends the connection that it would have used. */
	cancel(): Promise<void>;
}

/** The machine on which the tools of a session work. Until it is connected, no tool works. */
export class SessionHost {
	#current: ToolHost;
	/** The connected host that the session must dispose of. */
	#own: ToolHost | null = null;
	/** Null: the machine where pi runs. */
	#spec: string | null;
	/** The log, if it and not the user names the machine. */
	readonly #logged: LoggedHost | null;

	/**
	 * @param local used without a spec
	 * @param logged the machine that the log names
	 * @param readable what tools on another machine can read on this one
	 */
	constructor(
		private readonly local: ToolHost,
		private readonly choice: HostChoice,
		logged: LoggedHost | null,
		private readonly readable: () => ReadableDirectories,
	) {
		this.#logged = choice.on === undefined && typeof logged?.on === "string" ? logged : null;
		this.#spec = specOf(choice.on ?? logged?.on ?? choice.setting);
		this.#current = this.#spec === null || choice.isConnected ? local : unconnected(local, this.#spec);
	}

	get current(): ToolHost {
		return this.#current;
	}

	/** As the log records it. */
	get recorded(): RecordedHost {
		return { on: this.#spec, name: this.#spec === null ? "" : this.#current.name };
	}

	/**
	 * Connects to the host that the user, or the session, named. Call it when the hooks have loaded.
	 * @throws PiError `bad_arguments` for a spec that no hook knows; `host_unreachable`
	 */
	async connect(connection: HostConnection): Promise<void> {
		const spec = this.#spec;
		if (spec === null || this.choice.isConnected) return;
		const logged = this.#logged;
		const opened = logged ? await this.#reopen(spec, logged, connection) : await this.#open(spec, connection);
		this.#use(opened, opened === null ? null : spec);
	}

	/**
	 * Connects to the machine that another session names, or to that of the user's choice if it names none.
	 * @throws PiError `host_unreachable`, `bad_arguments`
	 */
	async prepare(logged: LoggedHost | null, connection: HostConnection): Promise<PreparedHost> {
		const spec = specOf(logged?.on ?? this.choice.on ?? this.choice.setting);
		if (spec === this.#spec) return { use: async () => this.recorded, cancel: async () => {} };
		const isOwn = logged?.isOwn !== false;
		const opened = spec === null ? null : await this.#reopen(spec, { isOwn }, connection);
		return {
			use: async () => {
				const previous = this.#own;
				this.#use(opened, opened === null ? null : spec);
				await previous?.dispose();
				return this.recorded;
			},
			cancel: async () => opened?.dispose(),
		};
	}

	/** Ends the connection. */
	async dispose(): Promise<void> {
		await this.#own?.dispose();
	}

	#use(opened: ToolHost | null, spec: string | null): void {
		this.#own = opened;
		this.#spec = spec;
		this.#current = opened === null ? this.local : withReadable(opened, this.local, this.readable);
	}

	/** Connects to the machine on which a session ran. @returns null if the user chose this machine instead */
	async #reopen(
		spec: string,
		{ isOwn }: Pick<LoggedHost, "isOwn">,
		connection: HostConnection,
	): Promise<ToolHost | null> {
		if (!isOwn) {
			const problem = `This session file, which is not among your sessions, names the machine ${revealLine(spec)}`;
			const answer = await connection.ask?.(problem, [CONTINUE_HERE, CONNECT]);
			if (answer === CONTINUE_HERE) return null;
			if (answer !== CONNECT) {
				throw new PiError("host_unreachable", problem, { hint: `choose one with --on ${LOCAL} or --on <spec>` });
			}
		}
		for (;;) {
			try {
				return await this.#open(spec, connection);
			} catch (cause) {
				connection.signal.throwIfAborted();
				const problem = `This session ran on ${spec}: ${describeError(cause)}`;
				const answer = await connection.ask?.(problem, [RETRY, CONTINUE_HERE]);
				if (answer === CONTINUE_HERE) return null;
				if (answer === RETRY) continue;
				throw new PiError("host_unreachable", problem, {
					cause,
					hint: `try again later, or continue it elsewhere with --on ${LOCAL} (this machine) or --on <spec>`,
				});
			}
		}
	}

	async #open(text: string, connection: HostConnection): Promise<ToolHost> {
		const { host, signal } = connection;
		const { openToolHost, readHostSpec } = await import("../hooks/tool-hosts.js");
		const spec = readHostSpec(text);
		const bundledHook = BUNDLED_HOOKS.find(({ hosts = [] }) => spec !== null && hosts.includes(spec.scheme));
		if (spec && bundledHook && !connection.registry.toolHosts.has(spec.scheme))
			await connection.addBundled(bundledHook);
		const { registry } = connection;
		const found = spec && registry.toolHosts.get(spec.scheme);
		if (!found) {
			const bundled = BUNDLED_HOOKS.flatMap(({ hosts = [] }) => hosts);
			const known = [...new Set([...bundled, ...registry.toolHosts.keys()])].sort().map((scheme) => `${scheme}:`);
			throw new PiError("bad_arguments", `No hook provides the host ${JSON.stringify(text)}`, {
				hint: `the hosts are ${known.join(", ")}`,
			});
		}
		const opened = await openToolHost(found, spec, { host, signal });
		for (const line of opened.warnings ?? []) connection.warn(line);
		return opened;
	}
}

function specOf(on: string | null | undefined): string | null {
	return on === undefined || on === null || on === LOCAL ? null : on;
}

/**
 * The directories of this machine that tools on another one can read: saved output, and those of skills. Of a skill that is no
 * directory of its own, such as a SKILL.md in the home directory, only the file.
 */
export function readableDirectories(
	tmpDir: string,
	skills: readonly { path: string }[],
	{ cwd, home }: { cwd: string; home: string },
): ReadableDirectories {
	const own = skills.flatMap(({ path }) => {
		const directory = dirname(path);
		return isInside(directory, cwd) || isInside(directory, home) ? [path] : [path, directory];
	});
	return new ReadableDirectories([tmpDir, ...own]);
}

/** A host on which nothing works yet: no tool may run on this machine instead. */
function unconnected(local: ToolHost, name: string): ToolHost {
	const { cwd, home, tmpDir, platform } = local;
	const refuse = async () => {
		throw new PiError("host_unreachable", `${name} is not connected`);
	};
	return {
		...{ name, cwd, home, tmpDir, platform },
		async exec() {
			const failure = `${name} is not connected`;
			return { exitCode: 126, exitSignal: null, endedBy: "itself", leftRunning: false, durationMs: 0, failure };
		},
		...{ openFile: refuse, writeFile: refuse, stat: refuse, list: refuse, realPath: refuse, search: refuse },
		dispose: async () => {},
	};
}
