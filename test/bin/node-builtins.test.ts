import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { nodeBuiltins } from "../../bin/node-builtins.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** Bundles these files, starting at main.js, and runs the bundle. @returns its code and output */
async function bundle(files: Record<string, string>): Promise<{ code: string; stdout: string }> {
	const directory = tempDir();
	writeFiles(directory, files);
	const build = await rolldown({ cwd: directory, input: "main.js", platform: "node", plugins: [nodeBuiltins] });
	const { output } = await build.write({ dir: join(directory, "dist"), entryFileNames: "[name].mjs", minify: true });
	await build.close();
	const { stdout, stderr } = spawnSync(process.execPath, [join(directory, "dist/main.mjs")], {
		encoding: "utf8",
		env: {},
	});
	return { code: output[0].code, stdout: stdout + stderr };
}

test("every kind of import returns the same value as in Node", async () => {
	const { code, stdout } = await bundle({
		"main.js": `
			import path, { join as joined, sep } from "node:path";
			import * as os from "os";
			import { EventEmitter } from "node:events";
			import process from "node:process";
			import { createRequire } from "node:module";
			import { fromCommonJs } from "./common.cjs";
			class Emitter extends EventEmitter {}
			const { platform } = await import("node:os");
			console.log(joined("a", "b"), sep === path.sep, path.basename("/x/y"), os.EOL === "\\n");
			console.log(new Emitter() instanceof EventEmitter, platform() === process.platform);
			console.log(createRequire(import.meta.url)("node:path") === path, fromCommonJs === path);
			console.log(Object.keys(os).includes("homedir"));
		`,
		"common.cjs": `exports.fromCommonJs = require("node:path");`,
	});
	expect(stdout).toBe("a/b true y true\ntrue true\ntrue true\ntrue\n");
	expect(code.match(/from"[^"]*"/g)).toEqual(['from"node:module"']);
});

test("unused members are not read", async () => {
	const { code } = await bundle({ "main.js": `import { existsSync } from "node:fs"; console.log(existsSync("/"));` });
	expect(code).toContain("existsSync");
	expect(code).not.toContain("promises");
});
