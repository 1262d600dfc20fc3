import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let root: string | null = null;

/** Directory of pi's package, with hooks-examples, docs and CHANGELOG.md; works from source and from the bundle. */
export function packageRoot(): string {
	if (root === null) {
		let dir = dirname(fileURLToPath(import.meta.url));
		while (!existsSync(join(dir, "package.json")) && dirname(dir) !== dir) dir = dirname(dir);
		root = dir;
	}
	return root;
}

/** The version in package.json. */
export function packageVersion(): string {
	const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
	const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
	return String(version);
}
