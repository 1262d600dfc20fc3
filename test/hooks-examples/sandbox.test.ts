import { spawn, spawnSync } from "node:child_process";
import {
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sandboxArguments } from "../../hooks-examples/sandbox/bubblewrap.js";
import { seatbeltProfile } from "../../hooks-examples/sandbox/seatbelt.js";
import sandbox from "../../hooks-examples/sandbox.js";
import type { ShellEngine } from "../../src/hooks/index.js";
import { createShellHost } from "../../src/tools/machine/shell-machine.js";
import { NO_SANDBOX } from "../helpers/bubblewrap.js";
import { openHookEngine } from "../helpers/hook-session.js";
import { processesWith } from "../helpers/programs.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const sandboxed = test.skipIf(NO_SANDBOX !== undefined);

interface Result {
	code: number | null;
	stdout: string;
	stderr: string;
}

interface OpenOptions {
	cwd?: string;
	sessionFile?: string;
	network?: boolean;
}

/** Opens a sandbox that ends with the test. */
async function open({ cwd = tempDir(), sessionFile, network = false }: OpenOptions = {}) {
	const flags = { "sandbox-net": network };
	const engine = await openHookEngine(sandbox, "sandbox:", { cwd, flags, ...(sessionFile && { sessionFile }) });
	const dispose = async () => engine.dispose?.();
	onTestFinished(dispose);
	return { cwd, dispose, engine, run: (script: string, ...args: string[]) => run(engine, script, args) };
}

function run(engine: ShellEngine, script: string, args: string[]): Promise<Result> {
	const child = engine.spawn(["sh", "-c", script, "sh", ...args]);
	let stdout = "";
	let stderr = "";
	child.stdout.on("data", (chunk) => (stdout += String(chunk)));
	child.stderr.on("data", (chunk) => (stderr += String(chunk)));
	child.stdin.end();
	return new Promise((resolve, reject) => {
		child.once("close", (code) => resolve({ code, stdout, stderr }));
		child.once("error", reject);
	});
}

/** Sets a variable of this process until the test ends. */
function setVariable(name: string, value: string): void {
	const before = process.env[name];
	process.env[name] = value;
	onTestFinished(() => {
		if (before === undefined) delete process.env[name];
		else process.env[name] = before;
	});
}

/** A home directory outside /tmp, which the sandbox does not replace. */
function tempHome(files: Record<string, string>): string {
	const home = join(homedir(), `.pi-test-${process.pid}-${Math.random().toString(36).slice(2)}`);
	writeFiles(home, files);
	onTestFinished(() => rmSync(home, { recursive: true, force: true }));
	setVariable("HOME", home);
	return home;
}

sandboxed("writes reach the working directory, and nothing else", async () => {
	const outside = tempDir();
	const home = tempHome({ ".bashrc": "" });
	const { cwd, run } = await open();
	symlinkSync(home, join(cwd, "link"));
	const paths = [
		join(home, ".bashrc"),
		join(home, "new"),
		"/etc/new",
		"/usr/new",
		"link/new",
		`../../${home}/new`,
		"/sys/new",
	];
	for (const path of paths)
		expect((await run('echo x >> "$1"', path)).stderr, path).toMatch(/Read-only|Permission denied/);
	expect((await run('echo x > "$1"/new', outside)).code).not.toBe(0);
	expect(
		(await run("echo x > inside; mkdir -p deep/er; mv inside deep/er; echo y > /tmp/file; cat /tmp/file")).stdout,
	).toBe("y\n");
	expect({ outside: readdirSync(outside), home: readdirSync(home), cwd: readdirSync(cwd).sort() }).toEqual({
		outside: [],
		home: [".bashrc"],
		cwd: ["deep", "link"],
	});
	expect(existsSync("/tmp/file")).toBe(false);
});

sandboxed("the temporary directory lasts from command to command, and ends with the sandbox", async () => {
	const { run, dispose } = await open();
	await run("mkdir /tmp/a; echo 1 > /tmp/a/b; chmod 0 /tmp/a/b");
	expect((await run('ls /tmp/a "$TMPDIR"/a /var/tmp/a')).stdout.match(/^b$/gm)).toHaveLength(3);
	const [state = ""] = readdirSync("/tmp").filter((name) => name.startsWith(`pi-sandbox-${process.pid}-`));
	expect(statSync(join("/tmp", state)).mode & 0o777).toBe(0o700);
	await dispose();
	expect(existsSync(join("/tmp", state))).toBe(false);
});

