import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment, Paths } from "../config/paths.js";
import { type ConfiguredPackage, scopeFiles } from "./configured.js";
import { installPackage } from "./install.js";
import { readLockFile, updateLockFile } from "./lock-file.js";

/** A version or commit that always has the same contents. */
const EXACT = /^(?:\d+\.\d+\.\d+(?:[-+][\w.+-]+)?|[0-9a-f]{40})$/;

/**
 * Installs a package of `-e`, unless this exact version is there from an earlier run. The settings do not change.
 * @throws PiError `package_failed`
 */
export async function installForRun(
	{ source, name }: ConfiguredPackage,
	{ paths, env }: { paths: Paths; env: Environment },
): Promise<void> {
	if (source.kind === "path") return;
	const { lock } = scopeFiles("run", paths);
	const storeDir = paths.packages;
	const known = readLockFile(lock).packages.get(name);
	const wanted = source.kind === "npm" ? source.range : source.ref;
	const isSame = known !== undefined && wanted !== undefined && [known.version, known.commit].includes(wanted);
	if (isSame && EXACT.test(wanted) && existsSync(join(storeDir, known.dir))) return;
	const { locked } = await installPackage(source, { storeDir, env });
	await updateLockFile(lock, name, locked);
}
