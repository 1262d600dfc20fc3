import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import ssh, { parseTarget } from "../../hooks-examples/ssh.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import { openHost, usePath } from "../helpers/open-machine.js";
import { processesWith } from "../helpers/programs.js";
import { NO_SSH, type SshServer, startSshServer } from "../helpers/ssh-server.js";
import { tempDir } from "../helpers/temp.js";

describe("what follows ssh:", () => {
	const target = (fields: object) => ({ port: undefined, cwd: undefined, ...fields });

	test.each([
		["build-01", target({ destination: "build-01", host: "build-01", command: "ssh build-01" })],
		["//build-01", target({ destination: "build-01", host: "build-01", command: "ssh build-01" })],
		["//build-01/", target({ destination: "build-01", host: "build-01", cwd: "/", command: "ssh build-01" })],
		["//me@h:22/src", { destination: "me@h", host: "h", port: "22", cwd: "/src", command: "ssh -p 22 me@h" }],
		["me@h:2222", target({ destination: "me@h", host: "h", port: "2222", command: "ssh -p 2222 me@h" })],
		["h/srv/app", target({ destination: "h", host: "h", cwd: "/srv/app", command: "ssh h" })],
		["//h/~/a b/ä", target({ destination: "h", host: "h", cwd: "~/a b/ä", command: "ssh h" })],
		["h:~/src", target({ destination: "h", host: "h", cwd: "~/src", command: "ssh h" })],
		["h:~", target({ destination: "h", host: "h", cwd: "~", command: "ssh h" })],
		["h:src", target({ destination: "h", host: "h", cwd: "src", command: "ssh h" })],
		["h:/srv:1", target({ destination: "h", host: "h", cwd: "/srv:1", command: "ssh h" })],
		["//[::1]:22/x", { destination: "::1", host: "::1", port: "22", cwd: "/x", command: "ssh -p 22 ::1" }],
		["//a@b.org@h/x", target({ destination: "a@b.org@h", host: "h", cwd: "/x", command: "ssh a@b.org@h" })],
	])("%s", (rest, expected) => {
		expect(parseTarget(rest)).toEqual(expected);
	});

	test.each([
		"",
		"//",
		"/x",
		"-oProxyCommand=x",
		"//-oProxyCommand=x/",
		"a b",
		"me@",
		"h:70000",
		"$(x)",
		"-l@h",
		"h;x",
	])("%s is rejected", (rest) => {
		expect(() => parseTarget(rest)).toThrow(
			`"ssh:${rest}" names no machine: use ssh://[user@]host[:port][/path] or ssh:[user@]host[:path]`,
		);
	});
});

