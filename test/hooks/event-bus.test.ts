import { describe, expect, test } from "vitest";
import type { HookAPI, HookEventContext } from "../../src/hooks/types.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

/** A hook that passes its `pi` to the test. */
const TALK = (name: string) => hook(`globalThis.__hooks.${name} = pi;`);

/** Sessions with hooks `a.ts` and `b.ts`, whose `pi` the test has. */
async function start(): Promise<TestSession & { a(): HookAPI; b(): HookAPI; path(name: string): string }> {
	const hooks: Record<string, HookAPI> = {};
	share("__hooks", hooks);
	const run = await startSession({ hooks: { "a.ts": TALK("a"), "b.ts": TALK("b") } });
	const of = (name: string) => hooks[name] ?? expect.fail(`${name} is not loaded`);
	return { ...run, a: () => of("a"), b: () => of("b"), path: (name) => `${run.agentDir}/hooks/${name}.ts` };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("pi.events", () => {
	test("an event reaches the handlers of all hooks in load order, with its data and a context object", async () => {
		const { a, b, cwd } = await start();
		const heard: unknown[] = [];
		b().events.on("built", (data, ctx) => void heard.push(["b", data, ctx.cwd]));
		a().events.on("built", (data) => void heard.push(["a", data]));
		a().events.on("other", () => void heard.push("other"));
		const data = { ok: true };
		b().events.emit("built", data);
		expect(heard).toEqual([
			["a", data],
			["b", data, cwd],
		]);
		a().events.emit("nobody listens");
	});

	test("a handler can be removed, also by another handler", async () => {
		const { a, b } = await start();
		const heard: string[] = [];
		const same = () => void heard.push("same");
		const stop = a().events.on("tick", same);
		a().events.on("tick", same);
		const stopLast = b().events.on("tick", () => void heard.push("last"));
		a().events.emit("tick");
		stop();
		stop();
		a().events.on("tick", () => stopLast());
		a().events.emit("tick");
		expect(heard).toEqual(["same", "same", "last", "same"]);
	});

	test("errors are reported with the hook's name, and the other handlers run", async () => {
		const { a, b, notices, session, path } = await start();
		const heard: string[] = [];
		a().events.on("tick", () => {
			throw new Error("no ears");
		});
		a().events.on("tick", async () => {
			throw new Error("slow ears");
		});
		b().events.on("tick", () => void heard.push("b"));
		b().events.emit("tick");
		await nextTurn();
		expect(heard).toEqual(["b"]);
		expect(notices()).toEqual(["event tick: no ears", "event tick: slow ears"]);
		const errors = session.inspector.hookStatuses().map(({ path: file, figures }) => [file, figures.lastError]);
		expect(errors).toEqual([
			[path("a"), "event tick: slow ears"],
			[path("b"), null],
		]);
	});

	test("a handler that emits its own event without an end is stopped, and the error names the event", async () => {
		const { a, b, notices } = await start();
		let calls = 0;
		for (const pi of [a(), b(), b()]) {
			pi.events.on("tick", () => {
				calls++;
				pi.events.emit("tick");
			});
		}
		a().events.emit("tick");
		expect(calls).toBeLessThan(100);
		expect(notices()).toEqual([
			'event tick: the event "tick" is emitted 20 levels deep · do not emit an event in its own handler without an end',
		]);
		await nextTurn();
		await nextTurn();
		const before = calls;
		a().events.emit("tick");
		expect(calls).toBeGreaterThan(before);
	});

	test("two handlers that answer each other in promises cannot block pi", async () => {
		const { a, b, notices } = await start();
		a().events.on("ping", async () => {
			await null;
			a().events.emit("pong");
		});
		b().events.on("pong", async () => {
			await null;
			b().events.emit("ping");
		});
		a().events.emit("ping");
		await nextTurn();
		expect(notices()).toEqual([expect.stringMatching(/the event "p[io]ng" is emitted 10000 times in a row/)]);
	});

	test("handlers are gone while their hook is off, and after a reload; timers of the old hook cannot emit", async () => {
		const { a, b, session, path } = await start();
		const heard: unknown[] = [];
		const contexts: HookEventContext[] = [];
		b().events.on("tick", (data, ctx) => {
			heard.push(data);
			contexts.push(ctx);
		});
		await session.inspector.setHookEnabled(path("b"), false);
		a().events.emit("tick", 1);
		b().events.emit("tick", 2);
		await session.inspector.setHookEnabled(path("b"), true);
		a().events.emit("tick", 3);
		expect(heard).toEqual([3]);
		expect(contexts[0]?.signal.aborted).toBe(false);
		const old = a();
		await session.reload();
		a().events.emit("tick", 4);
		expect(heard).toEqual([3]);
		expect(contexts[0]?.signal.aborted).toBe(true);
		expect(() => old.events.emit("tick", 5)).toThrow(/pi\.events\.emit of \S+ was used after the hook was unloaded/);
	});

	test("an error without a trace is reported where the handler was added", async () => {
		const { session, events } = await startSession({
			hooks: {
				"a.ts": hook(
					`pi.events.on("tick", () => { throw null; });\npi.command("go", { handler: () => pi.events.emit("tick") });`,
				),
			},
		});
		await session.prompt("/go");
		expect(events.filter(({ type }) => type === "hook_error")).toMatchObject([
			{ event: "event tick", error: "null was thrown", line: 2 },
		]);
	});

	test("a factory reaches nobody; a session start handler reaches all", async () => {
		const heard: unknown[] = [];
		share("__heard", heard);
		await startSession({
			hooks: {
				"a.ts": hook(`pi.events.on("hello", (data) => { globalThis.__heard.push(data); });`),
				"b.ts": hook(`pi.events.emit("hello", "factory"); pi.on("session", () => pi.events.emit("hello", "start"));`),
			},
		});
		expect(heard).toEqual(["start"]);
	});

	test.each<[string, (pi: HookAPI) => unknown, string]>([
		[
			"a name that is not a text",
			(pi) => pi.events.emit(7 as never),
			"the name of an event must be a non-empty string",
		],
		["an empty name", (pi) => pi.events.on(" ", () => {}), "the name of an event must be a non-empty string"],
		["a missing handler", (pi) => pi.events.on("x", 7 as never), "the handler of an event is not a function"],
	])("refuses %s", async (_, action, reason) => {
		const { a } = await start();
		expect(() => action(a())).toThrow(reason);
	});
});
