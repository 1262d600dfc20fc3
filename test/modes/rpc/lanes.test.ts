import { expect, test } from "vitest";
import { type Lane, Lanes } from "../../../src/modes/rpc/lanes.js";

/** Starts tasks that end when told to, and tells which have begun. */
function createTasks() {
	const begun: string[] = [];
	const ends = new Map<string, () => void>();
	let start = () => {};
	const lanes = new Lanes(
		new Promise((resolve) => {
			start = resolve;
		}),
	);
	return {
		begun,
		start: async () => {
			start();
			await settle();
		},
		run: (name: string, lane: Lane) =>
			lanes.run(lane, () => {
				begun.push(name);
				return new Promise((resolve) => ends.set(name, resolve));
			}),
		end: async (name: string) => {
			ends.get(name)?.();
			await settle();
		},
		lanes,
	};
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a look does not wait for what takes long; what drives the session waits for both; what replaces it holds all", async () => {
	const { begun, start, run, end, lanes } = createTasks();
	run("now", "now");
	run("set", "order");
	run("prompt", "session");
	run("compact", "session");
	run("look", "order");
	run("bash", "beside");
	run("reset", "both");
	run("look 2", "order");
	expect(begun).toEqual(["now"]);
	await start();
	expect(begun.slice(1)).toEqual(["set"]);
	await end("set");
	expect(begun.slice(2)).toEqual(["prompt", "look"]);
	await end("look");
	expect(begun.slice(4)).toEqual(["bash"]);
	await end("prompt");
	expect(begun.slice(5)).toEqual(["compact"]);
	await end("compact");
	expect(begun.slice(6)).toEqual(["reset"]);
	await end("reset");
	expect(begun.slice(7)).toEqual(["look 2"]);
	for (const name of ["now", "bash", "look 2"]) await end(name);
	await lanes.idle();
});
