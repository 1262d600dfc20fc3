import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Directory of this package, the target of `npm link`. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The package's directory in a project. */
export const PACKAGE_PLACE = "node_modules/@mariozechner/pi-coding-agent";

/**
 * Installs a tarball of the program into a project like `npm install <tarball>`, but without a registry: its dependencies
 * are links to the local copies.
 * @throws Error when the tarball cannot be read
 */
export function installPackage(project: string, tarball: string): void {
	const target = join(project, PACKAGE_PLACE);
	mkdirSync(target, { recursive: true });
	execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
	const manifest: unknown = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
	for (const name of dependencies(manifest)) {
		const place = join(project, "node_modules", name);
		mkdirSync(dirname(place), { recursive: true });
		symlinkSync(join(PACKAGE_ROOT, "node_modules", name), place);
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