sandboxed("credentials are hidden, by their path and through links", async () => {
	const agent = {
		".pi/agent/auth.json": "secret",
		".pi/agent/sessions/a/1.jsonl": "secret",
		".pi/agent/skills/s/SKILL.md": "skill",
	};
	const home = tempHome({
		".real-ssh/id_ed25519": "secret",
		".aws/credentials": "secret",
		".gnupg/private.key": "secret",
		".netrc": "secret",
		".npmrc": "secret",
		".config/gh/hosts.yml": "secret",
		"elsewhere/kubeconfig": "secret",
		"notes.txt": "visible",
		...agent,
	});
	symlinkSync(".real-ssh", join(home, ".ssh"));
	setVariable("KUBECONFIG", `${join(home, "elsewhere", "kubeconfig")}:/nowhere`);
	const { cwd, run } = await open();
	symlinkSync(join(home, ".netrc"), join(cwd, "netrc"));
	const { stdout, stderr } = await run(
		'cd "$HOME"; cat notes.txt .pi/agent/skills/s/SKILL.md; grep -rs secret . "$1"; ls .pi/agent',
		cwd,
	);
	expect({ stdout, stderr }).toEqual({ stdout: "visibleskillskills\n", stderr: "" });
	for (const path of [
		".ssh/id_ed25519",
		".real-ssh",
		".aws",
		".gnupg",
		".netrc",
		"elsewhere/kubeconfig",
		join(cwd, "netrc"),
	]) {
		expect((await run('cd "$HOME"; cat "$1"; chmod 700 "$1"; cat "$1"', path)).stderr, path).toMatch(/No such file/);
	}
	expect((await run("cat /etc/shadow")).stderr).toMatch(/No such file|Permission denied/);
	// What appears later is hidden from the next command.
	writeFiles(home, { ".docker/config.json": "secret" });
	expect((await run('cat "$HOME"/.docker/config.json')).stderr).toContain("No such file");
});

sandboxed("a command that runs already sees no credentials that are replaced or created meanwhile", async () => {
	const home = tempHome({
		".netrc": "secret",
		".aws/config": "secret",
		".config/gh/hosts.yml": "secret",
		".config/tool/settings": "visible\n",
		".cargo/config.toml": "visible\n",
		".pi/agent/auth.json": "secret",
		"keys/one.json": "visible\n",
		"keys/cloud.json": "secret",
		"..data/token": "secret",
		"project/a.txt": "first\n",
	});
	symlinkSync("..data/token", join(home, "token"));
	setVariable("GOOGLE_APPLICATION_CREDENTIALS", join(home, "keys/cloud.json"));
	setVariable("AWS_WEB_IDENTITY_TOKEN_FILE", join(home, "token"));
	const cwd = join(home, "project");
	const { engine } = await open({ cwd });
	// Each round prints what it finds in the directories as they are then.
	const loop = `cd "$HOME"; echo begun; while [ ! -e project/end ]; do :; done
		cat .config/tool/settings .cargo/config.toml keys/one.json project/a.txt
		grep -rs secret . ; cat .netrc .aws/credentials .config/gh/hosts.yml .vault-token token; ls -A . .config .aws; echo > project/done`;
	const child = engine.spawn(["sh", "-c", loop]);
	let output = "";
	child.stdout.on("data", (chunk) => (output += String(chunk)));
	child.stderr.on("data", (chunk) => (output += String(chunk)));
	await expect.poll(() => output, { timeout: 10_000 }).toContain("begun");
	const replace = (name: string) => {
		writeFileSync(join(home, "new"), "secret");
		mkdirSync(dirname(join(home, name)), { recursive: true });
		renameSync(join(home, "new"), join(home, name));
	};
	for (const name of [".netrc", ".aws/config", ".config/gh/hosts.yml", ".pi/agent/auth.json", "keys/cloud.json"])
		replace(name);
	// First ones, in directories that exist and in new ones; and a directory that is replaced.
	for (const name of [
		".vault-token",
		".cargo/credentials.toml",
		".config/hub",
		".docker/config.json",
		".m2/settings.xml",
	]) {
		replace(name);
	}
	renameSync(join(home, ".aws"), join(home, ".aws-old"));
	replace(".aws/credentials");
	mkdirSync(join(home, "..data2"));
	replace("..data2/token");
	rmSync(join(home, "token"));
	symlinkSync("..data2/token", join(home, "token"));
	writeFileSync(join(cwd, "a.txt"), "changed\n");
	writeFileSync(join(cwd, "end"), "");
	await new Promise((resolve) => child.once("close", resolve));
	expect(output).toContain("visible\nvisible\nvisible\nchanged\n");
	expect(output).not.toContain("secret");
	expect(existsSync(join(cwd, "done"))).toBe(true);
});

