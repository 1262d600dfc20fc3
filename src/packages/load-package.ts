import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../errors.js";
import type { CodeFile } from "../trust/code-files.js";
import { trustedText } from "../trust/store.js";
import { plural } from "../util/format-amounts.js";
import type { ConfiguredPackage } from "./configured.js";
import { changedIn, type Dependency } from "./dependencies.js";
import { cacheFileOf, describeStored, differences } from "./install.js";
import type { LockedPackage } from "./lock-file.js";
import { installedModules, manifestText, type PackageContent, readContent } from "./package-content.js";
import { productionModules } from "./production-modules.js";
import { describeResources, findResources, hasResources, type PackageResources } from "./resources.js";

/** A package whose contents match the lock file. It may run once the user trusts them. */
export interface LoadedPackage {
	configured: ConfiguredPackage;
	version: string | null;
	content: PackageContent;
	resources: PackageResources;
	/** Its dependencies as files whose bytes list theirs, for the question and the store of trusted contents. */
	dependencies: readonly (CodeFile & { title: string })[];
}

/** Where packages are. */
export interface PackageDirs {
	/** The directory of packages. */
	store: string;
	agentDir: string;
}

/**
 * Reads a package and compares it with the lock file. One at a path has no entry there: the user's trust in its contents decides.
 * @returns a line that says why it cannot be loaded and what to do, or the package
 */
export async function loadPackage(
	configured: ConfiguredPackage,
	locked: LockedPackage | undefined,
	{ store, agentDir }: PackageDirs,
): Promise<LoadedPackage | string> {
	const { source, name, text } = configured;
	const reinstall = configured.scope === "project" ? "pi install --local" : "pi install";
	if (source.kind === "path") {
		if (!existsSync(source.path))
			return `Package ${name} was not loaded: the directory does not exist · pi remove ${text}`;
		const cacheFile = cacheFileOf(store, source.path);
		return readLoaded(configured, () => readContent(source.path, productionModules, cacheFile));
	}
	if (!locked) return `Package ${name} was not loaded: it is not installed · ${reinstall}`;
	const dir = join(store, locked.dir);
	const { root, nodeModules } = installedModules(dir);
	if (!existsSync(root)) return `Package ${name} was not loaded: it is not installed · ${reinstall}`;
	const loaded = await readLoaded(configured, () => readContent(root, () => nodeModules, cacheFileOf(store, dir)));
	if (typeof loaded === "string") return loaded;
	const tampered = findTampered(loaded.content, locked, agentDir);
	if (tampered.length > 0) {
		const list =
			tampered.length > 4 ? `${tampered.slice(0, 4).join(", ")} and ${tampered.length - 4} more` : tampered.join(", ");
		return `Package ${name} was not loaded: it differs from packages.lock.json: ${list} · ${reinstall} restores it`;
	}
	markUsed(dir);
	return loaded;
}

async function readLoaded(
	configured: ConfiguredPackage,
	read: () => Promise<PackageContent>,
): Promise<LoadedPackage | string> {
	try {
		const content = await read();
		const paths = content.files.map(({ rel }) => rel);
		const resources = findResources(paths, content.manifest, configured.filters);
		if (content.incomplete !== undefined)
			return `Package ${configured.name} was not loaded: it has ${content.incomplete}`;
		if (!hasResources(findResources(paths, content.manifest))) {
			return `Package ${configured.name} was not loaded: it brings no hooks, extensions, tools, agents, skills, prompts or themes`;
		}
		const dependencies = content.dependencies.map((one) => asFile(one, content));
		return { configured, version: manifestText(content.manifest, "version"), content, resources, dependencies };
	} catch (error) {
		return `Package ${configured.name} was not loaded: ${errorText(error)}`;
	}
}

/** Files of the package and its dependencies that the lock file does not describe. */
function findTampered(content: PackageContent, locked: LockedPackage, agentDir: string): string[] {
	return differences(locked, describeStored(content, locked)).flatMap((path) => {
		const dependency = content.dependencies.find(({ name }) => path === name);
		const before = dependency && locked.dependencies[dependency.name];
		const known = before && trustedText(agentDir, before.sha256);
		// The names of its files are known if the user has trusted it before.
		const files = dependency && known !== undefined ? changedIn(known, dependency.listing) : [];
		return files.length > 0 ? files.map((file) => `${path}/${file}`) : [path];
	});
}

function asFile(
	{ name, version, size, listing, sha256 }: Dependency,
	{ root }: PackageContent,
): CodeFile & { title: string } {
	return {
		rel: name,
		title: version === null ? name : `${name} ${version}`,
		realPath: join(root, name),
		bytes: Buffer.from(listing),
		sha256,
		size,
	};
}

/** What the package is and would register, as far as it is known without running it, one line each. */
export async function describePackage({ resources, content, version }: LoadedPackage): Promise<string[]> {
	const description = manifestText(content.manifest, "description");
	const sizeOf = (list: readonly { size: number }[]) => formatSize(list.reduce((sum, one) => sum + one.size, 0));
	const count = content.dependencies.length;
	return [
		...(description === null ? [] : [description]),
		`brings ${describeResources(resources)}${version === null ? "" : `, version ${version}`}`,
		`has ${plural(content.files.length, "file")}, ${sizeOf(content.files)}`,
		...(count === 0 ? [] : [`needs ${plural(count, "dependency", "dependencies")}, ${sizeOf(content.dependencies)}`]),
		...(await describeExtensions(resources, content)),
	];
}

/** What its extensions use of their API, and what pi refuses. */
async function describeExtensions({ extensions }: PackageResources, { files }: PackageContent): Promise<string[]> {
	if (extensions.length === 0) return [];
	const { findUseOfFile } = await import("../extensions/check-source.js");
	const lines = extensions.map(async (rel) => {
		const { works, refused } = await findUseOfFile(
			rel,
			(path) => files.find((file) => file.rel === path)?.bytes.toString("utf8") ?? null,
		);
		return [
			...(works.length > 0 ? [`${rel} uses ${works.join(", ")}`] : []),
			...refused.map(({ what, line, file }) => {
				const at = file === undefined ? `in line ${line}` : `in ${file}:${line}`;
				return `${rel} uses ${what} ${at}, which pi refuses`;
			}),
		];
	});
	return (await Promise.all(lines)).flat();
}

function formatSize(bytes: number): string {
	return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Packages that were not used for a month may be removed. */
function markUsed(dir: string): void {
	try {
		const now = new Date();
		utimesSync(dir, now, now);
	} catch {
		// A directory that belongs to another user.
	}
}
