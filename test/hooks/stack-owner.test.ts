import { expect, onTestFinished, test } from "vitest";
import { fileInStack, isCalledBy, isOwnStack } from "../../src/hooks/stack-owner.js";
import { packageRoot } from "../../src/util/package-root.js";
import { startSession } from "../helpers/session.js";

const HOOK = { path: "/agent/hooks/a.ts", realPath: "/elsewhere/a.ts" };
const PI = `    at write (${packageRoot()}/dist/chunk.js:1:2)`;
const NODE = "    at process.processTimers (node:internal/timers:520:7)";

const stack = (...lines: string[]) => ["Error: x", ...lines].join("\n");

test("a hook is recognized by its path and by its real path", () => {
	expect(fileInStack(stack(NODE, "    at /agent/hooks/a.ts:3:4"), [HOOK])).toBe(HOOK);
	expect(fileInStack(stack("    at f (/elsewhere/a.ts:3:4)", PI), [HOOK])).toBe(HOOK);
	expect(fileInStack(stack(NODE, PI), [HOOK])).toBeUndefined();
});

test("errors of pi are recognized by its files; an error of Node alone belongs to no one", () => {
	expect([isOwnStack(stack(NODE, PI)), isOwnStack(stack(NODE)), isOwnStack("")]).toEqual([true, false, false]);
});

test.each([
	["a hook", true, ["    at f (/agent/hooks/a.ts:3:4)", PI]],
	[
		"a package that the hook brought",
		true,
		["    at log (/agent/hooks/node_modules/log/log.js:1:1)", "    at /agent/hooks/a.ts:3:4"],
	],
	["pi on behalf of a hook", false, [PI, "    at async /agent/hooks/a.ts:3:4"]],
	["neither", false, [NODE]],
])("code called by %s is recognized", (_, expected, lines) => {
	expect(isCalledBy(stack(...lines), [HOOK])).toBe(expected);
});

const EMPTY_HOOK = "export default () => {};";

test.each([
	["a hook, if one is loaded", { "a.ts": EMPTY_HOOK }, [/\/hooks\/a\.ts$/]],
	[
		"all hooks, when there are several",
		{ "a.ts": EMPTY_HOOK, "b.ts": "throw new Error('did not load');" },
		[/^one of a, b$/],
	],
	["pi itself, if no hook is loaded", {}, []],
])("a value thrown without a stack is attributed to %s", async (_, hooks, paths) => {
	const { session, events } = await startSession({ hooks });
	expect(session.blameHook(undefined)).toBe(paths.length > 0);
	expect(events.filter(({ type }) => type === "hook_error")).toEqual(
		paths.map((path) => ({
			type: "hook_error",
			hookPath: expect.stringMatching(path),
			event: "a timer or promise",
			error: "undefined was thrown",
		})),
	);
});

test("an error of pi itself exits pi, even with hooks loaded", async () => {
	const { session } = await startSession({ hooks: { "a.ts": EMPTY_HOOK } });
	expect(session.blameHook(new Error("thrown in a file of this package"))).toBe(false);
});

test("a stale context object in an interval is reported once for each member, until the next reload", async () => {
	const source = `export default (pi) => pi.on("session", (_, ctx) => {
		globalThis.__timers.push(setInterval(() => { globalThis.__ticks?.(); ctx.model; }, 1));
		globalThis.__timers.push(setInterval(() => ctx.ui.notify("tick"), 1));
	});`;
	const timers: NodeJS.Timeout[] = [];
	Reflect.set(globalThis, "__timers", timers);
	const { session, events } = await startSession({ hooks: { "a.ts": source } });
	const listeners = process.listeners("uncaughtException");
	process.removeAllListeners("uncaughtException");
	process.on("uncaughtException", (error) => void session.blameHook(error));
	onTestFinished(() => {
		for (const timer of timers) clearInterval(timer);
		Reflect.deleteProperty(globalThis, "__timers");
		process.removeAllListeners("uncaughtException");
		for (const listener of listeners) process.on("uncaughtException", listener);
	});
	const ticks = async (count: number) => {
		await new Promise<void>((resolve) => {
			let left = count;
			Reflect.set(globalThis, "__ticks", () => --left === 0 && resolve());
		});
		Reflect.deleteProperty(globalThis, "__ticks");
	};
	const members = () =>
		events.flatMap((event) => (event.type === "hook_error" ? (/ctx\.\w+/.exec(event.error) ?? []) : [])).sort();
	await session.newSession();
	await ticks(20);
	expect(members()).toEqual(["ctx.model", "ctx.ui"]);
	await session.reload();
	await ticks(20);
	// The old version after the session changed, and again after it was unloaded.
	expect(members().filter((member) => member === "ctx.model")).toHaveLength(2);
});
