import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseJson } from "../helpers/json.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The named code blocks of all pages, by page and name. */
function examples(): Record<string, string> {
	const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
	return Object.fromEntries(
		pages.flatMap((page) =>
			[...readFileSync(join(root, "docs", page), "utf8").matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)].flatMap(
				([, name = "", code = ""]) =>
					name.startsWith("hooks-examples/") || !code.includes("import ") ? [] : [[join(page, name), code]],
			),
		),
	);
}

test("every example of the docs has correct types", { timeout: 120_000 }, () => {
	const dir = realpathSync(tempDir());
	const files = examples();
	expect(Object.keys(files).length).toBeGreaterThan(35);
	const { compilerOptions } = Object(parseJson(readFileSync(join(root, "tsconfig.json"), "utf8")));
	const shipped = (name: string) => [join(root, "dist/types", `${name}.d.ts`)];
	writeFiles(dir, {
		...files,
		"package.json": JSON.stringify({ type: "module" }),
		"tsconfig.json": JSON.stringify({
			compilerOptions: {
				...compilerOptions,
				rootDir: "/",
				paths: {
					"@mariozechner/pi-coding-agent": shipped("index"),
					"@mariozechner/pi-coding-agent/hooks": shipped("hooks"),
					"@mariozechner/pi-coding-agent/testing": shipped("testing"),
				},
			},
			include: [join(root, "src/**/*.d.ts")],
			files: Object.keys(files),
		}),
	});
	symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
	const tsc = join(root, "node_modules/typescript/bin/tsc");
	const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", dir, "--pretty", "false", "--checkers", "1"], {
		encoding: "utf8",
	});
	expect(stdout + stderr).toBe("");
});
