import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readFile } from "../../../src/tools/file-content.js";
import { createLocalMachine } from "../../../src/tools/machine/local-machine.js";
import type { ToolHost } from "../../../src/tools/machine/machine.js";
import { type EngineProcess, quoteForShell, type ShellEngine } from "../../../src/tools/machine/shell-engine.js";
import { createShellHost } from "../../../src/tools/machine/shell-machine.js";
import { WRITE } from "../../../src/tools/machine/shell-scripts.js";
import { untilGone } from "../../e2e/support.js";
import { findProgram, missingPrograms, processesWith } from "../../helpers/programs.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";
import { localShell, withRipgrep } from "../../helpers/tool-hosts.js";

const never = new AbortController().signal;
/** What no shell may interpret. */
const ODD = [" a b", "-rf", "line\nbreak\n", "'\"$(id)`*", "a=b", "ü\u{1f600}", "\\n", "~", ".hidden", "tab\t"];

async function start(cwd = tempDir(), engine: ShellEngine = localShell()): Promise<ToolHost> {
	const host = await createShellHost(engine, { cwd });
	onTestFinished(() => host.dispose());
	return host;
}

/** Starts a host whose connections the test can cut. */
async function startCuttable(shell = localShell()) {
	const children: EngineProcess[] = [];
	const host = await start(tempDir(), {
		...shell,
		spawn(command) {
			const child = shell.spawn(command);
			children.push(child);
			return child;
		},
	});
	return { host, last: () => children.at(-1) ?? expect.fail() };
}

const outputOf = async (host: ToolHost, command: string | string[], options: Parameters<ToolHost["exec"]>[1] = {}) => {
	let output = "";
	const result = await host.exec(command, {
		...options,
		onOutput(chunk, stream) {
			output += stream === "stdout" ? chunk.toString() : `<${chunk}>`;
			return undefined;
		},
	});
	return { output, ...result };
};

test("names of any characters are written, read, described, listed and deleted as they are", async () => {
	const cwd = tempDir();
	const host = await start(cwd);
	for (const name of ODD) {
		const path = join(cwd, name);
		expect(await host.writeFile(path, name)).toEqual({ created: true, realPath: path });
		expect(readFileSync(path, "utf8")).toBe(name);
		expect((await readFile(host, path, { signal: never })).toString()).toBe(name);
		expect(await host.stat(path)).toEqual({ kind: "file", size: Buffer.byteLength(name) });
		expect(await outputOf(host, ["cat", "--", path])).toMatchObject({ output: name, exitCode: 0 });
	}
	symlinkSync("line\nbreak\n", join(cwd, "link"));
	mkdirSync(join(cwd, "folder\n"));
	symlinkSync("folder\n", join(cwd, "link to folder"));
	const entries = (await host.list(cwd)).sort((a, b) => (a.name < b.name ? -1 : 1));
	const local = (await createLocalMachine(cwd).list(cwd)).sort((a, b) => (a.name < b.name ? -1 : 1));
	expect(entries).toEqual(local);
});

test("an engine that ends long after the program does not delay the result and leaves no process running", async () => {
	const shell = localShell();
	const slow = '"$@"; sleep 5';
	const host = await start(tempDir(), {
		...shell,
		spawn: (command) => shell.spawn(["sh", "-c", slow, "sh", ...command]),
	});
	const startedAt = performance.now();
	for (const command of ["true", ["true"], ["no-such-program"]]) {
		expect(await host.exec(command)).toMatchObject({ endedBy: "itself", leftRunning: false });
	}
	expect(await host.exec("true", { cwd: "/no/where" })).toMatchObject({ exitCode: 126, leftRunning: false });
	expect(await host.exec("sleep 3 &")).toMatchObject({ exitCode: 0, leftRunning: true });
	await host.writeFile(join(host.cwd, "file"), "text");
	expect((await readFile(host, join(host.cwd, "file"), { signal: never })).toString()).toBe("text");
	expect(performance.now() - startedAt).toBeLessThan(5000);
});

