import { dirname } from "node:path";
import { PiError } from "../errors.js";
import type { HookHost } from "../hooks/host-context.js";
import type { HookRegistry } from "../hooks/registry.js";
import { isInside, ReadableDirectories, withReadable } from "../tools/host/readable-directories.js";
import type { ToolHost } from "../tools/host/tool-host.js";

/** What connecting needs of the session. */
export interface HostConnection {
	registry: HookRegistry;
	host: HookHost;
	signal: AbortSignal;
}

/** The machine on which the tools of a session work. Until the one that the user named is connected, no tool works. */
export class SessionHost {
	#current: ToolHost;
	#isOwn = false;

	/**
	 * @param local used without a spec
	 * @param spec of `--on`, or of the setting `on`
	 * @param readable what tools on another machine can read on this one
	 */
	constructor(
		private readonly local: ToolHost,
		private readonly spec: string | undefined,
		private readonly readable: () => ReadableDirectories,
	) {
		this.#current = spec === undefined ? local : unconnected(local, spec);
	}

	get current(): ToolHost {
		return this.#current;
	}

	/**
	 * Connects to the host that the user named. Call it when the hooks have loaded.
	 * @throws PiError `bad_arguments` for a spec that no hook knows; `host_unreachable`
	 */
	async connect({ registry, host, signal }: HostConnection): Promise<void> {
		if (this.spec === undefined) return;
		const { openToolHost, readHostSpec } = await import("../hooks/tool-hosts.js");
		const spec = readHostSpec(this.spec);
		const found = spec && registry.toolHosts.get(spec.scheme);
		if (!found) {
			const known = [...registry.toolHosts.keys()].map((scheme) => `${scheme}:`);
			throw new PiError("bad_arguments", `No hook provides the host ${JSON.stringify(this.spec)}`, {
				hint: known.length > 0 ? `the hosts are ${known.join(", ")}` : "load a hook that calls pi.toolHost",
			});
		}
		this.#current = withReadable(await openToolHost(found, spec, { host, signal }), this.local, this.readable);
		this.#isOwn = true;
	}

	/** Ends the connection that `connect` made. */
	async dispose(): Promise<void> {
		if (this.#isOwn) await this.#current.dispose();
	}
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