sandboxed("a sandbox that waits for its command shows what there is when the command starts", async () => {
	const home = tempHome({ "project/a.txt": "", "notes/a.txt": "old\n", ".pi/agent/auth.json": "" });
	const { run, dispose } = await open({ cwd: join(home, "project") });
	const waiting = () => processesWith(`/pi-sandbox-${process.pid}-`);
	await run("true");
	/** Runs a command in the sandbox that has waited since the last one. */
	const next = async (script: string) => {
		await expect.poll(waiting, { timeout: 10_000 }).not.toEqual([]);
		return (await run(script)).stdout;
	};
	expect(await next('cat "$HOME"/notes/a.txt')).toBe("old\n");
	writeFiles(home, { "notes/a.txt": "new\n", "other/a.txt": "other\n", ".netrc": "secret" });
	expect(await next('cat "$HOME"/notes/a.txt "$HOME"/other/a.txt; ls -A "$HOME"')).toBe(
		"new\nother\n.pi\nnotes\nother\nproject\n",
	);
	// The same names, but other directories. A sandbox that was still being made then ends, and none waits.
	await expect.poll(waiting, { timeout: 10_000 }).not.toEqual([]);
	renameSync(join(home, "notes"), join(home, "gone"));
	writeFiles(home, { "notes/a.txt": "replaced\n" });
	rmSync(join(home, "gone"), { recursive: true });
	rmSync(join(home, "project"), { recursive: true });
	writeFiles(home, { "project/b.txt": "" });
	expect((await run('cat "$HOME"/notes/a.txt; ls')).stdout).toBe("replaced\nb.txt\n");
	expect(await next('printf \'%s|\' "$@" "it\'s"; cat')).toBe("it's|");
	await expect.poll(waiting, { timeout: 10_000 }).not.toEqual([]);
	await dispose();
	await expect.poll(waiting, { timeout: 10_000 }).toEqual([]);
});

sandboxed("a directory that cannot be entered is named as such", async () => {
	const { cwd, engine } = await open();
	mkdirSync(join(cwd, "closed"), { mode: 0 });
	const closed = join(cwd, "closed");
	const reason = `you have no permission to enter the directory ${closed}`;
	await expect(createShellHost(engine, { cwd: closed })).rejects.toThrow(`Cannot use sandbox: ${reason} there`);
	const host = await createShellHost(engine, { cwd });
	expect((await host.exec("true", { cwd: closed })).failure).toMatch(new RegExp(`^Cannot start .*bash: ${reason}$`));
});

sandboxed("a directory with too many entries is named", async () => {
	const home = tempHome({ "project/a.txt": "", ".netrc": "secret" });
	for (let at = 0; at < 500; at++) writeFileSync(join(home, `f${at}`), "");
	const { engine, run } = await open({ cwd: join(home, "project") });
	expect(engine.warnings).toEqual([
		`${home} has so many entries that commands in the sandbox can see credentials that change there while they run · see docs/hosts.md`,
	]);
	expect((await run('cat "$HOME"/.netrc')).stderr).toContain("Permission denied");
});

sandboxed("secrets in the working directory stay hidden when programs rename directories", async () => {
	const cwd = tempDir();
	setVariable("PI_CODING_AGENT_DIR", join(cwd, "a", "b", "agent"));
	writeFiles(cwd, { "a/b/agent/auth.json": "secret", "sessions/1.jsonl": "secret" });
	const { run } = await open({ cwd, sessionFile: join(cwd, "sessions", "1.jsonl") });
	for (const path of ["a", "a/b", "a/b/agent", "sessions"]) {
		expect((await run('mv "$1" moved', path)).stderr, path).toMatch(/busy|Permission denied/);
	}
	expect((await run("grep -rs secret .")).stdout).toBe("");
});

