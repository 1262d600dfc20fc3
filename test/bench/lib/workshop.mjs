import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { libraryPatchesPlugin } from "../../../bin/library-patches.js";
import { scrubbedEnv } from "./process.mjs";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * A directory for the complete run, with each floor bundled into one file.
 * @param {string} program the measured JavaScript file
 */
export async function createWorkshop(program = join(ROOT, "bin/pi.cjs")) {
	const dir = mkdtempSync(join(tmpdir(), "pi-bench-"));
	const floors = ["editor", "client", "markdown"];
	await Promise.all(
		floors.map((name) =>
			build({
				cwd: ROOT,
				input: join(ROOT, `test/bench/floors/${name}.mjs`),
				platform: "node",
				external: ["koffi"],
				output: { file: join(dir, "floors", `${name}.mjs`), minify: true },
			}),
		),
	);
	let sandboxes = 0;
	return {
		dir,
		/** The command that starts pi, as a list of arguments. */
		pi: [process.execPath, program],
		floor: (name) => join(dir, "floors", `${name}.mjs`),
		/** A fresh home, agent directory and working directory. */
		sandbox(files = {}) {
			const home = join(dir, `sandbox-${++sandboxes}`);
			const agentDir = join(home, "agent");
			const cwd = join(home, "project");
			mkdirSync(cwd, { recursive: true });
			mkdirSync(agentDir, { recursive: true, mode: 0o700 });
			for (const [path, content] of Object.entries(files)) {
				mkdirSync(dirname(join(agentDir, path)), { recursive: true });
				writeFileSync(join(agentDir, path), typeof content === "string" ? content : JSON.stringify(content));
			}
			return { home, agentDir, cwd, env: scrubbedEnv(home, { PI_CODING_AGENT_DIR: agentDir }) };
		},
		/** Bundles and imports modules of src, to measure them without the rest of the program. */
		async source(...paths) {
			const outfile = join(dir, "source", `${paths[0].replaceAll("/", "-")}.mjs`);
			const entry = join(dir, "source", `${paths[0].replaceAll("/", "-")}.entry.mjs`);
			mkdirSync(dirname(entry), { recursive: true });
			writeFileSync(entry, paths.map((path) => `export * from ${JSON.stringify(join(ROOT, path))};`).join("\n"));
			await build({
				cwd: ROOT,
				input: entry,
				platform: "node",
				resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
				plugins: [libraryPatchesPlugin()],
				output: { file: outfile },
			});
			return import(outfile);
		},
		remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }),
	};
}
