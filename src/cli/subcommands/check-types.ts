import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { compilerConfig } from "./compiler-config.js";

/** The result of a type check: a line for each error; null if TypeScript is not installed. */
export type TypeErrors = readonly string[] | null;

/** One line of `tsc`: file, line, column, code and text. */
const TSC_ERROR = /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/;

/** Checks a hook with the TypeScript of its folder or a global one, and the declarations of pi. */
export async function checkTypes(file: string): Promise<TypeErrors> {
	const tsc = findTypeScript(dirname(file));
	if (tsc === null) return null;
	const dir = realpathSync(mkdtempSync(join(tmpdir(), "pi-types-")));
	try {
		const config = join(dir, "tsconfig.json");
		const { compilerOptions } = compilerConfig();
		writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
		const output = await new Promise<string>((done) => {
			execFile(process.execPath, [tsc, "-p", config, "--pretty", "false"], { cwd: dir }, (_, stdout, stderr) =>
				done(stdout + stderr),
			);
		});
		return describe(output, dir);
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

function describe(output: string, dir: string): string[] {
	const lines = output.split("\n").filter((line) => line.trim() !== "");
	return lines.map((line) => {
		const [, path = "", row, column, code, text] = TSC_ERROR.exec(line) ?? [];
		return code === undefined ? line : `${resolve(dir, path)}:${row}:${column}: ${text} (${code})`;
	});
}

/**
 * The compiler next to the hook, else the one installed globally; null without either. That of the working directory could be
 * anyone's code.
 */
function findTypeScript(dir: string): string | null {
	const global = join(dirname(process.execPath), "..", "lib", "node_modules", "typescript");
	const roots = [resolveTypeScript(dir), existsSync(global) ? global : null];
	return (
		roots.flatMap((root) => (root === null ? [] : [join(root, "bin", "tsc")])).find((path) => existsSync(path)) ?? null
	);
}

function resolveTypeScript(dir: string): string | null {
	try {
		return dirname(createRequire(join(dir, "package.json")).resolve("typescript/package.json"));
	} catch {
		return null; // not installed there
	}
}