describe.skipIf(NO_SSH !== undefined)("a host reached with ssh", () => {
	test("tools work there, in parallel over one connection", async () => {
		const { server, host, dir } = await connect();
		expect(host).toMatchObject({ name: "ssh box", cwd: dir, home: server.home, platform: process.platform });
		const names = Array.from({ length: 6 }, (_, at) => join(dir, `file ${at} ä'"\\\n`));
		await Promise.all(names.map((name, at) => host.writeFile(name, `content ${at}`)));
		expect(names.map((name) => readFileSync(name, "utf8"))).toEqual(names.map((_, at) => `content ${at}`));
		const read = await Promise.all(names.map((name) => readAll(host, name)));
		expect(read.map(String)).toEqual(names.map((_, at) => `content ${at}`));
		expect(server.connections()).toBe(1);
	});

	test("any byte of a file and of a command arrives", async () => {
		const { host, dir } = await connect();
		const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) & 0xff));
		await host.writeFile(join(dir, "bytes"), bytes);
		expect(readFileSync(join(dir, "bytes")).equals(bytes)).toBe(true);
		expect((await readAll(host, join(dir, "bytes"))).equals(bytes)).toBe(true);
		const text = "a\\b\\\\c 'q' \"d\" $HOME `id` !x\n\n\ttab * ? é \u{1f600} \x01\x7f -n";
		expect(await run(host, ["printf", "%s", text])).toMatchObject({ exitCode: 0, output: text });
		expect(await run(host, `cat <<'END'\n${text}\nEND`)).toMatchObject({ exitCode: 0, output: `${text}\n` });
	});

	test("more calls than one connection accepts are carried out", async () => {
		const { host } = await connect();
		const results = await Promise.all(Array.from({ length: 14 }, (_, at) => run(host, `sleep 0.5; echo ${at}`)));
		expect(results.map(({ output }) => output)).toEqual(results.map((_, at) => `${at}\n`));
		const noise = await Promise.all(Array.from({ length: 12 }, () => run(host, ["sleep", "0.5"])));
		expect(noise.filter(({ output }) => output !== "")).toEqual([]);
	});

	test("the connection has a private directory, which disposal removes", async () => {
		const { server, host, temporary } = await connect();
		const [directory = ""] = readdirSync(temporary);
		expect(directory).toMatch(/^pi-ssh-/);
		expect(statSync(join(temporary, directory)).mode & 0o777).toBe(0o700);
		expect(statSync(join(temporary, directory, "s")).isSocket()).toBe(true);
		await host.dispose();
		expect(readdirSync(temporary)).toEqual([]);
		await expect.poll(() => processesWith(server.config)).toEqual([]);
	});

	test("a long directory for temporary files does not matter", async () => {
		const { host } = await connect({ temporary: join(tempDir(), "x".repeat(120)) });
		expect(await run(host, "echo hi")).toMatchObject({ output: "hi\n" });
	});

	test("a connection that the user shares is used, and left open", async () => {
		const server = await startSshServer();
		const socket = join(tempDir(), "own");
		writeFileSync(server.config, `${readFileSync(server.config, "utf8")} ControlPath ${socket}\n`);
		const master = spawn(join(server.bin, "ssh"), ["-M", "-N", "box"], { stdio: "ignore" });
		onTestFinished(() => void master.kill());
		await vi.waitUntil(() => existsSync(socket), { timeout: 10_000 });
		// No key any more: only the open connection works.
		rmSync(join(server.dir, "client-key"));
		const { host } = await connect({ server });
		expect(await run(host, "echo hi")).toMatchObject({ output: "hi\n" });
		await host.dispose();
		expect(server.connections()).toBe(1);
		expect(master.exitCode).toBeNull();
	});

	test("options for ssh in the background do not disturb, and an older ssh that lacks them works", async () => {
		const server = await startSshServer();
		const config = readFileSync(server.config, "utf8");
		writeFileSync(server.config, `${config} StdinNull yes\n ForkAfterAuthentication yes\n SessionType none\n`);
		const { host, dir } = await connect({ server });
		expect(await run(host, "cat; printf 'a\\n'", "in ")).toMatchObject({ exitCode: 0, output: "in a\n" });
		await host.writeFile(join(dir, "a"), "content");
		expect(readFileSync(join(dir, "a"), "utf8")).toBe("content");
		await host.dispose();
		await expect.poll(() => processesWith(server.config)).toEqual([]);
		writeFileSync(server.config, config);
		const program = readFileSync(join(server.bin, "ssh"), "utf8");
		const older = `case "$*" in *StdinNull*|*ForkAfter*|*SessionType*) echo Bad configuration option >&2; exit 255 ;; "-G "*) exit 255 ;; esac`;
		writeFileSync(join(server.bin, "ssh"), program.replace("\n", `\n${older}\n`));
		expect(await run((await connect({ server })).host, "echo works")).toMatchObject({ output: "works\n" });
	});

	test("forwardings, a terminal and a remote command of the user's configuration do not disturb", async () => {
		const server = await startSshServer();
		const disturbing = ["RequestTTY force", "RemoteCommand tmux", "LocalForward 127.0.0.1:1 127.0.0.1:1"];
		const lines = [
			...disturbing,
			"ExitOnForwardFailure yes",
			"LogLevel QUIET",
			"ControlMaster auto",
			"ControlPersist 60",
		];
		writeFileSync(server.config, `${readFileSync(server.config, "utf8")} ${lines.join("\n ")}\n`);
		const { host } = await connect({ server });
		expect(await run(host, "printf 'a\\n'; echo b >&2")).toMatchObject({ exitCode: 0, output: "a\nb\n" });
	});
});

/** Text without an end of line, escape sequences, NUL and megabytes on both streams, at the start and at the end of the shell. */
const NOISY_START = `
echo NOISE
printf 'partial \\033[31mred \\000 \\377'
printf 'NOISE without an end of line' >&2
head -c 2000000 /dev/zero | tr '\\000' x
head -c 200000 /dev/zero >&2
trap 'echo BYE; echo BYE >&2' EXIT
set -x
`;

