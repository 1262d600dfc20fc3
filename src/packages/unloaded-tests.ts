import { posix } from "node:path";
import type { CodeFile } from "../trust/code-files.js";
import { scanImports } from "../trust/script-imports.js";
import { isRecord } from "../util/is-record.js";
import { TimeSlices } from "../util/time-slices.js";
import { isOwnPackage } from "./npm.js";
import { findResources } from "./resources.js";

const TEST = /(?:^|\/)(?:tests?|__tests__)\/.*\.[cm]?[jt]sx?$|\.(?:test|spec)\.[cm]?[jt]sx?$/;

/**
 * Finds the tests of a package: files that are named like tests, and that nothing which pi loads could load. None are certain
 * if a file computes what it imports.
 * @param manifest its package.json
 */
export async function findUnloadedTests(files: readonly CodeFile[], manifest: unknown): Promise<ReadonlySet<string>> {
	const names = files.map(({ rel }) => rel);
	const resources = new Set(Object.values(findResources(names, manifest)).flat());
	const tests = new Map(
		files.flatMap((file) => (TEST.test(file.rel) && !resources.has(file.rel) ? [[file.rel, file]] : [])),
	);
	const loaded = files.filter(({ rel }) => !tests.has(rel) && /\.[cm]?[jt]sx?$/.test(rel));
	if (tests.size === 0) return new Set();
	const slices = new TimeSlices();
	for (const { rel, bytes } of loaded) {
		if (slices.isOver) await slices.next();
		const { relative, unresolved } = scanImports(bytes.toString("utf8"));
		if (unresolved.some(({ reason }) => reason === "computed at run time")) return new Set();
		for (const specifier of relative) {
			const target = stem(posix.join(posix.dirname(rel), specifier));
			for (const [name, file] of tests) {
				if (stem(name) !== target && !name.startsWith(`${target}/`)) continue;
				tests.delete(name);
				loaded.push(file);
			}
		}
	}
	return new Set(tests.keys());
}

/** The names of packages that only the development of a package needs. */
export function isForDevelopment(name: string, manifest: unknown): boolean {
	const dev = isRecord(manifest) && isRecord(manifest.devDependencies) ? manifest.devDependencies : {};
	return Object.hasOwn(dev, name) || isOwnPackage(name);
}

function stem(path: string): string {
	return path.replace(/\.[cm]?[jt]sx?$/, "");
}
