import { dirname } from "node:path";
import { describeError, PiError } from "../../errors.js";
import { BUNDLED_HOOKS } from "../../hooks/bundled.js";
import type { BundledHook } from "../../hooks/bundled-hook.js";
import type { HookSession } from "../../hooks/context-object.js";
import type { HookRegistry } from "../../hooks/hook-registry.js";
import type { RecordedMachine } from "../../log/last-choices.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import { isInside, ReadableDirectories, withReadable } from "../../tools/machine/readable-directories.js";
import { revealLine } from "../../util/reveal.js";

/** The word of `--on` for the machine where pi runs. */
const LOCAL = "local";
const RETRY = "Try again";
const CONTINUE_HERE = "Continue on this machine";
const CONNECT = "Connect to it";

/** What connecting needs of the session. */
export interface MachineConnection {
	/** Changes when a hook is added. */
	readonly registry: HookRegistry;
	/** Turns on the bundled hook that provides a host. */
	addBundled(hook: BundledHook): Promise<void>;
	host: HookSession;
	signal: AbortSignal;
	/** Maximum time for it, ms; 0: none. */
	timeoutMs: number;
	/** Shows the user a line about the host. */
	warn(line: string): void;
	/** Tells the user what takes long. */
	onWait(line: string): void;
	/** Asks the user; null: there is nobody to ask. */
	ask: ((title: string, choices: readonly string[]) => Promise<string | null>) | null;
}

/** The machine that the log of a session names. */
export interface LoggedMachine extends RecordedMachine {
	/** True: the file is among the user's sessions. Others may have written other files, and no file may choose a machine. */
	isOwn: boolean;
}

/** Which machine the user chose. */
export interface MachineChoice {
	/** `--on`: for all sessions. */
	on: string | undefined;
	/** The setting `on`: for sessions that name no machine, and for those that would work on this one instead. */
	setting: string | undefined;
	/** True if `local` is the host that `on` names: that of the session that started this one. */
	isConnected?: boolean;
}

/** The machine on which a session is to work. */
interface Target {
	/** Null: the machine where pi runs. */
	spec: string | null;
	/** True if the log and not the user names it. */
	isLogged: boolean;
	/** Why a person must agree; null if nobody must. */
	doubt: string | null;
}

/** A host with its spec; both are null for the machine where pi runs. */
type OpenedHost = { spec: string; host: ToolHost } | { spec: null; host: null };

const HERE: OpenedHost = { spec: null, host: null };

/** A machine that is connected, before tools work there. */
export interface PreparedMachine {
	/** Lets tools work there, and ends the connection to the machine before. */
	use(): Promise<RecordedMachine>;
	/** Ends the connection that it would have used. */
	cancel(): Promise<void>;
}

/** The machine on which the tools of a session work. Until it is connected, no tool works. */
export class SessionMachine {
	#current: ToolHost;
	/** The connected host that the session must dispose of. */
	#own: ToolHost | null = null;
	/** Null: the machine where pi runs. */
	#spec: string | null;
	readonly #first: Target;

	/**
	 * @param local used without a spec
	 * @param logged the machine that the log names
	 * @param readable what tools on another machine can read on this one
	 */
	constructor(
		private readonly local: ToolHost,
		private readonly choice: MachineChoice,
		logged: LoggedMachine | null,
		private readonly readable: () => ReadableDirectories,
	) {
		this.#first = this.#targetOf(logged);
		this.#spec = this.#first.spec;
		const name = this.#spec ?? (this.#first.doubt === null ? null : this.#usual);
		this.#current = name === null || choice.isConnected ? local : unconnected(local, name);
	}

	get current(): ToolHost {
		return this.#current;
	}

