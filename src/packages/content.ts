import { join } from "node:path";
import type { CodeFile, UnresolvedImport } from "../config/project-code.js";
import { scanImports } from "../config/project-imports.js";
import { isHostModule } from "../hooks/host-modules.js";
import { TimeSlices } from "../util/time-slices.js";
import { type Dependency, type NodeModules, readDependencies } from "./dependencies.js";
import { readPackageFiles } from "./package-files.js";

/** Everything that a package can load, as read once. */
export interface PackageContent {
	/** Real path of the package. */
	root: string;
	files: CodeFile[];
	dependencies: readonly Dependency[];
	/** The directories that hold them. */
	nodeModules: readonly NodeModules[];
	/** Its package.json; null without a valid one. */
	manifest: unknown;
	unresolved: readonly UnresolvedImport[];
	incomplete?: string;
}

const SOURCE = /\.[cm]?[jt]sx?$/;

/**
 * Reads a package and the digests of its dependencies.
 * @param dir its directory
 * @param nodeModules the directories with its dependencies
 * @throws the system error if the directory does not exist
 */
export async function readContent(
	dir: string,
	nodeModules: readonly NodeModules[],
	cacheFile: string,
): Promise<PackageContent> {
	const { root, files, unresolved, incomplete } = await readPackageFiles(dir);
	const dependencies = await readDependencies(nodeModules, cacheFile);
	const names = new Set(dependencies.map(({ name }) => name.replace(/^.*?node_modules\//, "")));
	const leaving = dependencies.flatMap(({ name, leaving: links }) =>
		links.map((link) => ({ from: name, specifier: link, reason: "a link that leaves the package" })),
	);
	const slices = new TimeSlices();
	for (const file of files) {
		if (slices.isOver) await slices.next();
		unresolved.push(...findUnresolved(file, names));
	}
	return {
		root,
		files,
		dependencies,
		nodeModules,
		manifest: readManifest(files),
		unresolved: [...unresolved, ...leaving],
		...(incomplete === undefined ? {} : { incomplete }),
	};
}

/** The `node_modules` of an installed package: those next to it, and its own. */
export function installedModules(dir: string): { root: string; nodeModules: NodeModules[] } {
	const root = join(dir, "package");
	return {
		root,
		nodeModules: [
			{ path: join(dir, "node_modules"), label: "node_modules" },
			{ path: join(root, "node_modules"), label: OWN_MODULES },
		],
	};
}

/** What the names of dependencies begin with that npm has put into the package itself. */
export const OWN_MODULES = "package/node_modules";

/** Name and version in a package.json. */
export function manifestText(manifest: unknown, name: "name" | "version" | "description"): string | null {
	const value = typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, name) : null;
	return typeof value === "string" && value !== "" ? value : null;
}

function readManifest(files: readonly CodeFile[]): unknown {
	const file = files.find(({ rel }) => rel === "package.json");
	try {
		return file ? JSON.parse(file.bytes.toString("utf8").replace(/^\ufeff/, "")) : null;
	} catch {
		return null; // a package needs none
	}
}

/** Imports of a file that lead to code which is neither in the package nor among its dependencies. */
function findUnresolved({ rel, bytes }: CodeFile, dependencies: ReadonlySet<string>): UnresolvedImport[] {
	if (!SOURCE.test(rel)) return [];
	return scanImports(bytes.toString("utf8")).unresolved.flatMap(({ specifier, reason }) => {
		const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";
		const isKnown = dependencies.has(name) || isHostModule(specifier) || isHostModule(specifier, "extension");
		return isKnown ? [] : [{ from: rel, specifier, reason: reason === "a package" ? "not installed" : reason }];
	});
}