describe.skipIf(NO_SSH !== undefined)("start files that print something", () => {
	test("change nothing in what the tools return", async () => {
		const server = await startSshServer();
		for (const name of [".bashrc", ".zshenv", ".profile"]) writeFileSync(join(server.home, name), NOISY_START);
		const { host, dir } = await connect({ server });
		expect(host).toMatchObject({ cwd: dir, home: server.home, tmpDir: expect.not.stringContaining("NOISE") });
		expect(await run(host, "echo out; echo err >&2; exit 3")).toMatchObject({ output: "out\nerr\n", exitCode: 3 });
		// What a shell on the way passes on with \`exec\`, bash must not take for its first one.
		expect(await run(host, "echo 'a\\b!'\n")).toMatchObject({ output: "a\\b!\n" });
		const { output } = await run(host, ["sh", "-c", "echo out; echo err >&2"]);
		expect(output.split("\n").sort(), "two streams, in any order").toEqual(["", "err", "out"]);
		expect(await run(host, "cat", "in\n")).toMatchObject({ output: "in\n" });
		const path = join(dir, "a.txt");
		expect(await host.writeFile(path, "one\ntwo\n")).toEqual({ created: true, realPath: path });
		expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
		expect((await readAll(host, path)).toString()).toBe("one\ntwo\n");
		expect(await host.stat(path)).toEqual({ kind: "file", size: 8 });
		expect(await host.list(dir)).toEqual([{ name: "a.txt", kind: "file", isFolder: false }]);
		expect(await host.realPath(join(dir, "b"))).toBe(join(dir, "b"));
		const lines: string[] = [];
		const { signal } = new AbortController();
		const pattern = { pattern: "two", literal: false, ignoreCase: false, before: 0, after: 0, maxColumns: 100 };
		const onLine = ({ path: file, text }: { path: string; text: string }) => lines.push(`${file}: ${text}`) > 0;
		expect(await host.search({ path: dir, lines: pattern, signal, onLine })).toEqual({
			status: "done",
			complete: true,
		});
		const onFile = (file: string) => lines.push(file) > 0;
		expect(await host.search({ path: dir, signal, onFile })).toEqual({ status: "done", complete: true });
		expect(lines).toEqual(["a.txt: two", "a.txt"]);
		await expect(host.stat(join(dir, "no"))).rejects.toMatchObject({ code: "ENOENT" });
	});

	test("without a directory in the spec, the working directory is one line", async () => {
		const server = await startSshServer();
		writeFileSync(join(server.home, ".bashrc"), NOISY_START);
		usePath(server.bin);
		expect((await openHost(ssh, "ssh:box")).cwd).toBe(userInfo().homedir);
	});

	test("and end instead of starting a program are the reason why the machine cannot be used", async () => {
		const server = await startSshServer();
		writeFileSync(join(server.home, ".bashrc"), "echo This account is closed.; exit 1\n");
		usePath(server.bin);
		await expect(openHost(ssh, "ssh:box")).rejects.toThrow("Cannot reach ssh box: This account is closed.");
	});
});

describe.skipIf(NO_SSH !== undefined)("the end of a remote process tree", () => {
	/** Starts a tree of processes there. @returns a word in the arguments of each */
	async function startTree(host: ToolHost, options: { signal?: AbortSignal; timeoutMs?: number } = {}) {
		const mark = `77${process.pid}${Math.floor(Math.random() * 1e6)}`;
		const command = `sleep ${mark} & (trap '' TERM; sleep ${mark}; sleep ${mark}); wait`;
		const ended = host.exec(command, options);
		await vi.waitUntil(() => sleeps(mark) === 2, { timeout: 10_000 });
		return { mark, ended };
	}
	const sleeps = (mark: string) => processesWith(`sleep ${mark}`).filter((line) => / sleep \d+ $/.test(line)).length;

	async function expectEnd(mark: string) {
		await expect.poll(() => processesWith(mark)).toEqual([]);
	}

	test("follows an abort", async () => {
		const { host } = await connect();
		const stop = new AbortController();
		const { mark, ended } = await startTree(host, { signal: stop.signal });
		stop.abort();
		await expectEnd(mark);
		expect(await ended).toMatchObject({ endedBy: "abort" });
	});

	test("follows a timeout", async () => {
		const { host } = await connect();
		const { mark, ended } = await startTree(host, { timeoutMs: 1500 });
		expect(await ended).toMatchObject({ endedBy: "timeout" });
		await expectEnd(mark);
	});

	test("follows the loss of the connection", async () => {
		const { server, host } = await connect();
		const { mark, ended } = await startTree(host);
		server.cut();
		await expectEnd(mark);
		expect((await ended).failure).toMatch(/^The connection to ssh box was lost/);
	});

	test("follows the end of the local ssh", async () => {
		const { server, host } = await connect();
		const { mark, ended } = await startTree(host);
		for (const line of processesWith(server.config)) process.kill(Number.parseInt(line, 10), "SIGKILL");
		await expectEnd(mark);
		expect((await ended).failure).toMatch(/^The connection to ssh box was lost/);
	});

	test("follows disposal", async () => {
		const { host } = await connect();
		const { mark } = await startTree(host);
		await host.dispose();
		await expectEnd(mark);
	});
});

