import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import containers from "../../hooks-examples/containers.js";
import ssh from "../../hooks-examples/ssh.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import { openHost, usePath } from "./open-machine.js";
import { startContainer } from "./podman.js";
import { findProgram } from "./programs.js";
import { endWithProcess, startSshd, writeSshClient } from "./sshd.js";

/** Unlike searches without it, those with ripgrep have the same results everywhere. */
const PATH_WITH_RIPGREP = `${dirname(rgPath)}:/usr/local/bin:/usr/bin:/bin`;

type OpenHost = (cwd: string) => Promise<ToolHost>;

/**
 * Engines on which the tests of tools can run, by their name in `PI_TEST_HOST`. Each reaches the temporary files of this machine;
 * what it needs starts with the first test of a process and ends with the process.
 */
const STARTS: Readonly<Record<string, () => Promise<OpenHost>>> = {
	async ssh() {
		const dir = mkdtempSync(join(tmpdir(), "pi-sshd-"));
		const programs = { ssh: findProgram("ssh") ?? "ssh", sshd: findProgram("sshd") ?? "sshd" };
		const { port } = await startSshd(dir, programs, PATH_WITH_RIPGREP);
		const { bin } = writeSshClient(dir, port, programs);
		endWithProcess(`rm -rf '${dir}'`);
		return (cwd) => {
			usePath(bin);
			return openHost(ssh, `ssh://box${cwd}`);
		};
	},
	podman: () => openContainer({ shared: [tmpdir(), dirname(rgPath)], path: PATH_WITH_RIPGREP }),
	busybox: () => openContainer({ shared: [tmpdir()], busybox: true }),
};

async function openContainer(options: Parameters<typeof startContainer>[0]): Promise<OpenHost> {
	const container = startContainer(options);
	if (typeof container === "string") throw new Error(container);
	return (cwd) => {
		usePath(container.bin);
		return openHost(containers, `podman:${container.name}${cwd}`);
	};
}

const started = new Map<string, Promise<OpenHost>>();

/** Opens a host of an engine, which ends with the test; undefined if it is not one of the engines here. */
export async function openEngineHost(engine: string, cwd: string): Promise<ToolHost | undefined> {
	const start = STARTS[engine];
	if (!start) return undefined;
	const open = started.get(engine) ?? start();
	started.set(engine, open);
	return (await open)(cwd);
}