test("all bytes survive, in files of any size and from any offset", async () => {
	const cwd = tempDir();
	const host = await start(cwd);
	const bytes = Buffer.alloc(3_000_000, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
	await host.writeFile(join(cwd, "all"), bytes);
	expect(readFileSync(join(cwd, "all")).equals(bytes)).toBe(true);
	expect((await readFile(host, join(cwd, "all"), { signal: never })).equals(bytes)).toBe(true);
	const file = await host.openFile(join(cwd, "all"), { offset: 2_999_990 });
	const into = Buffer.alloc(100);
	expect([file.size, await file.read(into), await file.read(into)]).toEqual([3_000_000, 10, 0]);
	await file.close();
	await host.writeFile(join(cwd, "empty"), "");
	expect((await readFile(host, join(cwd, "empty"), { signal: never })).length).toBe(0);
});

test("a write keeps mode and links, leaves nothing behind, and resolves the path", async () => {
	const cwd = tempDir();
	const host = await start(cwd);
	mkdirSync(join(cwd, "real"));
	symlinkSync("real", join(cwd, "folder"));
	writeFileSync(join(cwd, "real/run.sh"), "old");
	chmodSync(join(cwd, "real/run.sh"), 0o751);
	symlinkSync("folder/run.sh", join(cwd, "one"));
	symlinkSync("one", join(cwd, "two"));
	expect(await host.writeFile(join(cwd, "two"), "new")).toEqual({ created: false, realPath: join(cwd, "real/run.sh") });
	expect([readFileSync(join(cwd, "real/run.sh"), "utf8"), statSync(join(cwd, "real/run.sh")).mode & 0o7777]).toEqual([
		"new",
		0o751,
	]);
	expect(readdirSync(join(cwd, "real"))).toEqual(["run.sh"]);
	expect(await host.realPath(join(cwd, "two"))).toBe(join(cwd, "real/run.sh"));
	expect(await host.realPath(join(cwd, "folder/no/such"))).toBe(join(cwd, "real/no/such"));
});

test.each([
	["openFile", "a missing file", "none", { code: "ENOENT" }],
	["openFile", "a path below a file", "file/x", { code: "ENOTDIR" }],
	["openFile", "a directory", "folder", { code: "EISDIR" }],
	["openFile", "a FIFO", "pipe", { code: "file_unreadable", message: expect.stringContaining("it is a FIFO") }],
	["openFile", "a loop", "loop", { code: "ENOENT" }],
	["stat", "a missing file", "none", { code: "ENOENT" }],
	["list", "a file", "file", { code: "ENOTDIR" }],
	["list", "a missing directory", "none/at/all", { code: "ENOENT" }],
	["writeFile", "a loop", "loop", { code: "ELOOP" }],
	["writeFile", "a directory", "folder", { code: "EISDIR" }],
	["writeFile", "a FIFO", "pipe", { code: "file_unreadable", message: expect.stringContaining("it is a FIFO") }],
] as const)("%s of %s fails with its reason", async (method, _name, path, error) => {
	const cwd = tempDir();
	writeFiles(cwd, { file: "x", "folder/y": "" });
	execFileSync("mkfifo", [join(cwd, "pipe")]);
	symlinkSync("loop", join(cwd, "loop"));
	const host = await start(cwd);
	await expect(host[method](join(cwd, path), "data" as never)).rejects.toMatchObject(error);
});

test("commands get their directory, environment and input, and streams stay apart", async () => {
	const host = await start();
	expect(
		await outputOf(host, "pwd; echo $ODD; cat", { cwd: "/", env: { ODD: "'a  b'" }, stdin: "typed\n" }),
	).toMatchObject({ output: "/\n'a b'\ntyped\n", exitCode: 0, leftRunning: false });
	expect(await outputOf(host, ["sh", "-c", "echo out; sleep 0.1; echo err >&2; exit 7"])).toMatchObject({
		output: "out\n<err\n>",
		exitCode: 7,
	});
	expect((await outputOf(host, "echo \\0; printf 'no newline'")).output).toMatch(/no newline$/);
	expect(await outputOf(host, "true", { cwd: "/no/where" })).toMatchObject({
		failure: expect.stringContaining("/no/where"),
	});
	expect(await outputOf(host, ["no-such-program"])).toMatchObject({
		exitCode: 127,
		failure: "no-such-program: command not found",
	});
});

/** Prints its process id and that of a child, and ignores SIGTERM as it does. */
const STUBBORN = "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; while :; do sleep 0.05; done' & echo $$ $!; wait; wait";

async function startStubborn(host: ToolHost, options: Parameters<ToolHost["exec"]>[1] = {}) {
	let output = "";
	const result = host.exec(STUBBORN, {
		...options,
		onOutput(chunk) {
			output += chunk.toString();
			return undefined;
		},
	});
	await expect.poll(() => output, { timeout: 10_000 }).toMatch(/^\d+ \d+\n$/);
	return { pids: output.trim().split(" ").map(Number), result };
}

test("an abort ends the complete process tree within 2 s, also one that ignores SIGTERM", async () => {
	const host = await start();
	const abort = new AbortController();
	const { pids, result } = await startStubborn(host, { signal: abort.signal });
	const at = performance.now();
	abort.abort();
	expect(await result).toMatchObject({ endedBy: "abort", exitCode: null });
	for (const pid of pids) await untilGone(pid);
	expect(performance.now() - at).toBeLessThan(2000);
});

test("a lost connection ends the process tree within 2 s, and is the failure of the command", async () => {
	const { host, last } = await startCuttable();
	const { pids, result } = await startStubborn(host);
	const at = performance.now();
	const child = last();
	// As when a client is killed: its pipes close.
	for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
	for (const pid of pids) await untilGone(pid);
	expect(performance.now() - at).toBeLessThan(2000);
	expect(await result).toMatchObject({ exitCode: null, failure: "The connection to sh here was lost" });
});

test("a connection that is lost while a file is written leaves the old file and nothing else", async () => {
	const cwd = tempDir();
	writeFileSync(join(cwd, "kept"), "old");
	const shell = localShell();
	const host = await start(cwd, {
		...shell,
		spawn(command) {
			const child = shell.spawn(command);
			if (command.includes(join(cwd, "kept"))) setTimeout(() => child.stdin.destroy(), 20);
			return child;
		},
	});
	// More than fits into the pipe while the host is stopped.
	await expect(host.writeFile(join(cwd, "kept"), Buffer.alloc(200_000_000, "n"))).rejects.toThrow("Cannot write");
	expect([readFileSync(join(cwd, "kept"), "utf8"), readdirSync(cwd)]).toEqual(["old", ["kept"]]);
});

test.each(["sh", "bash", ...(findProgram("busybox") === undefined ? [] : ["busybox"])])(
	"what a killed write leaves is removed by the next one in the directory, with %s",
	async (shell) => {
		const program = shell === "busybox" ? busyboxShell() : shell;
		const cwd = tempDir();
		const children: EngineProcess[] = [];
		const engine = localShell({ shell: program, ...(shell === "busybox" ? { path: dirname(program) } : {}) });
		const spawnChild = (command: readonly string[]) => {
			const child = engine.spawn(command);
			children.push(child);
			return child;
		};
		const host = await start(cwd, { ...engine, spawn: spawnChild });
		const temporary = () => readdirSync(cwd).filter((name) => name.endsWith(".tmp"));
		// Without the end of its input, a write waits.
		const [script, mark] = [WRITE, "0123456789abcdef"];
		const waiting = engine.spawn(["sh", "-c", script, "sh", mark, join(cwd, "a"), "5"]) as ChildProcess;
		await expect.poll(temporary).toEqual([`.pi-${mark}.tmp`]);
		await Promise.all(Array.from({ length: 4 }, (_, at) => host.writeFile(join(cwd, `b${at}`), "x".repeat(100_000))));
		expect(temporary(), "one that is being written remains").toEqual([`.pi-${mark}.tmp`]);
		process.kill(-(waiting.pid ?? 0), "SIGKILL");
		await new Promise((resolve) => waiting.once("close", resolve));
		// This busybox has no flock: only the age says that nobody writes any more.
		const isOld = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
		if (shell === "busybox") utimesSync(join(cwd, `.pi-${mark}.tmp`), isOld, isOld);
		expect(temporary()).toEqual([`.pi-${mark}.tmp`]);
		writeFileSync(join(cwd, ".pi-1-here-01234567.tmp"), "of pi on this machine");
		await host.writeFile(join(cwd, "b"), "y");
		expect(temporary()).toEqual([".pi-1-here-01234567.tmp"]);
	},
);

test.skipIf(findProgram("flock") === undefined)(
	"a write whose file others remove before it is locked starts again",
	async () => {
		const [cwd, bin] = [tempDir(), tempDir()];
		const [flock, count] = [quoteForShell([findProgram("flock") ?? ""]), quoteForShell([join(bin, "count")])];
		// Two other writes were faster.
		const faster = `[ "$1" != 9 ] || [ "$(cat ${count} | wc -c)" -ge 2 ] || { printf x >>${count}; rm -f ${quoteForShell([cwd])}/.pi-*.tmp; }`;
		writeFiles(bin, { count: "", flock: `#!/bin/sh\n${faster}\nexec ${flock} "$@"\n` });
		chmodSync(join(bin, "flock"), 0o755);
		const host = await start(cwd, localShell({ path: `${bin}:${process.env.PATH}` }));
		await host.writeFile(join(cwd, "file"), "content");
		expect([readFileSync(join(bin, "count"), "utf8"), readFileSync(join(cwd, "file"), "utf8")]).toEqual([
			"xx",
			"content",
		]);
	},
);

test.skipIf(findProgram("flock") === undefined)(
	"a write does not remove a temporary file that has the name of one that was removed meanwhile",
	async () => {
		const [cwd, bin] = [tempDir(), tempDir()];
		const left = join(cwd, ".pi-0123.tmp");
		writeFileSync(left, "of a killed write");
		const name = quoteForShell([left]);
		const replaced = `[ "$1" != -n ] || { rm -f ${name}; printf successor >${name}; }`;
		const flock = quoteForShell([findProgram("flock") ?? ""]);
		writeFiles(bin, { flock: `#!/bin/sh\n${replaced}\nexec ${flock} "$@"\n` });
		chmodSync(join(bin, "flock"), 0o755);
		const host = await start(cwd, localShell({ path: `${bin}:${process.env.PATH}` }));
		await host.writeFile(join(cwd, "file"), "content");
		expect(readFileSync(left, "utf8")).toBe("successor");
	},
);

/** A link to busybox with the name `sh`, next to links for all its programs. */
function busyboxShell(): string {
	const busybox = findProgram("busybox");
	if (busybox === undefined) throw new Error("busybox is missing");
	const bin = tempDir();
	for (const name of execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n")) {
		symlinkSync(busybox, join(bin, name));
	}
	return join(bin, "sh");
}

test("a working directory that cannot be used is named with the reason", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "file.txt": "" });
	const openAt = (path: string) => createShellHost(localShell(), { cwd: path });
	const refusal = (reason: string) => ({ code: "host_unreachable", message: `Cannot use sh here: ${reason} there` });
	const [file, missing] = [join(cwd, "file.txt"), join(cwd, "missing")];
	await expect(openAt(file)).rejects.toMatchObject(refusal(`${file} is not a directory`));
	await expect(openAt(missing)).rejects.toMatchObject(refusal(`the directory ${missing} does not exist`));
	await expect(openAt("no/such")).rejects.toMatchObject(refusal("the directory no/such does not exist"));
	await expect(openAt("dev/null")).rejects.toMatchObject(refusal("dev/null is not a directory"));
	const host = await start(cwd);
	const failure = async (path: string) => (await host.exec("true", { cwd: path, stdin: "x" })).failure;
	expect(await failure(file)).toMatch(/^Cannot start .*bash: .*file\.txt is not a directory$/);
	expect(await failure(missing)).toMatch(/^Cannot start .*bash: the directory .*missing does not exist$/);
});

