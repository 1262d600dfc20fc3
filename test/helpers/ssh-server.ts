import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findProgram, missingPrograms } from "./programs.js";
import { listen } from "./proxy.js";
import { tempDir } from "./temp.js";

/** Why no SSH server can run here, or undefined. */
export const NO_SSH = missingPrograms("ssh", {
	ssh: "openssh-client",
	"ssh-keygen": "openssh-client",
	sshd: "openssh-server",
});

/** An SSH server on loopback, with keys and configuration of its own, reached as the host `box`. */
export interface SshServer {
	/** To be first in PATH: contains an `ssh` that reads `config` instead of the user's configuration. */
	bin: string;
	/** Path of the client's configuration. */
	config: string;
	/** Path of the client's list of known hosts. */
	knownHosts: string;
	/** The port that clients use, and that of the server itself. */
	port: number;
	serverPort: number;
	/** Number of connections that clients have made. */
	connections(): number;
	/** Breaks all connections. */
	cut(): void;
	/** Whether new connections end at once. */
	setRefusing(isRefusing: boolean): void;
}

/** Starts a server for the running test. */
export async function startSshServer(): Promise<SshServer> {
	const dir = tempDir("pi-sshd-");
	const keygen = (name: string) =>
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", join(dir, name)]);
	keygen("host-key");
	keygen("client-key");
	copyFileSync(join(dir, "client-key.pub"), join(dir, "authorized"));
	const serverPort = await startServer(dir);

	let connections = 0;
	let isRefusing = false;
	const sockets = new Set<Socket>();
	const bridge = createServer((client) => {
		client.on("error", () => {});
		if (isRefusing) return void client.resetAndDestroy();
		connections++;
		client.setNoDelay(true);
		const server = connect(serverPort, "127.0.0.1").setNoDelay(true);
		server.on("error", () => {});
		for (const socket of [client, server]) sockets.add(socket.once("close", () => sockets.delete(socket)));
		client.pipe(server).pipe(client);
	});
	const port = await listen(bridge);
	const cut = () => {
		for (const socket of sockets) socket.destroy();
	};
	onTestFinished(cut);

	const knownHosts = join(dir, "known-hosts");
	writeFileSync(knownHosts, `box ${readFileSync(join(dir, "host-key.pub"), "utf8")}`);
	const config = join(dir, "config");
	writeFileSync(
		config,
		[
			...["Host box", "HostName 127.0.0.1", `Port ${port}`, "HostKeyAlias box", `IdentityFile ${dir}/client-key`],
			...["IdentitiesOnly yes", "IdentityAgent none", `UserKnownHostsFile ${knownHosts}`],
			...["GlobalKnownHostsFile /dev/null", ""],
		].join("\n"),
	);
	const bin = join(dir, "bin");
	mkdirSync(bin);
	writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${findProgram("ssh")} -F ${config} "$@"\n`);
	chmodSync(join(bin, "ssh"), 0o755);
	return {
		...{ bin, config, knownHosts, port, serverPort, cut },
		connections: () => connections,
		setRefusing(refuses) {
			isRefusing = refuses;
		},
	};
}

/** @returns the port */
async function startServer(dir: string): Promise<number> {
	// The package creates it when its service starts.
	if (process.getuid?.() === 0 && !existsSync("/run/sshd")) mkdirSync("/run/sshd", { mode: 0o755 });
	for (let attempt = 1; ; attempt++) {
		const port = await freePort();
		const file = join(dir, "server-config");
		writeFileSync(
			file,
			[
				...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${dir}/host-key`, "PidFile none", "UsePAM no"],
				...[`AuthorizedKeysFile ${dir}/authorized`, "StrictModes no", "PasswordAuthentication no"],
				...["KbdInteractiveAuthentication no", "PermitRootLogin yes", `AllowUsers ${userInfo().username}`],
				...["PermitUserEnvironment no", "PrintMotd no", ""],
			].join("\n"),
		);
		const server = spawn(findProgram("sshd") ?? "sshd", ["-D", "-e", "-f", file], {
			stdio: ["ignore", "ignore", "pipe"],
		});
		onTestFinished(() => void server.kill());
		const said = await untilListening(server);
		if (said === null) return port;
		if (attempt === 3) throw new Error(`sshd did not start: ${said}`);
	}
}

/** @returns null, or what a server said that does not listen */
async function untilListening(server: ChildProcess): Promise<string | null> {
	let said = "";
	return new Promise((resolve) => {
		server.stderr?.on("data", (chunk: Buffer) => {
			said += chunk.toString();
			if (said.includes("Server listening")) resolve(null);
		});
		server.once("close", () => resolve(said));
	});
}

async function freePort(): Promise<number> {
	const server: Server = createServer();
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	server.close();
	await once(server, "close");
	if (address === null || typeof address === "string") throw new Error("the server has no port");
	return address.port;
}
