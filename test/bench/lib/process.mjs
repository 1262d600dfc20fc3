import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The environment of measured processes: no API keys, no proxies, and no NODE_EXTRA_CA_CERTS, which costs Node 37 ms.
 * @param {string} home a directory that the process may fill
 */
export function scrubbedEnv(home, extra = {}) {
	const tmp = join(home, "tmp");
	mkdirSync(tmp, { recursive: true });
	return {
		PATH: process.env.PATH,
		HOME: home,
		SHELL: "/bin/sh",
		TMPDIR: tmp,
		LANG: "C.UTF-8",
		TERM: "xterm-256color",
		PI_OFFLINE: "1",
		...extra,
	};
}

/**
 * Runs a process to its end.
 * @returns wall time in ms, CPU in ms of it and its children (-1 without bash), exit code and output
 */
export async function runToEnd(command, { env, cwd, stdin }) {
	const started = performance.now();
	// The shell's `times` is the only portable way to get the resource usage of a child that has exited.
	const script = '"$@"; status=$?; times >&2; exit $status';
	const child = spawn("bash", ["-c", script, "bench", ...command], { env, cwd });
	let stdout = "";
	let stderr = "";
	child.stdout.setEncoding("utf8").on("data", (chunk) => {
		stdout += chunk;
	});
	child.stderr.setEncoding("utf8").on("data", (chunk) => {
		stderr += chunk;
	});
	child.stdin.on("error", () => {});
	child.stdin.end(stdin ?? "");
	const code = await new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	const wallMs = performance.now() - started;
	return { wallMs, cpuMs: childTimes(stderr), code, stdout, stderr };
}

/** Parses the last line of bash's `times`: user and system time of the children, such as `0m0.061s 0m0.012s`. */
function childTimes(stderr) {
	const found = [...stderr.matchAll(/(\d+)m([\d.]+)s (\d+)m([\d.]+)s/g)].at(-1);
	if (!found) return -1;
	const [userMin, user, sysMin, sys] = found.slice(1).map(Number);
	return (userMin * 60 + user + sysMin * 60 + sys) * 1000;
}

/** CPU of a running process so far in ms, all threads; NaN without /proc. */
export function cpuOf(pid) {
	try {
		const tasks = `/proc/${pid}/task`;
		let nanoseconds = 0;
		for (const task of readdirSync(tasks)) {
			nanoseconds += Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]);
		}
		return nanoseconds / 1e6;
	} catch {
		return Number.NaN;
	}
}

/** CPU of the ended children of a running process so far in ms, in steps of 10; NaN without /proc. */
export function childrenCpuOf(pid) {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// After the name of the program, which may contain anything; the kernel counts hundredths of a second.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		const [user, system] = fields.slice(13, 15).map(Number);
		return (user + system) * 10;
	} catch {
		return Number.NaN;
	}
}

/** Resident memory in MiB: current and peak; NaN without /proc. */
export function memoryOf(pid) {
	try {
		const status = readFileSync(`/proc/${pid}/status`, "utf8");
		const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
		return { now: field("VmRSS"), peak: field("VmHWM") };
	} catch {
		return { now: Number.NaN, peak: Number.NaN };
	}
}

/** Starts a process whose CPU and memory can be sampled. Records only the length of its output. */
export function startProcess(command, { env, cwd }) {
	const [file, ...args] = command;
	const child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
	let stderr = "";
	let stdoutBytes = 0;
	child.stdout.on("data", (chunk) => {
		stdoutBytes += chunk.length;
	});
	child.stderr.setEncoding("utf8").on("data", (chunk) => {
		stderr += chunk;
	});
	let endedAt = 0;
	child.once("exit", () => {
		endedAt = performance.now();
	});
	const ended = new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code) => resolve({ code, stderr, stdoutBytes, endedAt }));
	});
	return { pid: child.pid, ended, kill: () => child.kill("SIGKILL") };
}