describe("a shell that leads no process group", () => {
	/** Such as that of `podman exec`. */
	const follower = (path = process.env.PATH ?? "") => ({
		name: "follower",
		spawn: ([, ...args]: readonly string[]) =>
			spawn("sh", ["-c", 'sh "$@"; exit', "sh", ...args], { env: { ...process.env, PATH: path }, stdio: "pipe" }),
	});

	test("gets one with setsid: an abort ends all processes", async () => {
		const host = await createShellHost(follower(), { cwd: tempDir() });
		onTestFinished(() => host.dispose());
		expect(host.warnings).toEqual([]);
		const stop = new AbortController();
		const mark = `55${process.pid}`;
		const ended = host.exec(`sleep ${mark} & sleep ${mark}; :`, { signal: stop.signal });
		await expect.poll(() => processesWith(`sleep ${mark}`).length).toBeGreaterThan(2);
		stop.abort();
		expect(await ended).toMatchObject({ endedBy: "abort" });
		await expect.poll(() => processesWith(`sleep ${mark}`)).toEqual([]);
		expect(await outputOf(host, "echo out; exit 3")).toMatchObject({ output: "out\n", exitCode: 3 });
		await host.writeFile(join(host.cwd, "a"), "content");
		expect(readFileSync(join(host.cwd, "a"), "utf8")).toBe("content");
	});

	test("is named if there is no setsid", async () => {
		const bin = tempDir();
		for (const name of ["sh", "env", "uname", "cat", "sleep", "ps"]) {
			symlinkSync(findProgram(name) ?? expect.fail(name), join(bin, name));
		}
		const host = await createShellHost(follower(bin), { cwd: tempDir() });
		onTestFinished(() => host.dispose());
		expect(host.warnings).toEqual([
			"Processes on follower can survive an abort and the end of pi: they have no process group of their own, and setsid is not installed there",
		]);
	});
});