sandboxed("the repository is read-only, because git outside runs its hooks and its configuration", async () => {
	const cwd = tempDir();
	spawnSync("git", ["init", "-q"], { cwd });
	const { run } = await open({ cwd });
	for (const script of [
		"echo x > .git/hooks/pre-commit",
		"git config core.fsmonitor ./x",
		"echo .. > .git/commondir",
		"mv .git old",
		"rm -rf .git",
		"ln -sfn /tmp .git/hooks",
	]) {
		expect((await run(`${script} && echo done`)).stdout, script).toBe("");
	}
	expect((await run("echo x > file; git status --porcelain")).stdout).toBe("?? file\n");
	expect(readFileSync(join(cwd, ".git", "config"), "utf8")).not.toContain("fsmonitor");
});

sandboxed.each([
	["a file that names a directory in the project", (cwd: string) => ["init", "-q", `--separate-git-dir=${cwd}/a/data`]],
	["that of a work tree in the project", () => ["worktree", "add", "-q", "tree"]],
])("the repository is read-only if .git is %s", async (_, args) => {
	const main = join(tempHome({ "main/a/x": "" }), "main");
	const git = (...words: string[]) =>
		spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: main });
	const isTree = args(main)[0] === "worktree";
	if (isTree) {
		git("init", "-q");
		git("commit", "-q", "--allow-empty", "-m", "one");
	}
	git(...args(main));
	const cwd = isTree ? join(main, "tree") : main;
	const { run } = await open({ cwd });
	const dir = spawnSync("git", ["rev-parse", "--git-common-dir"], { cwd, encoding: "utf8" }).stdout.trim();
	for (const script of [
		'echo x > "$1"/hooks/pre-commit',
		'echo x >> "$1"/config',
		"git config core.fsmonitor ./x",
		'mv "$1" moved',
		'mv "$(dirname "$1")" moved',
		'rm -rf "$1"/hooks',
		"echo gitdir: /tmp > .git",
		"mv .git moved",
		"rm -f .git",
	]) {
		expect((await run(`${script} && echo done`, dir)).stdout, script).toBe("");
	}
	expect((await run("echo x > file; git status --porcelain")).stdout).toContain("?? file\n");
	expect(readFileSync(join(cwd, ".git"), "utf8")).toMatch(/^gitdir: /);
});

sandboxed("a repository that a program creates in the sandbox can be used there", async () => {
	const { run } = await open();
	await run("git init -q; git config user.name a; git config user.email a@b");
	expect((await run("echo x > f; git add f; git commit -qm one; git log --format=%s")).stdout).toBe("one\n");
});

sandboxed("there is no network without --sandbox-net", async () => {
	const server = await listen({ port: 0, host: "127.0.0.1" });
	const address = server.address();
	const port = typeof address === "object" && address ? String(address.port) : "";
	const connect = `const socket = require("node:net").connect({ port: Number(process.argv[1]), host: "127.0.0.1" });
		socket.on("connect", () => { console.log("connected"); socket.destroy(); }).on("error", (e) => console.log(e.code));`;
	const connected = async (network: boolean) => {
		const { run } = await open({ network });
		return (await run('"$@"', process.execPath, "-e", connect, port)).stdout;
	};
	expect([await connected(false), await connected(true)]).toEqual(["ECONNREFUSED\n", "connected\n"]);
});

/** Sends to each socket as a stream and as a datagram, also from the end of a pair. Prints what succeeds. */
const USE_SOCKETS = `
	use Socket;
	for my $path (@ARGV) {
		my $to = pack_sockaddr_un($path =~ s/^@/\\0/r);
		for my $type (SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW) {
			print "socket $type: $!\\n" if !socket(my $s, AF_UNIX, $type, 0);
			print "connected $path\\n" if defined fileno($s) && connect($s, $to);
			socketpair(my $a, my $b, AF_UNIX, $type, 0) or next;
			close $b;
			print "connected a pair $path\\n" if connect($a, $to);
			print "sent to $path\\n" if send($a, "x", 0, $to);
		}
	}
	print "done\\n";`;

