#!/usr/bin/env node
// Builds dist/: one split bundle for the program and the package entries, and with --types the declarations.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
await build({
	absWorkingDir: root,
	entryPoints: { main: "src/main.ts", index: "src/index.ts", hooks: "src/hooks/index.ts" },
	outdir: dist,
	bundle: true,
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node20",
	minify: true,
	keepNames: true,
	legalComments: "external",
	// Native or optional at run time; @opentelemetry/api is an optional peer that is never installed.
	external: ["koffi", "jiti", "@vscode/ripgrep", "@aws-sdk/*", "@smithy/*", "@opentelemetry/api"],
	// CommonJS dependencies inside the bundle call require().
	banner: {
		js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
	},
	logLevel: "warning",
});
// bin/pi.js answers --help from this file, without loading the bundle.
const help = await build({
	absWorkingDir: root,
	entryPoints: ["src/cli/help.ts"],
	bundle: true,
	format: "esm",
	write: false,
});
const { HELP_TEXT } = await import(`data:text/javascript,${encodeURIComponent(help.outputFiles[0].text)}`);
writeFileSync(join(dist, "help.txt"), HELP_TEXT);
// Last: bin/start.js takes it as the sign of a whole build.
cpSync(join(root, "CHANGELOG.md"), join(dist, "CHANGELOG.md"));

if (process.argv.includes("--types")) {
	const tsc = spawnSync(
		process.execPath,
		[join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "tsconfig.build.json")],
		{ cwd: root, stdio: "inherit" },
	);
	process.exitCode = tsc.status ?? 1;
}