test("dispose ends what runs and what was left running", async () => {
	const host = await start();
	const left = await outputOf(host, "sleep 1000 & echo $!");
	expect(left).toMatchObject({ leftRunning: true, exitCode: 0 });
	const { pids } = await startStubborn(host);
	await host.dispose();
	for (const pid of [Number(left.output), ...pids]) await untilGone(pid);
});

test("after dispose, and while it waits, no program starts: the engine would connect again", async () => {
	const engine = localShell();
	const host = await createShellHost(engine, { cwd: tempDir() });
	await startStubborn(host);
	const spawn = vi.spyOn(engine, "spawn");
	const disposed = host.dispose();
	expect(await outputOf(host, "echo more")).toMatchObject({ output: "", exitCode: null });
	await disposed;
	await expect(host.stat("/")).rejects.toThrow("the connection was closed");
	expect(spawn).not.toHaveBeenCalled();
});

test("calls run at the same time", async () => {
	const cwd = tempDir();
	const host = await start(cwd);
	const numbers = Array.from({ length: 20 }, (_, number) => number);
	await Promise.all(numbers.map((number) => host.writeFile(join(cwd, `f${number}`), `${number}`)));
	const read = numbers.map(async (number) =>
		(await readFile(host, join(cwd, `f${number}`), { signal: never })).toString(),
	);
	expect(await Promise.all(read)).toEqual(numbers.map(String));
});