sandboxed("no socket of another program can be used, whatever its name", async () => {
	const cwd = tempDir();
	const home = tempHome({ "s/x": "" });
	const bound = (name: string) => join(home, "s", name);
	// Bound by a relative name, which is all that the kernel then knows of it; and with another name than when it was bound.
	const server = spawn(process.execPath, ["-e", 'require("node:net").createServer().listen("relative")'], {
		cwd: join(home, "s"),
		stdio: "ignore",
	});
	onTestFinished(() => void server.kill("SIGKILL"));
	await listen({ path: bound("before") });
	renameSync(bound("before"), bound("renamed"));
	linkSync(bound("renamed"), bound("linked"));
	linkSync(bound("renamed"), join(cwd, "linked"));
	const paths = [bound("relative"), bound("renamed"), bound("linked"), join(cwd, "linked"), "/dev/log"];
	await listen({ path: "\0pi-test-abstract" });
	await expect.poll(() => existsSync(bound("relative")), { timeout: 10_000 }).toBe(true);
	for (const network of [false, true]) {
		const { run } = await open({ cwd, network });
		const { stdout } = await run('perl -e "$@"', USE_SOCKETS, ...paths, "@pi-test-abstract");
		expect(stdout.match(/^socket \d: Address family not supported by protocol$/gm)).toHaveLength(
			4 * (paths.length + 1),
		);
		expect(stdout.replace(/^socket .*\n/gm, "")).toBe("done\n");
	}
});

sandboxed(
	"other ways to a socket and the keys of the login are refused as if the kernel did not have them",
	async () => {
		const { run } = await open();
		// io_uring_setup, keyctl, socket of x32: as numbers of x64.
		const calls = `for my $number (425, 250, 0x40000029) {
		my $result = syscall($number, 1, 1, 0);
		print "$number: $result $!\\n";
	}`;
		const { stdout } = await run('perl -e "$@"', calls);
		const refused = "-1 Function not implemented";
		if (process.arch === "x64") expect(stdout).toBe(`425: ${refused}\n250: ${refused}\n1073741865: ${refused}\n`);
	},
);

sandboxed("programs that use pairs of sockets and the local network work", async () => {
	const { run } = await open();
	const pair = `use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die; syswrite $a, "pair\\n"; sysread $b, $_, 9; print`;
	expect((await run('perl -e "$@"', pair)).stdout).toBe("pair\n");
	const script = `
		const { fork } = require("node:child_process");
		const http = require("node:http");
		if (process.argv[2] === "child") process.send(Object.keys(require("node:os").networkInterfaces()).join());
		else {
			const server = http.createServer((_, response) => response.end("answered")).listen(0, "127.0.0.1", async () => {
				const url = "http://127.0.0.1:" + server.address().port;
				console.log(await (await fetch(url)).text());
				server.close();
			});
			fork(__filename, ["child"]).on("message", (text) => console.log(text));
		}`;
	const lines = (await run('echo "$1" > a.cjs; "$2" a.cjs; rm a.cjs', script, process.execPath)).stdout.split("\n");
	expect(lines.sort()).toEqual(["", "answered", "lo"]);
	const git =
		"git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git clone -q . copy";
	expect((await run(`${git} && git -C copy log --format=%s; npm --version`)).stdout).toMatch(/^one\n\d+\.\d+/);
});

function listen(options: { port: number; host: string } | { path: string }): Promise<Server> {
	const server = createServer((socket) => socket.end());
	onTestFinished(() => void server.close());
	return new Promise((resolve, reject) => server.once("error", reject).listen(options, () => resolve(server)));
}

sandboxed("programs see and signal no process outside", async () => {
	const outside = spawn("sleep", ["60"], { stdio: "ignore" });
	onTestFinished(() => void outside.kill("SIGKILL"));
	const { run } = await open();
	const { stdout, stderr } = await run(
		'kill -9 "$1"; cat "/proc/$1/environ" "/proc/$1/root/etc/hostname"; kill -9 -1; ls -d /proc/[0-9]* | wc -l',
		String(outside.pid),
	);
	expect(stderr).toMatch(/No such process/);
	expect(stderr).toMatch(/No such file/);
	expect(Number(stdout || 0)).toBeLessThan(6);
	expect(outside.exitCode ?? outside.signalCode).toBeNull();
	const writeBack = 'for f in core_pattern modprobe hostname; do v=$(cat $f); echo "$v" > $f && echo changed; done';
	expect((await run(`cd /proc/sys/kernel; ${writeBack}`)).stdout).toBe("");
});

