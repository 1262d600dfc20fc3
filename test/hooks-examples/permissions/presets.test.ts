import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { callOf, type Preset, verdictOf } from "../../../hooks-examples/permissions/presets.js";
import type { ToolCallEvent } from "../../../src/hooks/types.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { startGuarded } from "../guarded.js";

const PRESETS: readonly Preset[] = ["permissions", "permission-gate", "protected-paths", "plan-mode"];
const STRICT = ["allow", "ask", "deny"];

let cwd: string;

beforeEach(() => {
	cwd = tempDir();
	writeFiles(cwd, { ".env": "KEY=1", "a.ts": "a" });
});

test("presets together are never weaker than one of them, and no stricter than the strictest", () => {
	const event = fc.oneof(
		fc.record({
			toolName: fc.constant("bash"),
			input: fc.record({ command: fc.constantFrom("ls", "rm x", "ls;rm x", "") }),
		}),
		fc.record({
			toolName: fc.constantFrom("read", "write", "edit", "ls"),
			input: fc.record({ path: fc.constantFrom("a.ts", ".env", "../x", ".git/config", "@.env", "~") }),
		}),
		fc.record({ toolName: fc.constantFrom("tasks", "mcp__x"), input: fc.constant({}) }),
	);
	fc.assert(
		fc.property(fc.subarray([...PRESETS], { minLength: 1 }), event, (presets, { toolName, input }) => {
			const called: ToolCallEvent = { type: "tool_call", toolCallId: "1", toolName, input };
			const verdict = (names: readonly Preset[]) => STRICT.indexOf(verdictOf(names, callOf(called, cwd), called, cwd));
			return verdict(presets) === Math.max(...presets.map((preset) => verdict([preset])));
		}),
	);
});

test.each(PRESETS)("%s has plan mode, whose rules and tools the model gets", async (preset) => {
	const { session, provider, notices } = await startGuarded({ presets: [preset], cwd });
	provider.on(() => "ok");
	const request = async () => {
		await session.prompt("go");
		return JSON.stringify(provider.requests.at(-1)?.body);
	};
	expect(await request()).not.toContain("You are in plan mode");
	await session.prompt("/plan");
	const planning = await request();
	expect(planning).toContain("You are in plan mode");
	expect(planning).not.toContain('"name":"write"');
	await session.prompt("/plan");
	expect(await request()).not.toContain("You are in plan mode");
	expect(notices().filter((line) => !line.startsWith("Mode: "))).toEqual([]);
});

describe("several presets", () => {
	test("are one guard: one question, no warning, and no question about what one of them blocks", async () => {
		const { bash, call, asked, notices, warnings } = await startGuarded({ presets: PRESETS, cwd });
		await bash("touch made");
		expect(await call("write", { path: ".env", content: "x" })).toContain(".env is protected");
		expect(asked).toHaveLength(1);
		expect(warnings).toEqual(["Blocked write on the protected path .env"]);
		expect(notices()).toEqual([]);
	});

	test("have one list of commands, modes and keys", async () => {
		const { session } = await startGuarded({ presets: PRESETS, cwd });
		const own = session.palette().filter(({ origin }) => origin.startsWith("hook "));
		expect(own.map(({ name }) => name)).toEqual(["permissions", "mode", "plan"]);
		const modes = await session.completeArguments("mode", "");
		expect(modes.map(({ value }) => value)).toEqual(["ask", "accept-edits", "plan"]);
		expect(session.inspector.hookStatuses().flatMap(({ conflicts = [] }) => conflicts)).toEqual([]);
	});

	test("can be turned on and off one by one, and the others continue", async () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "settings.json": { hooks: ["pi:plan-mode", "pi:permissions", "pi:protected-paths"] } });
		const { session, bash, call, asked } = await startGuarded({ agentDir, cwd, bundledHooks: true, hookFiles: [] });
		await bash("echo");
		expect(asked).toHaveLength(1);
		await session.inspector.setHookEnabled("pi:permissions", false);
		expect(await bash("echo fine")).toContain("fine");
		expect(await call("write", { path: ".env", content: "x" })).toContain("is protected");
		await session.prompt("/mode plan");
		expect(await bash("echo no")).toContain("bash");
		await session.prompt("/mode act");
		await session.inspector.setHookEnabled("pi:permission-gate", true);
		expect(await bash("touch x")).toContain("hook permission-gate asked");
		await session.inspector.setHookEnabled("pi:plan-mode", false);
		expect(await bash("touch x")).toContain("hook permission-gate asked");
	});

	test("never step aside for a hook of the user with one of their commands", async () => {
		const own = `export default (pi) => pi.command("plan", { handler: () => ({ status: "mine" }) });`;
		const { call, session, warnings } = await startGuarded({
			...{ presets: ["protected-paths"], cwd, hooks: { "own.ts": own }, discoverHooks: true },
		});
		expect(await session.prompt("/plan")).toMatchObject({ status: "mine" });
		expect(await call("write", { path: join(cwd, ".env"), content: "x" })).toContain("is protected");
		expect(warnings).toHaveLength(1);
	});
});