test("an engine that fails is described with what it said", async () => {
	const refused: ShellEngine = {
		...localShell(),
		name: "ssh build-01",
		spawn: () => localShell().spawn(["sh", "-c", "echo refused >&2; exit 255"]),
	};
	await expect(createShellHost(refused)).rejects.toMatchObject({
		code: "host_unreachable",
		message: "Cannot reach ssh build-01: refused",
	});
	const missing: ShellEngine = {
		...localShell(),
		spawn() {
			throw new Error("ssh is not installed");
		},
	};
	await expect(createShellHost(missing)).rejects.toThrow("Cannot reach sh here: ssh is not installed");
	await expect(createShellHost(localShell(), { cwd: "/no/where" })).rejects.toThrow(
		"the directory /no/where does not exist there",
	);
});

const NEEDLE = { pattern: "needle", literal: false, ignoreCase: false, before: 0, after: 0, maxColumns: 500 };

test("everything but a command is one shell on the host", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "a.ts": "needle\n" });
	const bin = join(cwd, "bin");
	mkdirSync(bin);
	writeFileSync(join(bin, "sh"), `#!/bin/sh\necho >>${cwd}/shells\nexec /bin/sh "$@"\n`);
	chmodSync(join(bin, "sh"), 0o755);
	const host = await start(cwd, localShell({ path: `${bin}:${withRipgrep()}` }));
	for (const call of [
		() => host.stat(join(cwd, "a.ts")),
		() => host.list(cwd),
		() => host.realPath(join(cwd, "a.ts")),
		() => readFile(host, join(cwd, "a.ts"), { signal: never }),
		() => host.writeFile(join(cwd, "b.ts"), "x"),
		() => host.search({ path: cwd, lines: NEEDLE, signal: never }),
	]) {
		writeFileSync(join(cwd, "shells"), "");
		await call();
		expect(readFileSync(join(cwd, "shells"), "utf8"), call.toString()).toBe("\n");
	}
});