sandboxed("programs gain no privileges and cannot change the mounts", async () => {
	const home = tempHome({ ".ssh/id": "secret" });
	const { run } = await open();
	const status = (await run("cat /proc/self/status")).stdout;
	expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
	expect(status).toMatch(/^CapEff:\s*0+$/m);
	expect(status).toMatch(/^CapBnd:\s*0+$/m);
	for (const script of [
		`umount ${home}/.ssh; cat ${home}/.ssh/id`,
		`unshare -Um sh -c 'umount -l ${home}/.ssh; cat ${home}/.ssh/id'`,
		`unshare -Urm sh -c 'umount -l ${home}/.ssh; mount -o remount,rw,bind /; cat ${home}/.ssh/id; touch /etc/new'`,
		`nsenter -t 1 -m cat ${home}/.ssh/id`,
		"mount -t tmpfs none /mnt",
		"chroot / id",
		"mknod /tmp/sda b 8 0",
		"su -c 'touch /etc/new' </dev/null",
	]) {
		expect((await run(`${script} && echo done`)).stdout, script).toBe("");
	}
	expect(existsSync("/etc/new")).toBe(false);
});

sandboxed("programs receive no secrets from the environment, no open files and no terminal", async () => {
	setVariable("MY_API_KEY", "secret-value");
	setVariable("LD_LIBRARY_PATH", "/nowhere");
	const { run } = await open();
	const { stdout, stderr } = await run("env; ls -l /proc/self/fd; ls /dev; : </dev/tty; ps -o sid= -p $$ | tr -d ' '");
	expect(stdout).not.toContain("secret-value");
	expect(stdout).toContain(`HOME=${homedir()}`);
	expect(stdout).toContain("TMPDIR=/tmp");
	const files = [...stdout.matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd, target]) => [Number(fd), target] as const);
	// Input, output, errors and the directory that ls lists; a file of the process that runs the tests is replaced.
	expect(files.filter(([fd, target]) => fd > 3 && target !== "/dev/null")).toEqual([]);
	expect(stdout).not.toMatch(/^(?:sda|vda|mem|kmsg|fuse|kvm)$/m);
	expect(stderr).toContain("/dev/tty");
});

sandboxed("processes in the background end with their command, and all with pi", async () => {
	const { cwd, engine, run } = await open();
	const mark = `70${process.pid}`;
	await run(`setsid sh -c 'sleep ${mark}; touch late' >/dev/null 2>&1 & exit 0`);
	const child = engine.spawn(["sh", "-c", `(sleep ${mark}; touch later) & echo begun; sleep ${mark}`]);
	await new Promise((resolve) => child.stdout.once("data", resolve));
	const ended = new Promise((resolve) => child.once("close", resolve));
	child.kill("SIGKILL");
	await ended;
	await expect.poll(() => processesWith(`sleep ${mark}`)).toEqual([]);
	expect(readdirSync(cwd)).toEqual([]);
});

sandboxed("bwrap is not taken from a directory that the sandbox can write to", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "bin/bwrap": "#!/bin/sh\ntouch escaped\n" });
	spawnSync("chmod", ["+x", join(cwd, "bin", "bwrap")]);
	setVariable("PATH", `bin:${join(cwd, "bin")}:${process.env.PATH}`);
	const { run } = await open({ cwd });
	expect((await run("echo safe")).stdout).toBe("safe\n");
	expect(existsSync(join(cwd, "escaped"))).toBe(false);
});

sandboxed("a machine without a filter for its system calls has a warning instead", async () => {
	const arch = Object.getOwnPropertyDescriptor(process, "arch") ?? {};
	onTestFinished(() => void Object.defineProperty(process, "arch", arch));
	Object.defineProperty(process, "arch", { ...arch, value: "riscv64" });
	const { engine, run } = await open();
	expect(engine.warnings).toEqual([
		"On riscv64, the sandbox does not keep programs from the Unix sockets of others, such as an ssh-agent · see docs/hosts.md",
	]);
	expect((await run("echo works")).stdout).toBe("works\n");
	Object.defineProperty(process, "arch", arch);
	expect((await open()).engine.warnings).toEqual([]);
});

test.runIf(process.platform === "linux")("the sandbox is refused without bubblewrap", async () => {
	setVariable("PATH", "/nowhere");
	await expect(open()).rejects.toMatchObject({
		code: "host_unreachable",
		message: "The sandbox needs bubblewrap: there is no bwrap in PATH, and pi runs nothing outside it",
		hint: "install the package bubblewrap",
	});
});

