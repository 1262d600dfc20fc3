import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { resolveUserPath } from "../config/paths.js";
import { isRecord } from "../util/is-record.js";
import { RESOURCE_KINDS } from "./resources.js";
import { isRemoteSource, type SourceBase } from "./source.js";

/** The values of `-e`: files and directories of single extensions, and sources of packages. */
export function splitExtensionArguments(
	values: readonly string[],
	{ dir, home }: SourceBase,
): { extensions: string[]; packages: string[] } {
	const extensions: string[] = [];
	const packages: string[] = [];
	for (const value of values) {
		const path = isRemoteSource(value) ? null : resolveUserPath(value, dir, home);
		if (path === null) packages.push(value);
		else if (isPackageDirectory(path)) packages.push(path);
		else extensions.push(path);
	}
	return { extensions, packages };
}

/** A directory that brings more than one extension: its package.json says so, or it has directories of other kinds. */
function isPackageDirectory(path: string): boolean {
	if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
	const named = readKinds(join(path, "package.json"));
	if (named) return named.some((kind) => kind !== "extensions");
	const isExtension = ["index.ts", "index.js"].some((name) => existsSync(join(path, name)));
	return !isExtension && RESOURCE_KINDS.some((kind) => existsSync(join(path, kind)));
}

function readKinds(path: string): string[] | null {
	try {
		const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
		const pi = isRecord(manifest) ? manifest.pi : undefined;
		return isRecord(pi) ? Object.keys(pi) : null;
	} catch {
		return null; // none, or one that names nothing
	}
}
