import { expect, test } from "vitest";
import { hookFileName, hookName } from "../../src/hooks/hook-name.js";

test("a hook is named after its file or folder", () => {
	const paths = ["/x/hooks/stack.ts", "/x/hooks/fold/index.ts", "C:\\hooks\\prune.js", "built-in"];
	expect(paths.map(hookName)).toEqual(["stack", "fold", "prune", "built-in"]);
});

test("a hook is not named after what every package has", () => {
	const paths = ["npm:notes/dist/index.js", "npm:notes/dist/extension.js", "npm:notes/src/tidy.ts", "/x/extension.ts"];
	expect(paths.map(hookName)).toEqual(["notes", "notes", "tidy", "extension"]);
});

test("a hook's file name keeps its folder only for an index file", () => {
	expect(["/x/hooks/stack.ts", "/x/hooks/fold/index.ts"].map(hookFileName)).toEqual(["stack.ts", "fold/index.ts"]);
});
