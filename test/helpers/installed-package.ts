import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Directory of this package, the target of `npm link`. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The package's directory in a project. */
export const PACKAGE_PLACE = "node_modules/@mariozechner/pi-coding-agent";

/**
 * Packs the built program and installs it into a project like `npm install <tarball>`, but without a registry: its
 * dependencies are links to the local copies.
 * @returns directory of the package in the project
 */
export function installPackage(project: string): string {
	const packed = mkdtempSync(join(tmpdir(), "pi-packed-"));
	try {
		const tarball = run("npm", ["pack", "--silent", "--pack-destination", packed], PACKAGE_ROOT).trim();
		run("tar", ["-xzf", tarball], packed);
		const target = join(project, PACKAGE_PLACE);
		mkdirSync(dirname(target), { recursive: true });
		renameSync(join(packed, "package"), target);
		const manifest: unknown = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
		for (const name of dependencies(manifest)) {
			const place = join(project, "node_modules", name);
			mkdirSync(dirname(place), { recursive: true });
			symlinkSync(join(PACKAGE_ROOT, "node_modules", name), place);
		}
		return target;
	} finally {
		rmSync(packed, { recursive: true, force: true });
	}
}

/** Links the package into a project, like `npm link`. */
export function linkPackage(project: string): void {
	const target = join(project, PACKAGE_PLACE);
	mkdirSync(dirname(target), { recursive: true });
	symlinkSync(PACKAGE_ROOT, target);
}

function dependencies(manifest: unknown): string[] {
	const named =
		typeof manifest === "object" && manifest !== null && "dependencies" in manifest && manifest.dependencies;
	return Object.keys(named || {});
}

function run(command: string, args: string[], cwd: string): string {
	const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
	if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
	return stdout;
}
