import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { expect, onTestFinished, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

/** Starts a Node program that has `spawnGroup`, `exec` and `runShell` in scope. */
async function startProgram(
	body: string,
): Promise<{ program: ChildProcess; firstLine: Promise<string>; ended: Promise<number | null> }> {
	const dir = await mkdtemp(join(tmpdir(), "pi-reaper-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	const source = join(dir, "source.ts");
	const names = ["util/process.js", "util/reaper.js", "tools/shell.js", "tools/machine/local-machine.js"].map((name) =>
		JSON.stringify(join(SOURCES, name)),
	);
	await writeFile(source, names.map((name) => `export * from ${name};`).join("\n"));
	await build({
		input: source,
		platform: "node",
		resolve: { extensionAlias: { ".js": [".ts"] } },
		external: ["@vscode/ripgrep"],
		output: { file: join(dir, "process.mjs"), codeSplitting: false },
	});
	const file = join(dir, "program.mjs");
	await writeFile(file, `import { createLocalMachine, exec, runShell, spawnGroup } from "./process.mjs";\n${body}`);
	const program = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
	onTestFinished(() => void program.kill("SIGKILL"));
	const firstLine = new Promise<string>((resolve) => {
		let text = "";
		program.stdout.on("data", (chunk: Buffer) => {
			text += chunk.toString();
			if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
		});
	});
	const ended = new Promise<number | null>((resolve) => program.once("exit", resolve));
	return { program, firstLine, ended };
}

function isRunning(pid: number): boolean {
	try {
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
}

const PRINT = "onOutput: (chunk) => { process.stdout.write(chunk); }";

test("kill -9 of the program leaves no child process, even one that ignores SIGTERM", async () => {
	const { program, firstLine, ended } = await startProgram(
		`spawnGroup("sh", ["-c", "trap '' TERM HUP; sleep 1000 & echo $$ $!; wait; wait"], { ${PRINT} });`,
	);
	const pids = (await firstLine).split(" ").map(Number);
	expect(pids.map(isRunning)).toEqual([true, true]);
	program.kill("SIGKILL");
	await ended;
	await expect.poll(() => pids.map(isRunning), { timeout: 8000 }).toEqual([false, false]);
});

test.each(["/bin/bash", "/bin/sh"])(
	"kill -9 before the program registers a command leaves no child of %s",
	async (shell) => {
		const { program, firstLine, ended } = await startProgram(`
		import { writeSync } from "node:fs";
		import { Socket } from "node:net";
		Socket.prototype.write = () => true; // as if the program had been killed just before
		runShell(createLocalMachine("/"), "sleep 1000 & echo $$ $!; wait", {
			shellPath: "${shell}",
			tmpDir: "/nowhere",
			onProgress: ({ text }) => { if (text.includes("\\n")) writeSync(1, text); },
		});
	`);
		const pids = (await firstLine).split(" ").map(Number);
		expect(pids.map(isRunning)).toEqual([true, true]);
		program.kill("SIGKILL");
		await ended;
		await expect.poll(() => pids.map(isRunning), { timeout: 8000 }).toEqual([false, false]);
	},
);

test("kill -9 before the program registers the command of an exec leaves no child", async () => {
	const { program, firstLine, ended } = await startProgram(`
		import { existsSync, readFileSync, writeSync } from "node:fs";
		import { Socket } from "node:net";
		Socket.prototype.write = () => true; // as if the program had been killed just before
		const file = "/tmp/pi-exec-" + process.pid;
		void exec("sh", ["-c", "sleep 1000 & echo $$ $! > " + file + "; wait"]);
		while (!existsSync(file) || readFileSync(file, "utf8") === "") await new Promise((resolve) => setTimeout(resolve, 5));
		writeSync(1, readFileSync(file, "utf8"));
	`);
	const pids = (await firstLine).split(" ").map(Number);
	onTestFinished(() => rm(`/tmp/pi-exec-${program.pid}`, { force: true }));
	expect(pids.map(isRunning)).toEqual([true, true]);
	program.kill("SIGKILL");
	await ended;
	await expect.poll(() => pids.map(isRunning), { timeout: 8000 }).toEqual([false, false]);
});

test.each(["/bin/bash", "/bin/sh"])(
	"a command of %s waits until the reaper has room for its group, so that kill -9 leaves no child",
	async (shell) => {
		const { program, firstLine, ended } = await startProgram(`
		import { execFileSync } from "node:child_process";
		import { writeSync } from "node:fs";
		import { Socket } from "node:net";
		import { prepareReaper, reaperPipe } from "./process.mjs";
		prepareReaper();
		const rows = execFileSync("ps", ["-o", "pid=", "-o", "ppid=", "-o", "args=", "-e"]).toString().split("\\n");
		const reaper = rows.find((row) => row.includes("pi-reaper") && Number(row.trim().split(/\\s+/)[1]) === process.pid);
		const signal = (name) => process.kill(Number(reaper.trim().split(/\\s+/)[0]), name);
		signal("SIGSTOP");
		const pipe = reaperPipe();
		while (pipe.writableLength === 0) pipe.write("\\n");
		Socket.prototype.write = () => true; // as if the program had been killed just before
		setTimeout(signal, 300, "SIGCONT");
		runShell(createLocalMachine("/"), "sleep 1000 & echo $$ $!; wait", {
			shellPath: "${shell}",
			tmpDir: "/nowhere",
			onProgress: ({ text }) => { if (text.includes("\\n")) writeSync(1, text); },
		});
	`);
		const pids = (await firstLine).split(" ").map(Number);
		expect(pids.map(isRunning)).toEqual([true, true]);
		program.kill("SIGKILL");
		await ended;
		await expect.poll(() => pids.map(isRunning), { timeout: 8000 }).toEqual([false, false]);
	},
);

test("a command runs at once if the reaper was killed", async () => {
	const { firstLine } = await startProgram(`
		const { stdout } = await exec("sh", ["-c", "ps -o pid= -o ppid= -o args= -e | grep 'pi-reape[r]'"]);
		const reaper = stdout.split("\\n").map((line) => line.trim().split(/\\s+/)).find((row) => Number(row[1]) === process.pid);
		process.kill(Number(reaper[0]), "SIGKILL");
		const started = performance.now();
		const { code } = await exec("true", []); // its shell gets the pipe before the program notices
		console.log(JSON.stringify({ code, isQuick: performance.now() - started < 1000 }));
		process.exit();
	`);
	expect(JSON.parse(await firstLine)).toEqual({ code: 0, isQuick: true });
});

test("a background process does not keep the program alive and ends with it", async () => {
	const { firstLine, ended } = await startProgram(
		`await spawnGroup("sh", ["-c", "sleep 1000 & echo $!"], { ${PRINT} });`,
	);
	const pid = Number(await firstLine);
	expect(await ended).toBe(0);
	await expect.poll(() => isRunning(pid), { timeout: 8000 }).toBe(false);
});

test("the reaper starts with the first command, and one serves all commands", async () => {
	const { firstLine } = await startProgram(`
		import { reaperPipe, trackedGroups } from "./process.mjs";
		const before = reaperPipe() !== undefined;
		await Promise.all([exec("true", []), exec("false", [])]);
		console.log(JSON.stringify({ before, after: reaperPipe() !== undefined, listed: trackedGroups() }));
		process.exit();
	`);
	expect(JSON.parse(await firstLine)).toEqual({ before: false, after: true, listed: [] });
});

test("the reaper runs before a program is started", async () => {
	const { firstLine } = await startProgram(`
		import { reaperPipe } from "./process.mjs";
		const { exitCode } = await spawnGroup("/no/such/program", []);
		console.log(JSON.stringify({ exitCode, reaper: reaperPipe() !== undefined }));
		process.exit();
	`);
	expect(JSON.parse(await firstLine)).toEqual({ exitCode: 127, reaper: true });
});

test("the next command replaces a killed reaper, which tracks earlier groups too", async () => {
	const { program, firstLine, ended } = await startProgram(`
		let pid;
		spawnGroup("sh", ["-c", "echo $$; exec sleep 1000"], { onOutput: (chunk) => { pid = Number(chunk); } });
		while (pid === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
		const { stdout } = await exec("sh", ["-c", "ps -o pid= -o ppid= -o args= -e | grep 'pi-reape[r]'"]);
		const reaper = stdout.split("\\n").map((line) => line.trim().split(/\\s+/)).find((row) => Number(row[1]) === process.pid);
		process.kill(Number(reaper[0]), "SIGKILL");
		const runs = () => { try { return process.kill(Number(reaper[0]), 0); } catch { return false; } };
		while (runs()) await new Promise((resolve) => setTimeout(resolve, 5));
		await exec("true", []);
		console.log(String(pid));
	`);
	const pid = Number(await firstLine);
	expect(isRunning(pid)).toBe(true);
	program.kill("SIGKILL");
	await ended;
	await expect.poll(() => isRunning(pid), { timeout: 8000 }).toBe(false);
});