describe.skipIf(NO_SSH !== undefined)("a lost connection", () => {
	test("the next call connects again", async () => {
		const { server, host, dir } = await connect();
		server.cut();
		const results = await Promise.all([run(host, "echo one"), run(host, "cat; echo two", "in "), run(host, "exit 3")]);
		// Calls that start before ssh notices the loss fail with it.
		for (const { failure } of results) expect(failure ?? "").toMatch(/^$|^The connection to ssh box was lost/);
		expect(await run(host, "cat; echo two", "in ")).toMatchObject({ exitCode: 0, output: "in two\n" });
		const connections = server.connections();
		await host.writeFile(join(dir, "after"), "x".repeat(1_000_000));
		const read = await Promise.all([1, 2, 3].map(() => readAll(host, join(dir, "after"))));
		expect(read.map(({ length }) => length)).toEqual([1_000_000, 1_000_000, 1_000_000]);
		expect(server.connections()).toBe(connections);
	});

	test("a call waits until the host is there again", async () => {
		const { server, host, dir } = await connect();
		server.setRefusing("reset");
		server.cut();
		const { result } = await startWaiting(server, host, "touch back");
		server.setRefusing(null);
		expect(await result).toMatchObject({ exitCode: 0 });
		expect(readdirSync(dir)).toEqual(["back"]);
	});

	test.each([
		["reset", / reset by /],
		["close", / closed by /],
	] as const)("a call fails when the host stays away (%s), and an abort ends the wait", async (how, said) => {
		const { server, host, dir } = await connect();
		server.setRefusing(how);
		server.cut();
		const stop = new AbortController();
		const { result: aborted } = await startWaiting(server, host, "echo never", stop.signal);
		stop.abort();
		const written = host.writeFile(join(dir, "new"), "x");
		const first = Promise.race([aborted, written.catch(() => "gave up")]);
		expect(await first).toMatchObject({ endedBy: "abort" });
		await expect(written).rejects.toThrow(
			/^The connection to ssh box was lost: Cannot connect to box: .*\. Check the network, and try "ssh box"$/,
		);
		await expect(written).rejects.toThrow(said);
		expect(readdirSync(dir)).toEqual([]);
	});

	test("leaves the old file or the new one", async () => {
		const { server, host, dir } = await connect();
		const path = join(dir, "file");
		writeFileSync(path, "old");
		const content = Buffer.alloc(30_000_000, "n");
		for (const delay of [5, 40, 120]) {
			const written = host.writeFile(path, content).then(
				() => "new",
				() => "old",
			);
			// A cut at any moment.
			await sleep(delay);
			server.cut();
			const expected = await written;
			await expect.poll(() => readdirSync(dir)).toHaveLength(1);
			if (expected === "new") expect(readFileSync(path).equals(content)).toBe(true);
			else expect(["old", content.toString()]).toContain(readFileSync(path, "utf8"));
		}
	});

	/** Starts a command that waits for a refusing host: after another one has noticed the loss, which ends what runs at that time. */
	async function startWaiting(server: SshServer, host: ToolHost, command: string, signal?: AbortSignal) {
		while (server.refusals() === 0) {
			let isOver = false;
			void host.exec("true").finally(() => {
				isOver = true;
			});
			await vi.waitUntil(() => isOver || server.refusals() > 0, { timeout: 10_000 });
		}
		return { result: host.exec(command, signal && { signal }) };
	}
});

