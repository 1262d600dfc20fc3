import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exec, spawnGroup } from "../../src/util/process.js";

async function tempDir(): Promise<string> {
	const dir = await mkdtemp(join(tmpdir(), "pi-process-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	return dir;
}

/** Runs a script and aborts it as soon as it has printed `ready`. */
async function abortWhenReady(script: string) {
	const controller = new AbortController();
	let output = "";
	const outcome = await spawnGroup("sh", ["-c", script], {
		signal: controller.signal,
		onOutput: (chunk) => {
			output += chunk.toString();
			if (output.includes("ready")) controller.abort();
			return undefined;
		},
	});
	return { outcome, output };
}

/** True while a process runs; zombies do not count. */
function isRunning(pid: number): boolean {
	try {
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
}

test("exec returns stdout, stderr and the exit code separately", async () => {
	const result = await exec("sh", ["-c", "echo out; echo err >&2; exit 3"]);
	expect(result).toEqual({ stdout: "out\n", stderr: "err\n", code: 3 });
});

test("exec passes arguments unchanged, without a shell", async () => {
	const result = await exec("printf", ["%s|", "a b", "$HOME", "", "*"]);
	expect(result.stdout).toBe("a b|$HOME||*|");
});

test("exec runs in the given directory with the environment added to the user's", async () => {
	const dir = await tempDir();
	const result = await exec("sh", ["-c", 'pwd; echo "$GREETING"; test -n "$PATH"'], {
		cwd: dir,
		env: { GREETING: "hi" },
	});
	expect(result).toEqual({ stdout: `${dir}\nhi\n`, stderr: "", code: 0 });
});

test("arguments arrive unchanged", async () => {
	const args = ["", "a b", "$HOME", "'\"", "-n", "ü\n"];
	expect(await exec("printf", ["%s|", ...args])).toMatchObject({ stdout: args.map((arg) => `${arg}|`).join("") });
});

test("a missing program returns code 127 with the reason on stderr", async () => {
	const result = await exec("no-such-program-here", []);
	expect(result).toEqual({ stdout: "", stderr: "no-such-program-here: command not found\n", code: 127 });
});

test("the error for a missing directory names the directory", async () => {
	const result = await exec("true", [], { cwd: "/no/such/dir" });
	expect(result).toMatchObject({ code: 127, stderr: "Cannot start true: the directory /no/such/dir does not exist\n" });
});

test.each([
	["a file that is no program", "/etc/passwd", [], "/etc/passwd: permission denied\n"],
	["arguments that are too long", "true", ["x".repeat(3_000_000)], "Cannot start true: its arguments are too long\n"],
])("%s returns code 126", async (_name, command, args, stderr) => {
	expect(await exec(command, args)).toEqual({ stdout: "", stderr, code: 126 });
});

test("an argument that the system refuses returns code 126 and does not throw", async () => {
	const result = await exec("true", ["nul\0byte"]);
	expect(result.code).toBe(126);
	expect(result.stderr).toContain("Cannot start true");
});

test("stdin is empty, so a program that reads it continues", async () => {
	expect(await exec("cat", [])).toEqual({ stdout: "", stderr: "", code: 0 });
});

test("a program ended by a signal returns code 128 + n and killed is not set", async () => {
	expect(await exec("sh", ["-c", "kill -s SEGV $$"])).toEqual({ stdout: "", stderr: "", code: 139 });
});

test("a timeout kills the program and never reports success", async () => {
	const result = await exec("sh", ["-c", "trap 'exit 0' TERM; while :; do sleep 0.01; done"], { timeout: 50 });
	expect(result).toMatchObject({ killed: true, code: 143 });
});

test("a timeout of 0 means no limit", async () => {
	expect(await exec("sh", ["-c", "sleep 0.05; echo done"], { timeout: 0 })).toMatchObject({
		stdout: "done\n",
		code: 0,
	});
});

test("an already aborted signal prevents the start of the program", async () => {
	const dir = await tempDir();
	const result = await exec("touch", ["made"], { cwd: dir, signal: AbortSignal.abort() });
	expect(result).toMatchObject({ killed: true, code: 143 });
	expect((await exec("ls", [dir])).stdout).toBe("");
});

test("characters split between chunks are decoded, invalid bytes are replaced", async () => {
	const script = "printf '\\342'; sleep 0.05; printf '\\202'; sleep 0.05; printf '\\254'; printf '\\377'";
	expect((await exec("sh", ["-c", script])).stdout).toBe("€\uFFFD");
});

test("each stream is truncated at 10 MB and marked as truncated", async () => {
	const result = await exec("sh", ["-c", "yes € | head -c 12000000; yes e | head -c 100 >&2"]);
	expect(result).toMatchObject({ code: 0, truncated: true, stderr: "e\n".repeat(50) });
	expect(Buffer.byteLength(result.stdout)).toBeLessThanOrEqual(10 * 1024 * 1024);
	expect(result.stdout).not.toContain("\uFFFD");
});

test("an abort ends the process group", async () => {
	const { outcome, output } = await abortWhenReady("sleep 1000 & echo $!; echo ready; wait");
	expect(outcome).toMatchObject({ endedBy: "abort", exitSignal: "SIGTERM", leftRunning: false });
	await expect.poll(() => isRunning(Number.parseInt(output, 10))).toBe(false);
});

test("a group that ignores SIGTERM is killed a second later", async () => {
	const { outcome, output } = await abortWhenReady("trap '' TERM; sleep 1000 & echo $!; echo ready; wait; wait");
	expect(outcome).toMatchObject({ endedBy: "abort", exitCode: null, exitSignal: "SIGKILL" });
	// The processes of a group do not end in order.
	await expect.poll(() => isRunning(Number.parseInt(output, 10))).toBe(false);
});

test("a child that ignores SIGTERM is killed even after its leader has ended", async () => {
	const { output } = await abortWhenReady(
		"sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.1; done' & sleep 0.1; echo ready; wait",
	);
	const pid = Number.parseInt(output, 10);
	await expect.poll(() => isRunning(pid), { timeout: 5000 }).toBe(false);
});

test("the result does not wait for a background process that holds the pipe and keeps running", async () => {
	let output = "";
	const script = "sh -c 'sleep 1; echo late; echo $$ > alive; exec sleep 1000' & echo started";
	const dir = await tempDir();
	const outcome = await spawnGroup("sh", ["-c", script], {
		cwd: dir,
		onOutput: (chunk) => {
			output += chunk.toString();
			return undefined;
		},
	});
	onTestFinished(async () => void process.kill(Number(await readFile(join(dir, "alive"), "utf8"))));
	expect(outcome).toMatchObject({ exitCode: 0, endedBy: "itself", leftRunning: true });
	expect(output).toBe("started\n");
	await expect.poll(() => exec("cat", [join(dir, "alive")]), { timeout: 5000 }).toMatchObject({ code: 0 });
	expect(output).toBe("started\n");
});

test("all output of a program that ends immediately is collected", async () => {
	for (let round = 0; round < 20; round++) {
		const { stdout } = await exec("sh", ["-c", "head -c 150000 /dev/zero | tr '\\0' x; echo end"]);
		expect(stdout.length).toBe(150_004);
	}
});

test("a reader that pauses receives 100 MB one chunk at a time", async () => {
	let inFlight = 0;
	let most = 0;
	let bytes = 0;
	const outcome = await spawnGroup("sh", ["-c", "yes | head -c 100000000"], {
		onOutput: async (chunk) => {
			bytes += chunk.length;
			most = Math.max(most, ++inFlight);
			await new Promise((resolve) => setImmediate(resolve));
			inFlight--;
		},
	});
	expect(outcome.exitCode).toBe(0);
	expect(bytes).toBe(100_000_000);
	expect(most).toBe(1);
});

test("a reader that pauses receives one chunk at a time even if the program ends meanwhile", async () => {
	let inFlight = 0;
	let most = 0;
	let output = "";
	const turn = () => new Promise((resolve) => setImmediate(resolve));
	await spawnGroup("sh", ["-c", "echo $$; exec head -c 70000 /dev/zero"], {
		onOutput: async (chunk) => {
			output += chunk.toString();
			most = Math.max(most, ++inFlight);
			while (isRunning(Number.parseInt(output, 10))) await turn();
			// Until pi is notified of the end, which is when Node resumes paused pipes.
			for (let count = 0; count < 20; count++) await turn();
			inFlight--;
		},
	});
	expect(most).toBe(1);
	expect(output.length).toBeGreaterThan(70_000);
});

test("a reader that pauses for long after the end of the program receives the rest", async () => {
	let output = "";
	await spawnGroup("sh", ["-c", "head -c 60000 /dev/zero; sleep 0.1; printf 'the end'"], {
		onOutput: async (chunk) => {
			output += chunk.toString();
			// Longer than pi waits for the pipe after the end of the program.
			await new Promise((resolve) => setTimeout(resolve, 500));
		},
	});
	expect(output.length).toBe(60_000 + "the end".length);
});
