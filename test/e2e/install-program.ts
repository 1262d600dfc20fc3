import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { isObject, parseJson } from "../helpers/json.js";

declare module "vitest" {
	interface ProvidedContext {
		/** Path of the installed command `pi`; missing in projects other than e2e. */
		program?: string;
	}
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Packs the project and installs the tarball into an empty directory, without network, as a user would install it: the
 * tests run this program. Vitest calls it once for each run of the e2e project.
 * @returns removes the directory
 * @throws Error when dist/ is missing, or npm fails
 */
export default function installProgram({ provide }: TestProject): () => void {
	if (!existsSync(join(root, "dist", "CHANGELOG.md"))) throw new Error("dist/ is missing: run `npm run build` first");
	const directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-installed-")));
	const app = join(directory, "app");
	mkdirSync(app);
	const npm = (...args: string[]) =>
		execFileSync("npm", [...args, "--ignore-scripts", "--loglevel=error"], {
			cwd: app,
			encoding: "utf8",
			stdio: "pipe",
		});
	const tarball = npm("pack", root, "--pack-destination", directory).trim();
	const offline = ["--offline", "--cache", join(directory, "cache"), "--no-audit", "--no-fund"];
	npm("install", join(directory, tarball), ...dependencies(root), "--install-links", ...offline);
	provide("program", join(app, "node_modules", ".bin", "pi"));
	return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

/** Directories of the packages that a package needs at run time, as far as they are installed in the project. */
function dependencies(directory: string): string[] {
	const manifest = parseJson(readFileSync(join(directory, "package.json"), "utf8"));
	const { dependencies: required, optionalDependencies: optional } = isObject(manifest) ? manifest : {};
	const names = [required, optional].flatMap((listed) => (isObject(listed) ? Object.keys(listed) : []));
	const installed = names.map((name) => join(root, "node_modules", name)).filter((path) => existsSync(path));
	return [...installed, ...installed.flatMap(dependencies)];
}