	/** As the log records it. */
	get recorded(): RecordedMachine {
		return { on: this.#spec, name: this.#spec === null ? "" : this.#current.name };
	}

	/**
	 * Connects to the host that the user, or the session, named. Call it when the hooks have loaded.
	 * @throws PiError `bad_arguments` for a spec that no hook knows; `host_unreachable`
	 */
	async connect(connection: MachineConnection): Promise<void> {
		if (this.choice.isConnected) return;
		this.#use(await this.#reach(await this.#agree(this.#first, connection), connection));
	}

	/**
	 * Connects to the machine on which another session is to work.
	 * @throws PiError `host_unreachable`, `bad_arguments`
	 */
	async prepare(logged: LoggedMachine | null, connection: MachineConnection): Promise<PreparedMachine> {
		const target = await this.#agree(this.#targetOf(logged), connection);
		if (target.spec === this.#spec) return { use: async () => this.recorded, cancel: async () => {} };
		const opened = await this.#reach(target, connection);
		return {
			use: async () => {
				const previous = this.#own;
				this.#use(opened);
				await previous?.dispose();
				return this.recorded;
			},
			cancel: async () => opened.host?.dispose(),
		};
	}

	/** Ends the connection. */
	async dispose(): Promise<void> {
		await this.#own?.dispose();
	}

	#use({ host, spec }: OpenedHost): void {
		this.#own = host;
		this.#spec = spec;
		this.#current = host === null ? this.local : withReadable(host, this.local, this.readable);
	}

	/** The machine of the user's settings. */
	get #usual(): string | null {
		return specOf(this.choice.setting);
	}

	/** `--on` always counts. Without it, a log can name a machine, but never silently replace the user's choice with this one. */
	#targetOf(logged: LoggedMachine | null): Target {
		const named = this.choice.on === undefined ? (logged?.on ?? null) : null;
		if (named === null) {
			return { spec: specOf(this.choice.on ?? this.choice.setting), isLogged: false, doubt: null };
		}
		const [spec, usual] = [specOf(named), this.#usual];
		const isForeign = logged?.isOwn === false;
		const which = isForeign ? "This session file, which is not among your sessions," : "This session file";
		if (spec === null && usual !== null) {
			return { spec, isLogged: true, doubt: `${which} names this machine, but your setting "on" is ${usual}` };
		}
		const doubt = isForeign && spec !== usual ? `${which} names the machine ${revealLine(named)}` : null;
		return { spec, isLogged: spec !== null, doubt };
	}

	/** Asks whether a log may choose the machine, where that is in doubt. @throws PiError `host_unreachable` if it may not */
	async #agree(target: Target, { ask }: MachineConnection): Promise<Target> {
		const { spec, doubt } = target;
		if (doubt === null) return target;
		const usual = this.#usual;
		const instead = usual === null ? CONTINUE_HERE : use(usual);
		const accept = spec === null ? CONTINUE_HERE : CONNECT;
		const answer = await ask?.(doubt, [instead, accept]);
		if (answer === instead) return { spec: usual, isLogged: false, doubt: null };
		if (answer === accept) return { ...target, doubt: null };
		const hint = usual === null ? `--on ${LOCAL} or --on <spec>` : `--on ${usual} or --on ${LOCAL}`;
		throw new PiError("host_unreachable", doubt, { hint: `choose one with ${hint}` });
	}

	/** Connects to a machine; a person may choose another one if that of a log does not work. */
	async #reach(target: Target, connection: MachineConnection): Promise<OpenedHost> {
		const usual = this.#usual;
		let { spec } = target;
		for (;;) {
			if (spec === null) return HERE;
			try {
				return { spec, host: await this.#open(spec, connection) };
			} catch (cause) {
				connection.signal.throwIfAborted();
				if (!target.isLogged) throw cause;
				const problem = `This session ran on ${spec}: ${describeError(cause)}`;
				// Nobody is asked to give up the machine of their settings.
				const instead = usual === null ? [CONTINUE_HERE] : usual === spec ? [] : [use(usual)];
				const answer = await connection.ask?.(problem, [RETRY, ...instead]);
				if (answer === RETRY) continue;
				if (answer === instead[0] && answer !== undefined) {
					spec = usual;
					continue;
				}
				throw new PiError("host_unreachable", problem, {
					cause,
					hint: `try again later, or continue it elsewhere with --on ${LOCAL} (this machine) or --on <spec>`,
				});
			}
		}
	}

	async #open(text: string, connection: MachineConnection): Promise<ToolHost> {
		const { openMachine, readMachineSpec } = await import("../../hooks/open-machine.js");
		const spec = readMachineSpec(text);
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
		const opened = await openMachine(found, spec, connection);
		for (const line of opened.warnings ?? []) connection.warn(line);
		return opened;
	}
}

/** The answer that chooses the machine of the settings. */
function use(usual: string): string {
	return `Use ${usual}`;
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