describe.skipIf(NO_SSH !== undefined)("what keeps ssh from connecting is one line that says what to do", () => {
	test("an unknown host key", async () => {
		const server = await startSshServer();
		writeFileSync(server.knownHosts, "");
		expect(await failureOf(server, "ssh:box")).toBe(
			'Cannot connect to box: Host key verification failed. The host key is unknown: run "ssh box" in a terminal once and accept the key',
		);
	});

	test("another host key than before", async () => {
		const server = await startSshServer();
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(server.bin, "other")]);
		writeFileSync(server.knownHosts, `box ${readFileSync(join(server.bin, "other.pub"), "utf8")}`);
		expect(await failureOf(server, "ssh://box/tmp")).toBe(
			"Cannot connect to box: Host key verification failed. The host key has changed: find out why; after a new installation remove the old key (ssh-keygen -R box)",
		);
	});

	test("a key that the host does not accept, and one with a passphrase", async () => {
		const server = await startSshServer();
		const key = join(server.dir, "client-key");
		const expected = `Cannot connect to ${userInfo().username}@box: ${userInfo().username}@127.0.0.1: Permission denied (publickey). Add the key to the agent with ssh-add, and try "ssh ${userInfo().username}@box" in a terminal`;
		execFileSync("ssh-keygen", ["-q", "-p", "-P", "", "-N", "secret", "-f", key]);
		expect(await failureOf(server, `ssh://${userInfo().username}@box/tmp`)).toBe(expected);
		rmSync(key);
		rmSync(`${key}.pub`);
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
		expect(await failureOf(server, `ssh://${userInfo().username}@box/tmp`)).toBe(expected);
	});

	test("a refused connection", async () => {
		const server = await startSshServer();
		expect(await failureOf(server, "ssh://box:1/tmp")).toBe(
			'Cannot connect to box: connect to host 127.0.0.1 port 1: Connection refused. Check the port, and that sshd runs there: "ssh -p 1 box"',
		);
	});

	test("an unknown name", async () => {
		const server = await startSshServer();
		expect(await failureOf(server, "ssh:no-such-host.invalid")).toMatch(
			/^Cannot connect to no-such-host\.invalid: Could not resolve hostname no-such-host\.invalid: .*\. Check the name, or define it as Host in ~\/\.ssh\/config$/,
		);
	});

	test("a mistake in the configuration", async () => {
		const server = await startSshServer();
		writeFileSync(server.config, "Nonsense yes\n");
		expect(await failureOf(server, "ssh:box")).toBe(
			`Cannot connect to box: ${server.config}: terminating, 1 bad configuration options. Try "ssh box" in a terminal`,
		);
	});

	test("a missing ssh", async () => {
		const server = await startSshServer();
		usePath(tempDir(), { isOnly: true });
		await expect(openHost(ssh, "ssh:box")).rejects.toThrow(
			"Cannot connect to box: spawn ssh ENOENT. Install the OpenSSH client (package openssh-client)",
		);
		expect(server.connections()).toBe(0);
	});

	test("a missing directory", async () => {
		const server = await startSshServer();
		expect(await failureOf(server, "ssh://box/no/such/dir")).toBe(
			"Cannot use ssh box: the directory /no/such/dir does not exist there",
		);
		await expect.poll(() => processesWith(server.config)).toEqual([]);
	});

	test("the user gives up", async () => {
		const server = await startSshServer();
		usePath(server.bin);
		const stop = new AbortController();
		setTimeout(() => stop.abort(new Error("Escape")), 20);
		await expect(openHost(ssh, "ssh:box", stop.signal)).rejects.toThrow("Escape");
		await expect.poll(() => processesWith(server.config)).toEqual([]);
	});

	async function failureOf(server: SshServer, spec: string): Promise<string> {
		usePath(server.bin);
		const error: unknown = await openHost(ssh, spec).catch((thrown: unknown) => thrown);
		return error instanceof Error ? error.message : String(error);
	}
});

/** Connects to a new server, in a new directory. */
async function connect({ server: given, temporary = tempDir() }: { server?: SshServer; temporary?: string } = {}) {
	const server = given ?? (await startSshServer());
	const dir = tempDir();
	usePath(server.bin);
	mkdirSync(temporary, { recursive: true });
	vi.stubEnv("TMPDIR", temporary);
	const host = await openHost(ssh, `ssh://box${dir}`);
	return { server, host, dir, temporary };
}

async function run(host: ToolHost, command: string | readonly string[], stdin?: string) {
	let output = "";
	const result = await host.exec(command, {
		...(stdin === undefined ? {} : { stdin }),
		onOutput(chunk) {
			output += chunk.toString();
			return undefined;
		},
	});
	return { ...result, output };
}

async function readAll(host: ToolHost, path: string): Promise<Buffer> {
	const file = await host.openFile(path);
	const chunks: Buffer[] = [];
	try {
		for (;;) {
			const into = Buffer.alloc(65_536);
			const count = await file.read(into);
			if (count === 0) return Buffer.concat(chunks);
			chunks.push(into.subarray(0, count));
		}
	} finally {
		await file.close();
	}
}
