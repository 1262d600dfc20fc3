import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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
const CLIENT = {
	"client.mjs":
		"export const isForm = (body) => body instanceof FormData;\nexport const isStream = (body) => globalThis.ReadableStream && body instanceof globalThis.ReadableStream;\n",
	"internal/headers.mjs": "export const headers = new Headers();\n",
	"internal/request-options.mjs": "export const FallbackEncoder = () => ({});\n",
	"internal/utils/log.mjs": "export const isHeaders = (value) => value instanceof Headers;\n",
};
/** The modules that bin/library-patches.js itself replaces. */
const MODELS = {
	version: "0.73.1",
	files: { "dist/models.generated.js": "export const MODELS = { a: { b: 1 }, c: {} };\n" },
};
const CLIENTS = {
	openai: { version: "6.26.0", files: CLIENT },
	"@anthropic-ai/sdk": { version: "0.91.1", files: CLIENT },
};

/** A project with these patches and these installed libraries. */
function project(
	patches: Record<string, string>,
	libraries: Record<string, { version: string; files: Record<string, string> }>,
): string {
	const directory = tempDir();
	writeFiles(directory, { "patches/README": "" });
	for (const [name, patch] of Object.entries(patches)) writeFiles(join(directory, "patches"), { [name]: patch });
	for (const [name, { version, files }] of Object.entries({
		"@mariozechner/pi-ai": MODELS,
		...CLIENTS,
		...libraries,
	})) {
		writeFiles(join(directory, "node_modules", name), { "package.json": { name, version }, ...files });
	}
	return directory;
}

const ONE = { version: "1.2.3", files: { "dist/one.js": "// one\nexport const one = 1;\n" } };

test("all listed modules are replaced, and no other modules of their libraries", async () => {
	const { paths, patchedSource } = libraryPatches();
	expect(paths.map((path) => path.replace(/^.*node_modules\//, "")).sort()).toEqual([
		"@anthropic-ai/sdk/client.mjs",
		"@anthropic-ai/sdk/internal/headers.mjs",
		"@anthropic-ai/sdk/internal/request-options.mjs",
		"@anthropic-ai/sdk/internal/utils/log.mjs",
		"@mariozechner/pi-ai/dist/models.generated.js",
		"@mariozechner/pi-ai/dist/models.js",
		"@mariozechner/pi-ai/dist/providers/amazon-bedrock.js",
		"@mariozechner/pi-ai/dist/providers/anthropic.js",
		"@mariozechner/pi-ai/dist/providers/google-vertex.js",
		"@mariozechner/pi-ai/dist/providers/google.js",
		"@mariozechner/pi-ai/dist/providers/mistral.js",
		"@mariozechner/pi-ai/dist/providers/openai-codex-responses.js",
		"@mariozechner/pi-ai/dist/providers/openai-completions.js",
		"@mariozechner/pi-ai/dist/providers/openai-responses-shared.js",
		"@mariozechner/pi-ai/dist/utils/event-stream.js",
		"@mariozechner/pi-ai/dist/utils/json-parse.js",
		"@mariozechner/pi-ai/dist/utils/oauth/anthropic.js",
		"@mariozechner/pi-tui/dist/components/editor.js",
		"@mariozechner/pi-tui/dist/utils.js",
		"openai/client.mjs",
		"openai/core/streaming.mjs",
		"openai/internal/headers.mjs",
		"openai/internal/request-options.mjs",
		"openai/internal/utils/log.mjs",
	]);
	for (const path of paths) {
		const code = readFileSync(path, "utf8");
		const replaced = await patchedSource(path, code);
		expect(replaced === null || replaced === code).toBe(false);
	}
	expect(await patchedSource(join(root, "node_modules/@mariozechner/pi-tui/dist/tui.js"), "")).toBeNull();
});

test("a patch changes its module, and a replacement replaces the complete module", async () => {
	const directory = project({ "@scope/lib@1.2.3.patch": PATCH }, { "@scope/lib": ONE });
	const { paths, patchedSource } = libraryPatches(directory);
	const sources = await Promise.all(paths.map((path) => patchedSource(path, readFileSync(path, "utf8"))));
	const lightHeaders = JSON.stringify(join(root, "src/network/light-headers.ts"));
	const client = [
		`import { LightHeaders as Headers } from ${lightHeaders};\n${CLIENT["internal/headers.mjs"]}`,
		`import { LightHeaders as Headers } from ${lightHeaders};\n${CLIENT["internal/utils/log.mjs"]}`,
		expect.stringMatching(/^import \{ encodeJson \} from .*json-body\.ts";\nexport const FallbackEncoder = /),
		expect.stringMatching(
			/^export const isForm = .*\n.* => undefined && body instanceof undefined;\n\nclass FormData \{\}\n$/,
		),
	];
	expect(sources).toEqual([
		'// one\nexport const one = "I";\n',
		expect.stringContaining(
			JSON.stringify([
				["a", '{"b":1}'],
				["c", "{}"],
			]),
		),
		...client,
		...client,
	]);
});

test("the models of a provider are those of the library, and are parsed when they are first read", async () => {
	const path = join(root, "node_modules/@mariozechner/pi-ai/dist/models.generated.js");
	const asModule = (code: string) => import(`data:text/javascript,${encodeURIComponent(code)}`);
	const code = (await libraryPatches().patchedSource(path, readFileSync(path, "utf8"))) ?? "";
	const [library, replaced] = await Promise.all([asModule(readFileSync(path, "utf8")), asModule(code)]);
	expect(Object.getOwnPropertyDescriptor(replaced.MODELS, "anthropic")?.get).toBeTypeOf("function");
	expect({ ...replaced.MODELS }).toEqual(library.MODELS);
	expect(replaced.MODELS.anthropic).toBe(replaced.MODELS.anthropic);
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

test("a replacement of a complete module is rejected with another version of its library", () => {
	const directory = project({}, { "@mariozechner/pi-ai": { ...MODELS, version: "0.74.0" } });
	expect(() => libraryPatches(directory)).toThrow(
		"bin/library-patches.js is for @mariozechner/pi-ai 0.73.1, but 0.74.0 is installed",
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

test("the error for a patch whose context differs names its module", async () => {
	const files = { "dist/one.js": "// 1\nexport const one = 1;\n" };
	const { paths, patchedSource } = libraryPatches(project({ "lib@1.2.3.patch": PATCH }, { lib: { ...ONE, files } }));
	const [path = ""] = paths;
	await expect(patchedSource(path, readFileSync(path, "utf8"))).rejects.toThrow(
		"patches/lib@1.2.3.patch does not apply to dist/one.js of lib 1.2.3",
	);
});
