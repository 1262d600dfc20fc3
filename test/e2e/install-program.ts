import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { startRegistry } from "../helpers/registry.js";

declare module "vitest" {
	interface ProvidedContext {
		/** Path of the installed command `pi`; missing in projects other than e2e. */
		program?: string;
		/** Paths that exist once the program is installed: the tarball, and a file with the error, empty after success. */
		installation?: { tarball: string; result: string };
	}
}

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Packs the project and installs the tarball with `npm install --global` into an empty home directory, as a user of a new
 * container would: the tests run this program. Vitest calls it once for each run of the e2e project. The unit tests run
 * meanwhile; `await-program.ts` waits for the result.
 * @returns removes the directory
 * @throws Error when dist/ is missing
 */
export default function installProgram({ provide }: TestProject): () => Promise<void> {
	if (!existsSync(join(root, "dist", "CHANGELOG.md"))) throw new Error("dist/ is missing: run `npm run build` first");
	const directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-installed-")));
	const tarball = join(directory, "pi.tgz");
	const result = join(directory, "result.txt");
	const prefix = join(directory, "npm");
	provide("program", join(prefix, "bin", "pi"));
	provide("installation", { tarball, result });
	const finished = install(directory, prefix, tarball)
		.then(
			() => "",
			(error: unknown) => String(error),
		)
		.then((failure) => {
			writeFileSync(`${result}.new`, failure);
			renameSync(`${result}.new`, result);
		});
	return async () => {
		await finished;
		rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
	};
}

async function install(directory: string, prefix: string, tarball: string): Promise<void> {
	const home = join(directory, "home");
	mkdirSync(home);
	const registry = await startRegistry(root, directory);
	try {
		renameSync(registry.tarball, tarball);
		const env = {
			// npm runs on the Node that runs the tests.
			PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
			HOME: home,
			npm_config_registry: registry.url,
			npm_config_prefix: prefix,
		};
		const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
		await run("npm", ["install", "--global", tarball, ...options], { cwd: home, env });
	} finally {
		await registry.close();
	}
}