sandboxed("working directories that would open the sandbox are refused", async () => {
	const home = tempHome({ ".ssh/x": "", ".pi/agent/hooks/x.ts": "", "linked/file": "" });
	mkdirSync(join(home, "linked", "real"));
	symlinkSync("real", join(home, "linked", ".git"));
	const refused = async (cwd: string) =>
		await open({ cwd }).then(
			() => "",
			(error: Error) => error.message,
		);
	const about = (cwd: string, why: string) => `The sandbox cannot make ${cwd} writable: ${why}`;
	expect(await refused(home)).toBe(about(home, "shells run files of your home directory"));
	expect(await refused("/")).toBe(about("/", "shells run files of your home directory"));
	expect(await refused("/etc")).toBe(about("/etc", "programs outside use /etc"));
	expect(await refused("/tmp")).toBe(about("/tmp", "other programs keep sockets and files there"));
	expect(await refused(join(home, ".ssh"))).toBe(about(join(home, ".ssh"), `the sandbox hides ${home}/.ssh`));
	const hooks = join(home, ".pi", "agent", "hooks");
	expect(await refused(hooks)).toBe(about(hooks, `the sandbox hides ${home}/.pi/agent`));
	expect(await refused(join(home, "linked"))).toBe(about(join(home, "linked"), "its .git is a link"));
	const named = join(home, "named");
	writeFiles(named, { ".git": "gitdir: data/link/git\n", "real/git/config": "" });
	mkdirSync(join(named, "data"));
	symlinkSync("../real", join(named, "data", "link"));
	expect(await refused(named)).toBe(about(named, `its .git names ${named}/data/link, which is a link`));
});

test("pi's ripgrep can be read even if pi is in the temporary directory, which the sandbox replaces", () => {
	const [cwd, state] = [tempDir(), tempDir()];
	const place = { platform: "linux", cwd, homes: [], env: {}, sessionDir: null, state } as const;
	const bound = (ripgrep: string) => {
		const args = sandboxArguments({ ...place, ripgrep, hasNetwork: false, hasGit: false }, {}, null);
		const [replaced = "", ...later] = args.join(" ").split(` --ro-bind ${ripgrep} ${ripgrep} --bind ${cwd}`);
		return later.length > 0 && replaced.includes(`--bind ${state}/tmp /tmp`);
	};
	expect([bound("/tmp/pi/bin"), bound("/usr/lib/pi/bin")]).toEqual([true, false]);
});

test("the profile for macOS denies what it does not name, and secrets last", () => {
	writeFileSync("/dev/null", "");
	const profile = (hasNetwork: boolean, agentDir = '/Users/a/my "project"/x/agent') =>
		seatbeltProfile({
			platform: "darwin",
			cwd: '/Users/a/my "project"',
			homes: ["/Users/a"],
			env: { PI_CODING_AGENT_DIR: agentDir },
			sessionDir: "/Users/a/sessions",
			state: "/private/tmp/state",
			ripgrep: null,
			hasNetwork,
			hasGit: true,
		});
	const closed = profile(false).split("\n");
	expect(closed.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
	expect(closed).toContain(
		'(allow file-write* (subpath "/Users/a/my \\"project\\"") (subpath "/private/tmp/state/tmp"))',
	);
	expect(closed).toContain('(deny file-write* (subpath "/Users/a/my \\"project\\"/.git"))');
	expect(closed).toContain('(deny file-write* (literal "/Users/a/my \\"project\\"/x"))');
	const denied = closed.findIndex((line) => line.startsWith("(deny file-read*"));
	expect(closed[denied]).toContain('(subpath "/Users/a/.ssh")');
	expect(closed[denied]).toContain('(subpath "/Users/a/sessions")');
	expect(denied).toBeGreaterThan(closed.indexOf("(allow file-read*)"));
	expect(closed.join("\n")).not.toMatch(/network/);
	expect(profile(false, "~/own").split("\n")[denied]).toContain('(subpath "/Users/a/own")');
	expect(profile(false, "own").split("\n")[denied]).toContain(`(subpath "${process.cwd()}/own")`);
	expect(profile(true)).toContain('(allow network-outbound (remote ip "*:*")');
	// Balanced: sandbox-exec refuses anything else.
	for (const line of closed) {
		const bare = line.replace(/"(?:\\.|[^"\\])*"/g, "");
		expect(bare.split("(").length, line).toBe(bare.split(")").length);
	}
});
