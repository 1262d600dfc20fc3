import { execFile } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { isObject, parseJson } from "../helpers/json.js";

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
 * Packs the project and installs the tarball into an empty directory, without network, as a user would install it: the
 * tests run this program. Vitest calls it once for each run of the e2e project. The unit tests run meanwhile;
 * `await-program.ts` waits for the result.
 * @returns removes the directory
 * @throws Error when dist/ is missing
 */
export default function installProgram({ provide }: TestProject): () => Promise<void> {
	if (!existsSync(join(root, "dist", "CHANGELOG.md"))) throw new Error("dist/ is missing: run `npm run build` first");
	const directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-installed-")));
	const tarball = join(directory, "pi.tgz");
	const result = join(directory, "result.txt");
	const app = join(directory, "app");
	provide("program", join(app, "node_modules", ".bin", "pi"));
	provide("installation", { tarball, result });
	const finished = install(directory, app, tarball)
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

async function install(directory: string, app: string, tarball: string): Promise<void> {
	mkdirSync(app);
	const npm = async (...args: string[]) => {
		const { stdout } = await run("npm", [...args, "--ignore-scripts", "--loglevel=error"], { cwd: app });
		return stdout;
	};
	const packed = await npm("pack", root, "--pack-destination", directory);
	renameSync(join(directory, packed.trim()), tarball);
	const offline = ["--offline", "--cache", join(directory, "cache"), "--no-audit", "--no-fund"];
	await npm("install", tarball, ...dependencies(root), "--install-links", ...offline);
}

/** Directories of the packages that a package needs at run time, as far as they are installed in the project. */
function dependencies(directory: string): string[] {
	const manifest = parseJson(readFileSync(join(directory, "package.json"), "utf8"));
	const { dependencies: required, optionalDependencies: optional } = isObject(manifest) ? manifest : {};
	const names = [required, optional].flatMap((listed) => (isObject(listed) ? Object.keys(listed) : []));
	const installed = names.map((name) => join(root, "node_modules", name)).filter((path) => existsSync(path));
	return [...installed, ...installed.flatMap(dependencies)];
}
