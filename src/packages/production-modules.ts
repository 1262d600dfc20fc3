import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isRecord } from "../util/is-record.js";
import type { NodeModules } from "./dependencies.js";
import { isOwnPackage } from "./npm.js";
import { pathIn } from "./package-files.js";

/** The kinds of dependencies that code loads when it runs. */
const KINDS = ["dependencies", "optionalDependencies", "peerDependencies"];

/**
 * The dependencies that a package in a directory needs when it runs, and theirs, as they are installed in its `node_modules`.
 * Its devDependencies do not count.
 * @param root real path of the package
 * @param manifest its package.json
 */
export function productionModules(root: string, manifest: unknown): NodeModules[] {
	const path = join(root, "node_modules");
	const found = new Set<string>();
	/** Real paths of the packages whose dependencies are known. */
	const seen = new Set<string>();
	const follow = (dir: string, names: readonly string[]) => {
		for (const name of names) {
			const at = resolveModule(name, dir, root);
			if (at === null) continue;
			found.add(at);
			const real = realpathSync(at);
			// A link, as package managers set them: the directory that it leads to counts as well.
			if (real !== at && real.startsWith(path + sep)) found.add(real);
			if (seen.has(real)) continue;
			seen.add(real);
			follow(real, namesIn(readManifest(real)));
		}
	};
	follow(
		root,
		namesIn(manifest).filter((name) => !isOwnPackage(name)),
	);
	// What is inside another dependency belongs to it.
	const isInside = (one: string) => [...found].some((other) => one.startsWith(other + sep));
	const dirs = [...found].filter((one) => !isInside(one)).map((one) => pathIn(path, one));
	return [{ path, label: "node_modules", only: dirs.sort() }];
}

/** Finds a module as Node does, but not above the package. */
function resolveModule(name: string, from: string, root: string): string | null {
	for (let dir = from; dir === root || dir.startsWith(root + sep); dir = dirname(dir)) {
		const path = join(dir, "node_modules", name);
		if (existsSync(path)) return path;
	}
	return null;
}

function namesIn(manifest: unknown): string[] {
	if (!isRecord(manifest)) return [];
	return KINDS.flatMap((kind) => {
		const entries = manifest[kind];
		return isRecord(entries) ? Object.keys(entries).filter((name) => NAME.test(name)) : [];
	});
}

/** No paths: a name must not lead out of `node_modules`. */
const NAME = /^(?:@[^/\\@.][^/\\]*\/)?[^/\\@.][^/\\]*$/;

function readManifest(dir: string): unknown {
	try {
		return JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
	} catch {
		return null; // it has no dependencies then
	}
}
