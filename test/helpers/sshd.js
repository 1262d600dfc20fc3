import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";

/**
 * Starts an SSH server on loopback with keys and configuration in a directory; the machine's own are neither read nor
 * changed. Tests and benchmarks use it.
 * @param {string} dir
 * @param {{ ssh: string, sshd: string }} programs their paths
 * @param {string} [path] PATH in its sessions
 * @returns {Promise<{ port: number, home: string, stop(): void }>} `home`: what HOME is in its sessions
 */
export async function startSshd(dir, { sshd }, path = process.env.PATH) {
	for (const name of ["host-key", "client-key"]) {
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", join(dir, name)]);
	}
	copyFileSync(join(dir, "client-key.pub"), join(dir, "authorized"));
	const home = join(dir, "home");
	mkdirSync(home);
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
				// Not the user's own start files, which may take long.
				...["PrintMotd no", `SetEnv HOME=${home} PATH=${path}`, ""],
			].join("\n"),
		);
		const server = spawn(sshd, ["-D", "-e", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
		const said = await untilListening(server);
		if (said === null) {
			const stop = endWithProcess(`kill ${server.pid}`);
			server.unref();
			return { home, port, stop };
		}
		if (attempt === 3) throw new Error(`sshd did not start: ${said}`);
	}
}

/**
 * Makes the server's client: a directory to be first in PATH, with an `ssh` that knows the host `box` and nothing else.
 * @param {string} dir that of the server
 * @param {number} port
 * @param {{ ssh: string, sshd: string }} programs
 */
export function writeSshClient(dir, port, { ssh }) {
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
	writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${ssh} -F ${config} "$@"\n`);
	chmodSync(join(bin, "ssh"), 0o755);
	return { bin, config, knownHosts };
}

/**
 * Runs a line of the shell when this process ends, however it ends.
 * @param {string} line
 * @returns {() => void} runs it now
 */
export function endWithProcess(line) {
	const watcher = spawn("sh", ["-c", `cat; ${line}`], { stdio: ["pipe", "ignore", "ignore"], detached: true });
	watcher.unref();
	if (watcher.stdin instanceof Socket) watcher.stdin.unref();
	return () => void watcher.stdin.end();
}

/**
 * @param {import("node:child_process").ChildProcess} server
 * @returns {Promise<string | null>} null, or what a server said that does not listen
 */
function untilListening(server) {
	let said = "";
	return new Promise((resolve) => {
		server.stderr?.on("data", (chunk) => {
			said += String(chunk);
			if (said.includes("Server listening")) resolve(null);
		});
		server.once("close", () => resolve(said));
	});
}

async function freePort() {
	const server = createServer();
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	server.close();
	await once(server, "close");
	if (address === null || typeof address === "string") throw new Error("the server has no port");
	return address.port;
}
