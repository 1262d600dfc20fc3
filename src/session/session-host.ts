import { PiError } from "../errors.js";
import type { HookHost } from "../hooks/host-context.js";
import type { HookRegistry } from "../hooks/registry.js";
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
	 */
	constructor(
		local: ToolHost,
		private readonly spec: string | undefined,
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
		this.#current = await openToolHost(found, spec, { host, signal });
		this.#isOwn = true;
	}

	/** Ends the connection that `connect` made. */
	async dispose(): Promise<void> {
		if (this.#isOwn) await this.#current.dispose();
	}
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
