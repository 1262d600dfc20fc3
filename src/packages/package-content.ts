import { join, posix } from "node:path";
import { isSharedModule } from "../hooks/shared-modules.js";
import type { CodeFile, UnresolvedImport } from "../trust/code-files.js";
import { scanImports } from "../trust/script-imports.js";
import { isRecord } from "../util/is-record.js";
import { TimeSlices } from "../util/time-slices.js";
import { type Dependency, type NodeModules, readDependencies } from "./dependencies.js";
import { isOwnPackage } from "./npm.js";
import { readPackageFiles } from "./package-files.js";
import { findResources } from "./resources.js";

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
	/** Reads the dependencies again. @returns the names of those that are not as they were */
	findChanged(): Promise<string[]>;
}

const SOURCE = /\.[cm]?[jt]sx?$/;

/**
 * Reads a package and the digests of its dependencies.
 * @param dir its directory
 * @param findModules returns the directories with its dependencies
 * @throws the system error if the directory does not exist
 */
export async function readContent(
	dir: string,
	findModules: (root: string, manifest: unknown) => readonly NodeModules[],
	cacheFile: string,
): Promise<PackageContent> {
	const { root, files, unresolved, incomplete } = await readPackageFiles(dir);
	const manifest = readManifest(files);
	const nodeModules = findModules(root, manifest);
	const dependencies = await readDependencies(nodeModules, cacheFile);
	const names = new Set(dependencies.map(({ name }) => name.replace(/^.*?node_modules\//, "")));
	const leaving = dependencies.flatMap(({ name, leaving: links }) =>
		links.map((link) => ({ from: name, specifier: link, reason: "a link that leaves the package" })),
	);
	const slices = new TimeSlices();
	const tests = await findUnloadedTests(files, manifest);
	for (const file of files) {
		if (slices.isOver) await slices.next();
		const isKnown = (name: string) => names.has(name) || (tests.has(file.rel) && isForDevelopment(name, manifest));
		unresolved.push(...findUnresolved(file, isKnown));
	}
	return {
		root,
		files,
		dependencies,
		nodeModules,
		manifest,
		unresolved: [...unresolved, ...leaving],
		async findChanged() {
			const now = new Map((await readDependencies(nodeModules, cacheFile)).map(({ name, sha256 }) => [name, sha256]));
			const changed = dependencies.filter(({ name, sha256 }) => now.get(name) !== sha256);
			const added = [...now.keys()].filter((name) => !dependencies.some((one) => one.name === name));
			return [...changed.map(({ name }) => name), ...added];
		},
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

/**
 * Imports of a file that lead to code which is neither in the package nor among its dependencies.
 * @param isKnown true for the name of a package that needs no mention
 */
function findUnresolved({ rel, bytes }: CodeFile, isKnown: (name: string) => boolean): UnresolvedImport[] {
	if (!SOURCE.test(rel)) return [];
	const { imported, unresolved } = scanImports(bytes.toString("utf8"));
	const leaving = [...imported].filter((specifier) => posix.join(posix.dirname(rel), specifier).startsWith("../"));
	return [
		...leaving.map((specifier) => ({ from: rel, specifier, reason: OUTSIDE })),
		...unresolved.flatMap(({ specifier, reason }) => {
			const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";
			const isProvided = isSharedModule(specifier) || isSharedModule(specifier, "extension");
			return isProvided || isKnown(name) ? [] : [{ from: rel, specifier, reason: IN_PACKAGE.get(reason) ?? reason }];
		}),
	];
}

const OUTSIDE = "outside the package";
/** Reasons why an import of a project cannot be followed, in words for a package. */
const IN_PACKAGE = new Map([
	["a package", "not installed"],
	["outside the project", OUTSIDE],
]);

const TEST = /(?:^|\/)(?:tests?|__tests__)\/.*\.[cm]?[jt]sx?$|\.(?:test|spec)\.[cm]?[jt]sx?$/;

/**
 * Finds the tests of a package: files that are named like tests, and that nothing which pi loads could load. None are certain
 * if a file computes what it imports.
 * @param manifest its package.json
 */
async function findUnloadedTests(files: readonly CodeFile[], manifest: unknown): Promise<ReadonlySet<string>> {
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
function isForDevelopment(name: string, manifest: unknown): boolean {
	const dev = isRecord(manifest) && isRecord(manifest.devDependencies) ? manifest.devDependencies : {};
	return Object.hasOwn(dev, name) || isOwnPackage(name);
}

function stem(path: string): string {
	return path.replace(/\.[cm]?[jt]sx?$/, "");
}
