import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parsePatch } from "diff";
import { expect, test } from "vitest";
import { libraryPatches } from "../../bin/library-patches.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATCH = `Why.

--- a/dist/one.js
+++ b/dist/one.js
@@ -1,2 +1,2 @@
 // one
-export const one = 1;
+export const one = "I";
`;
/** A project with these patches and these installed libraries. */
function project(
	patches: Record<string, string>,
	libraries: Record<string, { version: string; files: Record<string, string> }>,
): string {
	const directory = tempDir();
	writeFiles(directory, { "patches/README": "" });
	for (const [name, patch] of Object.entries(patches)) writeFiles(join(directory, "patches"), { [name]: patch });
	for (const [name, { version, files }] of Object.entries(libraries)) {
		writeFiles(join(directory, "node_modules", name), { "package.json": { name, version }, ...files });
	}
	return directory;
}

const ONE = { version: "1.2.3", files: { "dist/one.js": "// one\nexport const one = 1;\n" } };

test("all listed modules are patched, and no other modules of their libraries", () => {
	const { paths, patchedSource } = libraryPatches();
	for (const path of paths) {
		const code = readFileSync(path, "utf8");
		const patched = patchedSource(path, code);
		expect(patched === null || patched === code).toBe(false);
	}
	expect(patchedSource(join(root, "node_modules/@mariozechner/pi-ai/dist/utils/headers.js"), "")).toBeNull();
});

test("the patches change at most 150 lines", () => {
	const patches = readdirSync(join(root, "patches"), { recursive: true, encoding: "utf8" }).filter((name) =>
		name.endsWith(".patch"),
	);
	const changed = patches.flatMap((name) =>
		parsePatch(readFileSync(join(root, "patches", name), "utf8")).flatMap(({ hunks }) =>
			hunks.flatMap(({ lines }) => lines.filter((line) => /^[+-]/.test(line))),
		),
	);
	expect(changed.length).toBeLessThanOrEqual(150);
});

test("a patch changes its module", () => {
	const directory = project({ "@scope/lib@1.2.3.patch": PATCH }, { "@scope/lib": ONE });
	const { paths, patchedSource } = libraryPatches(directory);
	expect(paths.map((path) => patchedSource(path, readFileSync(path, "utf8")))).toEqual([
		'// one\nexport const one = "I";\n',
	]);
});

test.each([
	["another version", { lib: { ...ONE, version: "1.3.0" } }, "1.3.0"],
	["no installed library", {}, "no version"],
])("a patch is rejected with %s", (_, libraries, found) => {
	const directory = project({ "lib@1.2.3.patch": PATCH }, libraries);
	expect(() => libraryPatches(directory)).toThrow(
		`patches/lib@1.2.3.patch is for lib 1.2.3, but ${found} is installed: run \`npm ci\`, or adapt it to the installed version`,
	);
});

test("a patch without a version, or for a missing module, is rejected", () => {
	expect(() => libraryPatches(project({ "lib.patch": PATCH }, { lib: ONE }))).toThrow(
		"patches/lib.patch is not named <package>@<version>.patch",
	);
	expect(() => libraryPatches(project({ "lib@1.2.3.patch": PATCH }, { lib: { ...ONE, files: {} } }))).toThrow(
		"patches/lib@1.2.3.patch names dist/one.js, which lib 1.2.3 does not have",
	);
});

test("the error for a patch whose context differs names its module", () => {
	const files = { "dist/one.js": "// 1\nexport const one = 1;\n" };
	const { paths, patchedSource } = libraryPatches(project({ "lib@1.2.3.patch": PATCH }, { lib: { ...ONE, files } }));
	const [path = ""] = paths;
	expect(() => patchedSource(path, readFileSync(path, "utf8"))).toThrow(
		"patches/lib@1.2.3.patch does not apply to dist/one.js of lib 1.2.3",
	);
});
