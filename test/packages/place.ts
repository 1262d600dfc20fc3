import { existsSync, readdirSync, readFileSync } from "node:fs";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { PiError } from "../../src/errors.js";
import { configuredPackages, scopeFiles } from "../../src/packages/configured.js";
import { loadPackage } from "../../src/packages/load-package.js";
import { readLockFile } from "../../src/packages/lock-file.js";
import { PackageManager, type SavedScope } from "../../src/packages/package-manager.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

/** Source of a hook that does nothing. */
export const HOOK = "export default function () {}\n";

/** An empty agent directory and project, and everything that manages packages in them. */
export async function place() {
	const registry = await startNpmRegistry();
	const agentDir = tempAgentDir();
	const [cwd, home] = [tempDir(), tempDir()];
	const env = { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, HOME: home, ...registry.env };
	const paths = findPaths(env, cwd, home);
	const manager = (signal?: AbortSignal) =>
		new PackageManager({ paths, env, settings: new SettingsStore(paths), ...(signal ? { signal } : {}) });
	const lock = (scope: SavedScope = "user") => readLockFile(scopeFiles(scope, paths).lock).packages;
	const load = async () => {
		const { packages } = configuredPackages(new SettingsStore(paths), paths);
		return Promise.all(
			packages.map((one) =>
				loadPackage(one, lock(one.scope === "project" ? "project" : "user").get(one.name), {
					store: paths.packages,
					agentDir,
				}),
			),
		);
	};
	const settings = () => JSON.parse(readFileSync(paths.settings, "utf8"));
	const stored = () => (existsSync(paths.packages) ? readdirSync(paths.packages) : []);
	return { registry, agentDir, cwd, home, env, paths, manager, lock, load, settings, stored };
}

/** A package `demo` with a hook and a skill. */
export const demo = (version = "1.0.0", more: Record<string, unknown> = {}, files: Record<string, string> = {}) =>
	definePackage({ name: "demo", version, ...more }, { "hooks/hello.ts": HOOK, "skills/s/SKILL.md": "---\n", ...files });

/** The message and hint of an expected failure. */
export async function failure(work: Promise<unknown>): Promise<string> {
	const error: unknown = await work.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof PiError)) throw new Error(`Expected a PiError, not ${String(error)}`);
	return `${error.message}${error.hint ? ` · ${error.hint}` : ""}`;
}
