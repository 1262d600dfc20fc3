import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a TypeScript program as `npm run dev` does. @returns its output */
function runFromSource(program: string) {
	const directory = tempDir();
	writeFiles(directory, { "program.ts": program });
	const { stdout, stderr } = spawnSync(
		process.execPath,
		["--import", join(root, "bin/run-from-source.js"), join(directory, "program.ts")],
		{ cwd: root, encoding: "utf8", env: { PATH: process.env.PATH } },
	);
	return { stdout, stderr };
}

test("the sources run without a build and with the replaced library modules", () => {
	const program = `
		import { safeLine } from ${JSON.stringify(join(root, "src/tui/safe-line.ts"))};
		import { getProviders, parseStreamingJson } from "@mariozechner/pi-ai";
		const texts: string[] = ["plain", "wide 👍"];
		let segmented = 0;
		const { segment } = Intl.Segmenter.prototype;
		Intl.Segmenter.prototype.segment = function (text) { segmented++; return segment.call(this, text); };
		console.log(texts.map((text) => safeLine("\\x1b[1m" + text, 20)), segmented, parseStreamingJson.length);
		console.log(getProviders().includes("anthropic"));
	`;
	expect(runFromSource(program)).toEqual({
		stdout: "[ '\\x1B[1mplain', '\\x1B[1mwide 👍' ] 1 2\ntrue\n",
		stderr: "",
	});
});

test("`npm run dev` runs the program from its sources", () => {
	const { stdout, status } = spawnSync("npm", ["run", "--silent", "dev", "--", "--version"], {
		cwd: root,
		encoding: "utf8",
	});
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	expect({ stdout, status }).toEqual({ stdout: `${version}\n`, status: 0 });
});
