import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { findProgram, missingPrograms, SSH_PROGRAMS } from "./programs.js";
import { listen } from "./proxy.js";
import { startSshd, writeSshClient } from "./sshd.js";
import { tempDir } from "./temp.js";

/** Why no SSH server can run here, or undefined. */
export const NO_SSH = missingPrograms("ssh", SSH_PROGRAMS);

/** An SSH server on loopback, with keys and configuration of its own, reached as the host `box`. */
export interface SshServer {
	/** Contains keys, configuration and `bin`. */
	dir: string;
	/** To be first in PATH: contains an `ssh` that reads `config` instead of the user's configuration. */
	bin: string;
	/** Path of the client's configuration. */
	config: string;
	/** Path of the client's list of known hosts. */
	knownHosts: string;
	/** What HOME is in its sessions. */
	home: string;
	/** Number of connections that clients have made. */
	connections(): number;
	/** Number of connections that were refused. */
	refusals(): number;
	/** Breaks all connections. */
	cut(): void;
	/** Whether and how new connections end at once. */
	setRefusing(how: "reset" | "close" | null): void;
}

/** Starts a server for the running test. */
export async function startSshServer(): Promise<SshServer> {
	const dir = tempDir("pi-sshd-");
	const programs = { ssh: findProgram("ssh") ?? "ssh", sshd: findProgram("sshd") ?? "sshd" };
	const sshd = await startSshd(dir, programs);
	onTestFinished(sshd.stop);

	let connections = 0;
	let refusals = 0;
	let refusing: "reset" | "close" | null = null;
	const sockets = new Set<Socket>();
	const bridge = createServer((client) => {
		client.on("error", () => {});
		if (refusing !== null) refusals++;
		if (refusing === "reset") return void client.resetAndDestroy();
		if (refusing === "close") return void client.end("SSH-2.0-closing\r\n");
		connections++;
		client.setNoDelay(true);
		const server = connect(sshd.port, "127.0.0.1").setNoDelay(true);
		server.on("error", () => {});
		for (const socket of [client, server]) sockets.add(socket.once("close", () => sockets.delete(socket)));
		client.pipe(server).pipe(client);
	});
	const port = await listen(bridge);
	const cut = () => {
		for (const socket of sockets) socket.destroy();
	};
	onTestFinished(cut);
	return {
		...{ dir, cut, home: sshd.home, ...writeSshClient(dir, port, programs) },
		connections: () => connections,
		refusals: () => refusals,
		setRefusing(how) {
			refusing = how;
		},
	};
}
