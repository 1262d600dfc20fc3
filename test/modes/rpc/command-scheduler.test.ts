import { expect, test } from "vitest";
import { CommandScheduler } from "../../../src/modes/rpc/command-scheduler.js";
import type { Concurrency } from "../../../src/operations/operation.js";

/** A scheduler with tasks that end on request; `started` lists those that have started. */
function createTasks() {
	const started: string[] = [];
	const ends = new Map<string, () => void>();
	let start = () => {};
	const scheduler = new CommandScheduler(
		new Promise((resolve) => {
			start = resolve;
		}),
	);
	return {
		started,
		start: async () => {
			start();
			await nextTick();
		},
		run: (name: string, concurrency: Concurrency) =>
			scheduler.run(concurrency, () => {
				started.push(name);
				return new Promise((resolve) => ends.set(name, resolve));
			}),
		end: async (name: string) => {
			ends.get(name)?.();
			await nextTick();
		},
		scheduler,
	};
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test("ordered commands do not wait for conversation commands; all commands after a barrier wait for it", async () => {
	const { started, start, run, end, scheduler } = createTasks();
	run("set", "ordered");
	run("prompt", "conversation");
	run("compact", "conversation");
	run("read", "ordered");
	run("bash", "parallel");
	run("reset", "barrier");
	run("read 2", "ordered");
	expect(started).toEqual([]);
	await start();
	expect(started).toEqual(["set"]);
	await end("set");
	expect(started.slice(1)).toEqual(["prompt", "read"]);
	await end("read");
	expect(started.slice(3)).toEqual(["bash"]);
	await end("prompt");
	expect(started.slice(4)).toEqual(["compact"]);
	await end("compact");
	expect(started.slice(5)).toEqual(["reset"]);
	await end("reset");
	expect(started.slice(6)).toEqual(["read 2"]);
	for (const name of ["bash", "read 2"]) await end(name);
	await scheduler.idle();
});

test("an interrupt starts at once, and all later commands except interrupts wait for it", async () => {
	const { started, start, run, end, scheduler } = createTasks();
	await start();
	run("prompt", "conversation");
	await nextTick();
	run("abort", "interrupt");
	run("abort 2", "interrupt");
	for (const concurrency of ["ordered", "conversation", "parallel"] as const) run(concurrency, concurrency);
	await end("prompt");
	await end("abort");
	expect(started).toEqual(["prompt", "abort", "abort 2"]);
	await end("abort 2");
	expect(started.slice(3)).toEqual(["ordered"]);
	await end("ordered");
	expect(started.slice(4)).toEqual(["conversation", "parallel"]);
	for (const name of ["conversation", "parallel"]) await end(name);
	await scheduler.idle();
});