test("the end of the connection ends a read whose program hangs", async () => {
	const cwd = tempDir();
	const bin = join(cwd, "bin");
	writeFiles(cwd, { "a.ts": "text", "bin/cat": `#!/bin/sh\ntrap '' TERM\necho $$ >${cwd}/pid\nsleep 60\n` });
	chmodSync(join(bin, "cat"), 0o755);
	const { host, last } = await startCuttable(localShell({ path: `${bin}:${process.env.PATH}` }));
	const file = await host.openFile(join(cwd, "a.ts"));
	const pid = () => (existsSync(join(cwd, "pid")) ? Number(readFileSync(join(cwd, "pid"), "utf8")) : 0);
	await expect.poll(pid).toBeGreaterThan(0);
	const child = last();
	for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
	await untilGone(pid());
	await file.close();
});

/** Login shells of machines, and their Debian packages. */
const LOGIN_SHELLS = {
	...{ sh: "dash", bash: "bash", dash: "dash", zsh: "zsh", ksh: "ksh93u+m" },
	...{ fish: "fish", tcsh: "tcsh", "bsd-csh": "csh" },
};
const installedShells = Object.entries(LOGIN_SHELLS).flatMap(([shell, name]) =>
	missingPrograms(`the login shell ${shell}`, { [shell]: name }) === undefined ? [shell] : [],
);

test.each(installedShells)("a command quoted for a shell arrives unchanged through %s", async (shell) => {
	const words = [...ODD, "", "plain/path.ts", "a!b !! ^a^b", "\\\\'\\", "{a,b}", "long \\\n ü".repeat(300)];
	const command = ["printf", "%s\\0", ...words];
	expect(execFileSync(shell, ["-c", quoteForShell(command)], { encoding: "utf8" })).toBe(
		words.map((word) => `${word}\0`).join(""),
	);
	const local = localShell();
	const cwd = tempDir();
	const host = await start(cwd, {
		...local,
		spawn: (command) =>
			spawn(shell, ["-c", quoteForShell(command)], { detached: true, stdio: ["pipe", "pipe", "pipe"] }),
	});
	await host.writeFile(join(cwd, "a\\!'\n"), "text\\!");
	expect((await readFile(host, join(cwd, "a\\!'\n"), { signal: never })).toString()).toBe("text\\!");
	expect(await outputOf(host, "echo 'one\\\\!'\nprintf 'two\\n'")).toMatchObject({ output: "one\\\\!\ntwo\n" });
	const { pids, result } = await startStubborn(host, { timeoutMs: 1500 });
	expect(await result).toMatchObject({ endedBy: "timeout" });
	for (const pid of pids) await untilGone(pid);
});
