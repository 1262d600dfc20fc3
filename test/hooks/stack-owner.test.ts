import { expect, test } from "vitest";
import { fileInStack, isCalledBy, isOwnStack } from "../../src/hooks/stack-owner.js";
import { packageRoot } from "../../src/util/package-root.js";

const HOOK = { path: "/agent/hooks/a.ts", realPath: "/elsewhere/a.ts" };
const PI = `    at write (${packageRoot()}/dist/chunk.js:1:2)`;
const NODE = "    at process.processTimers (node:internal/timers:520:7)";

const stack = (...lines: string[]) => ["Error: x", ...lines].join("\n");

test("a hook is known by its path and by its real path", () => {
	expect(fileInStack(stack(NODE, "    at /agent/hooks/a.ts:3:4"), [HOOK])).toBe(HOOK);
	expect(fileInStack(stack("    at f (/elsewhere/a.ts:3:4)", PI), [HOOK])).toBe(HOOK);
	expect(fileInStack(stack(NODE, PI), [HOOK])).toBeUndefined();
});

test("pi's own errors are known by its files; one of Node alone is nobody's", () => {
	expect([isOwnStack(stack(NODE, PI)), isOwnStack(stack(NODE)), isOwnStack("")]).toEqual([true, false, false]);
});

test.each([
	["a hook", true, ["    at f (/agent/hooks/a.ts:3:4)", PI]],
	[
		"a package that the hook brought",
		true,
		["    at log (/agent/hooks/node_modules/log/log.js:1:1)", "    at /agent/hooks/a.ts:3:4"],
	],
	["pi, which a hook has asked for something", false, [PI, "    at async /agent/hooks/a.ts:3:4"]],
	["neither", false, [NODE]],
])("what is called by %s is told from the rest", (_, expected, lines) => {
	expect(isCalledBy(stack(...lines), [HOOK])).toBe(expected);
});
