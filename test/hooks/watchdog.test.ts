import { expect, test } from "vitest";
import type { HandlerWatch } from "../../src/hooks/watchdog.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { hook } from "./support.js";

/** Records watched calls and counts those that are still running. */
function recordWatch(): { watch: HandlerWatch; watched: string[]; added: string[]; running: () => number } {
	const watched: string[] = [];
	const added: string[] = [];
	let running = 0;
	const watch: HandlerWatch = {
		enter(what, limitMs) {
			watched.push(`${what.replace(/\S+\/hooks\//, "")}, ${limitMs}`);
			running++;
			return () => running--;
		},
		add: ({ kind, path }) => added.push(`${kind} ${path.replace(/\S+\/hooks\//, "")}`),
	};
	return { watch, watched, added, running: () => running };
}

test("handlers, commands and completions are watched from start to end, also if they fail", async () => {
	const { watch, watched, added, running } = recordWatch();
	const { session, provider } = await startSession({
		watch,
		userSettings: { hookTimeout: 40 },
		hooks: {
			"a.ts": hook(`
				pi.on("turn_start", () => { throw new Error("no"); });
				pi.on("turn_end", () => new Promise(() => {}));
				pi.command("go", { complete: () => [], handler: () => ({ status: "went" }) });`),
		},
	});
	provider.reply("ok");
	await session.prompt("hi");
	await session.prompt("/go");
	await session.completeArguments("go", "");
	expect(watched).toEqual([
		"hook a.ts while loading, 40",
		"hook a.ts in turn_start, 40",
		"hook a.ts in turn_end, 40",
		"hook a.ts in /go, 40",
		"hook a.ts in /go, 40",
	]);
	expect(running()).toBe(0);
	expect(added).toEqual(["hook a.ts"]);
});

test("built-in hooks are not watched", async () => {
	const { watch, watched, added } = recordWatch();
	const { session, provider } = await startSession({ watch, userSettings: { features: { tasks: true } } });
	provider.reply([toolCall("tasks", { tasks: [] })], "ok");
	await session.prompt("hi");
	await session.prompt("/tasks");
	expect([watched, added]).toEqual([[], []]);
});
