import { randomUUID } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BackgroundJobs } from "../../src/tools/background-jobs.js";
import { bashTool } from "../../src/tools/bash.js";
import { MAX_FILE_BYTES } from "../../src/tools/job-output.js";
import { type JobStatus, MAX_RUNNING_JOBS } from "../../src/tools/job-status.js";
import { jobsTool } from "../../src/tools/jobs.js";
import type { ToolContext } from "../../src/tools/tool.js";
import { processesWith } from "../helpers/programs.js";
import { textOf, toolContext } from "./context.js";

/** A context with background commands, which end with the test. */
async function start(changes: Partial<ToolContext> = {}) {
	const changed: JobStatus[] = [];
	const jobs = new BackgroundJobs((job) => changed.push(job));
	onTestFinished(() => void jobs.endAll());
	const context = await toolContext({ jobs, ...changes });
	const bash = async (command: string, more: { timeout?: number } = {}) =>
		textOf(await bashTool.run({ command, background: true, ...more }, context));
	const call = async (action: "list" | "read" | "wait" | "stop", id?: string, timeoutMs?: number) =>
		textOf(
			await jobsTool.run(
				{ action, ...(id === undefined ? {} : { id }), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
				context,
			),
		);
	return { jobs, context, bash, call, changed };
}

/** An argument that marks processes: a process id says nothing outside a sandbox. */
const newMark = () => `pi-test-${randomUUID()}`;
/** Resolves once no process has the mark. */
const untilGone = (mark: string) => expect.poll(() => processesWith(mark)).toEqual([]);

test("bash with background returns at once with the id, and wait returns output and exit code", async () => {
	const { bash, call, context, jobs } = await start();
	expect(await bash("echo one; sleep 0.2; echo two >&2; exit 3")).toMatch(/^Started in the background as job-1\./);
	expect(jobs.find("job-1")).toMatchObject({ isRunning: true, exitCode: null });
	expect(await call("wait", "job-1")).toMatch(/^one\ntwo\n\n\[job-1: exit code 3 after 0\.\d s\]$/);
	const path = jobs.find("job-1")?.outputPath ?? expect.fail();
	expect(path.startsWith(context.tmpDir)).toBe(true);
	expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
	expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("read returns what came since the last read, and never half a character", async () => {
	const { bash, call, context } = await start();
	await bash("printf 'a\\303'; until [ -e go ]; do sleep 0.02; done; printf '\\244b\\n'; sleep 1000");
	await expect.poll(() => call("list")).toContain("\n  a");
	expect(await call("read", "job-1")).toMatch(/^a\n\n\[job-1: running for /);
	expect(await call("read", "1")).toMatch(/^\(no new output\)\n/);
	await writeFile(join(context.cwd, "go"), "");
	await expect.poll(() => call("list")).toContain("\n  aäb");
	expect(await call("read", "job-1")).toMatch(/^äb\n\n\[job-1: running for /);
});

test("a wait that times out or is aborted leaves the command running", async () => {
	const controller = new AbortController();
	const { bash, call, jobs } = await start({ signal: controller.signal });
	await bash("sleep 1000");
	expect(await call("wait", undefined, 50)).toMatch(/^\(no new output\)\n\n\[job-1: running for 0\.\d s\]$/);
	const waiting = call("wait", "job-1");
	controller.abort();
	expect(await waiting).toContain("the user stopped waiting for it");
	expect(jobs.find("job-1")?.isRunning).toBe(true);
});

test("stop ends the complete process tree, even if it ignores SIGTERM", async () => {
	const { bash, call, jobs } = await start();
	const mark = newMark();
	await bash(`trap '' TERM; sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done' ${mark} & wait`);
	await expect.poll(() => jobs.lastLines("job-1", 1)).toEqual(["ready"]);
	expect(processesWith(mark)).toContainEqual(expect.stringMatching(/^\d+ sh -c trap [^&]*$/));
	expect(await call("stop", "job-1")).toMatch(/\[job-1: stopped after 1\.\d s\]$/);
	await untilGone(mark);
	expect(jobs.find("job-1")).toMatchObject({ isRunning: false, exitCode: null, endedBy: "model" });
});

test("a command runs as long as a process that it started holds its output", async () => {
	const { bash, call, jobs } = await start();
	await bash("(sleep 0.5; echo late) & echo early");
	await expect.poll(() => jobs.lastLines("job-1", 1)).toEqual(["early"]);
	expect(await call("wait", "job-1")).toMatch(/^early\nlate\n\n\[job-1: exit code 0 after /);
});

test("processes with output of their own are named when the command ends, and stop ends them", async () => {
	const { bash, call } = await start();
	const mark = newMark();
	await bash(`sh -c 'sleep 1000; :' ${mark} >/dev/null 2>&1 &`);
	expect(await call("wait", "job-1")).toMatch(/exit code 0 after \d\.\d s; processes that it started still run\]$/);
	const isListed = expect.stringMatching(/^\d+ sh -c sleep 1000; : [^>]*$/);
	// The shell may end before the process that it started has become another program.
	await expect.poll(() => processesWith(mark)).toContainEqual(isListed);
	await call("stop", "job-1");
	await untilGone(mark);
});

test("a timeout, a signal and a command that cannot start are named", async () => {
	const { bash, call } = await start();
	await bash("sleep 1000", { timeout: 0.1 });
	await bash("kill -s KILL $$");
	await bash("a\0b");
	expect(await call("wait", "job-1")).toMatch(/\[job-1: timed out after /);
	expect(await call("wait", "job-2")).toMatch(/\[job-2: ended by signal SIGKILL after /);
	expect(await call("wait", "job-3")).toMatch(/\[job-3: not started: The command contains a NUL character/);
	expect(await call("list")).toMatch(/^job-1: timed out .*: sleep 1000\njob-2: ended .*\njob-3: not started/);
});

test("a wrong or missing id gets the ids that exist", async () => {
	const { bash, call, context } = await start();
	expect(await call("list")).toBe("There are no background commands.");
	expect(await call("read", "job-9")).toBe("There are no background commands: they end with their session.");
	await bash("sleep 1000");
	await bash("sleep 2000");
	expect(await call("read")).toMatch(/^The id is missing\. The commands are:\njob-1: running .*\njob-2: running /);
	expect(await call("stop", "job-9")).toMatch(/^There is no background command "job-9"\. The commands are:\njob-1/);
	const { jobs: _, ...bare } = context;
	expect((await jobsTool.run({ action: "list" }, bare)).isError).toBe(true);
	expect(textOf(await bashTool.run({ command: "true", background: true }, bare))).toBe(
		"Background commands are not available here: run the command without background.",
	);
});

test("a command more than the maximum is refused until one has ended", async () => {
	const { bash, call, jobs } = await start();
	for (let number = 1; number <= MAX_RUNNING_JOBS; number++) await bash("sleep 1000");
	expect(await bash("sleep 1000")).toBe(
		"16 background commands are running, which is the maximum: end one with the tool jobs, action stop.",
	);
	await call("stop", "job-1");
	expect(await bash("true")).toContain("job-17");
	await call("wait", "job-17");
	expect(jobs.list()).toHaveLength(17);
});

test("long output is cut like that of bash, and the file keeps its last 10 MB", async () => {
	const { bash, call, jobs } = await start();
	await bash("seq 1 2500000");
	const text = await call("wait", "job-1");
	const path = jobs.find("job-1")?.outputPath ?? expect.fail();
	expect(text).toContain(`[Cut: only the last 2000 of 2500000 lines`);
	expect(text).toContain(`Output: ${path} (use grep, or read with offset).]`);
	expect(text.split("\n")[1999]).toBe("2500000");
	const saved = await readFile(path, "utf8");
	expect(saved.length).toBeLessThanOrEqual(MAX_FILE_BYTES);
	expect(saved).toMatch(/^\[Earlier output was dropped: this file keeps the last 10 MB\.\]\n\d+\n/);
	const numbers = saved.trimEnd().split("\n").slice(1).map(Number);
	expect(numbers.at(-1)).toBe(2_500_000);
	expect(numbers.every((number, at) => at === 0 || number === (numbers[at - 1] ?? 0) + 1)).toBe(true);
});

test("output that cannot be saved is still readable", async () => {
	const { bash, call } = await start({ tmpDir: "/dev/null/nowhere" });
	expect(await bash("seq 1 3000")).toContain("job-1");
	const text = await call("wait", "job-1");
	expect(text).toContain("The output could not be saved; print less, or redirect it to a file.]");
	expect(text).toContain("\n3000\n");
});

test("the end of the session ends all commands, notifies of each, and forgets them", async () => {
	const { bash, call, jobs, changed } = await start();
	const mark = newMark();
	await bash(`echo ${mark}; sleep 1000; :`);
	await bash("true");
	await call("wait", "job-2");
	await expect.poll(() => jobs.lastLines("job-1", 1)).toEqual([mark]);
	expect(processesWith(mark)).not.toEqual([]);
	expect(jobs.endAll().map(({ id }) => id)).toEqual(["job-1"]);
	expect(changed.map(({ id, isRunning, endedBy }) => [id, isRunning, endedBy])).toEqual([
		["job-1", true, undefined],
		["job-2", true, undefined],
		["job-2", false, undefined],
		["job-1", false, "session"],
	]);
	expect(jobs.list()).toEqual([]);
	await untilGone(mark);
	expect(await bash("true")).toContain("job-3");
});

test("a command that a call waits for is moved to the background: the call returns what it printed, and the job the rest", async () => {
	const controller = new AbortController();
	const { context, jobs, changed } = await start({ signal: controller.signal });
	let printed = "";
	const onUpdate: ToolContext["onUpdate"] = (partial) => {
		printed = textOf(partial);
	};
	const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3";
	const running = bashTool.run({ command }, { ...context, onUpdate });
	await expect.poll(() => printed).toBe("one\n");
	expect(jobs.move()).toMatchObject([{ id: "job-1", command, isRunning: true }]);
	expect(jobs.move()).toBeNull();
	const result = await running;
	expect(textOf(result)).toMatch(
		/^one\n\nThe user moved this command to the background as job-1, where it still runs\. /,
	);
	expect(result).toMatchObject({ details: { job: "job-1", moved: true } });
	expect(result.isError).toBeUndefined();

	controller.abort();
	await writeFile(join(context.cwd, "go"), "");
	await expect.poll(() => jobs.find("job-1")).toMatchObject({ isRunning: false, exitCode: 3, lastLine: "two" });
	expect(changed.map(({ isRunning }) => isRunning)).toEqual([true, false]);
	const path = jobs.find("job-1")?.outputPath ?? expect.fail();
	expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
	jobs.endAll();
});

test("a moved command can be stopped with all its processes, and later output is read once", async () => {
	const { call, context, jobs } = await start();
	const mark = newMark();
	const command = `sh -c 'while :; do echo tick; sleep 0.05; done' ${mark} & echo ${mark}; wait`;
	const running = bashTool.run({ command }, context);
	await expect.poll(() => processesWith(mark)).not.toEqual([]);
	expect(jobs.move()).toHaveLength(1);
	await running;
	await expect.poll(() => call("read", "job-1")).toMatch(/^tick\n/);
	await jobs.stop("job-1", "user");
	expect(jobs.find("job-1")).toMatchObject({ isRunning: false, endedBy: "user" });
	await untilGone(mark);
});

test("a command that has ended is no longer movable, and one over the maximum stays where it is", async () => {
	const { bash, context, jobs } = await start();
	expect(textOf(await bashTool.run({ command: "echo done" }, context))).toBe("done");
	expect(jobs.move()).toBeNull();
	for (let count = 0; count < MAX_RUNNING_JOBS; count++) await bash("sleep 1000");
	const running = bashTool.run({ command: "until [ -e go ]; do sleep 0.02; done; echo here" }, context);
	await expect.poll(() => jobs.move()).toEqual([]);
	await writeFile(join(context.cwd, "go"), "");
	expect(textOf(await running)).toBe("here");
});

test("output that was cut is saved completely when the command is moved", async () => {
	const { context, jobs } = await start();
	let printed = "";
	const onUpdate: ToolContext["onUpdate"] = (partial) => {
		printed = textOf(partial);
	};
	const running = bashTool.run({ command: "seq 1 3000; sleep 1000" }, { ...context, onUpdate });
	await expect.poll(() => printed).toMatch(/\n3000\n$/);
	jobs.move();
	const { details } = await running;
	expect(details).toMatchObject({ job: "job-1", moved: true, truncation: { truncated: true } });
	const path = details?.fullOutputPath ?? expect.fail();
	expect((await readFile(path, "utf8")).trimEnd().split("\n")).toHaveLength(3000);
});
