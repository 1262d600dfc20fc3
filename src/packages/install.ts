import {
	accessSync,
	constants,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../config/json-file.js";
import type { Environment } from "../config/paths.js";
import { PiError } from "../errors.js";
import { withFileLock } from "../util/file-lock.js";
import { ensurePrivateDir } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import type { Dependency } from "./dependencies.js";
import { fetchWithGit } from "./git.js";
import type { LockedDependency, LockedPackage } from "./lock-file.js";
import { installedAs, installWithNpm, isOwnPackage } from "./npm.js";
import { installedModules, manifestText, OWN_MODULES, type PackageContent, readContent } from "./package-content.js";
import { digest } from "./package-files.js";
import { findResources, hasResources, type PackageResources } from "./resources.js";
import { type PackageSource, packageName, shortName } from "./source.js";

/** A package in the directory of packages. */
export interface Installed {
	locked: LockedPackage;
	content: PackageContent;
	resources: PackageResources;
}

export interface InstallOptions {
	/** The directory of packages. */
	storeDir: string;
	env: Environment;
	signal?: AbortSignal;
	/** Installs exactly this again. */
	locked?: LockedPackage;
	/** Directories that are not removed although they were not used for a month. */
	keep?: ReadonlySet<string>;
}

type RemoteSource = Exclude<PackageSource, { kind: "path" }>;

/** Maximum wait for another pi that installs a package. */
const MAX_WAIT_MS = 15 * 60_000;
const MAX_UNUSED_MS = 30 * 24 * 60 * 60 * 1000;
const TEMPORARY = ".new-";

/**
 * Downloads a package and moves it to the directory of packages, where its directory is named after its contents. Runs no code
 * of it. Until the move, everything is in a temporary directory, which the next installation removes if this one is interrupted.
 * @throws PiError `package_failed`; nothing has changed then
 */
export function installPackage(source: RemoteSource, options: InstallOptions): Promise<Installed> {
	const { storeDir, keep = new Set() } = options;
	return whileLocked(storeDir, async () => {
		removeLeftovers(storeDir, keep);
		const work = mkdtempSync(join(storeDir, TEMPORARY));
		try {
			const found = await download(source, work, options);
			return await store(source, work, found, options);
		} catch (cause) {
			if (cause instanceof PiError) throw cause;
			throw new PiError("package_failed", `Cannot install ${packageName(source)}`, { cause });
		} finally {
			rmSync(work, { recursive: true, force: true });
		}
	});
}

/**
 * Removes the directory of a package that is no longer locked, and directories that were not used for a month. Those of earlier
 * versions stay until then: another project may have locked them.
 */
export function removeInstalled(
	dir: string,
	{ storeDir, keep }: Pick<Required<InstallOptions>, "storeDir" | "keep">,
): Promise<void> {
	return whileLocked(storeDir, async () => {
		removeLeftovers(storeDir, keep);
		if (!keep.has(dir)) rmSync(join(storeDir, dir), { recursive: true, force: true });
	});
}

/** Runs one change of the directory of packages at a time, across processes. */
async function whileLocked<T>(storeDir: string, work: () => Promise<T>): Promise<T> {
	try {
		ensurePrivateDir(storeDir);
		accessSync(storeDir, constants.W_OK);
	} catch (cause) {
		throw new PiError("package_failed", `Cannot write to ${storeDir}`, {
			cause,
			hint: "check its permissions, or set PI_CODING_AGENT_DIR to another directory",
		});
	}
	return withFileLock(join(storeDir, ".install"), work, MAX_WAIT_MS, Number.POSITIVE_INFINITY);
}

interface Downloaded {
	resolved: string;
	integrity?: string;
	commit?: string;
	npm?: JsonObject;
}

/** Fills `work/package`, and `work/node_modules` with its dependencies. */
async function download(
	source: RemoteSource,
	work: string,
	{ env, signal, locked }: InstallOptions,
): Promise<Downloaded> {
	const options = { env, ...(signal ? { signal } : {}), cwd: work };
	const again = locked?.npm ? { locked: locked.npm } : {};
	const target = join(work, "package");
	if (source.kind === "git") {
		const commit = await fetchWithGit(
			{ ...source, ...(locked?.commit ? { ref: locked.commit } : {}) },
			target,
			options,
		);
		if (locked?.commit !== undefined && commit !== locked.commit) throw mismatch(source, `commit ${commit}`);
		const needed = readDependencies(target);
		const hasNone = Object.keys(needed).length === 0;
		const npm = hasNone ? undefined : await installWithNpm(packageName(source), needed, { ...options, ...again });
		return { resolved: source.url, commit, ...(npm ? { npm: npm.packages } : {}) };
	}
	if (isOwnPackage(source.name)) {
		throw new PiError("package_failed", `${source.name} is a part of pi, which provides it to all packages`);
	}
	const range = locked?.version ?? source.range ?? "latest";
	const { packages } = await installWithNpm(packageName(source), { [source.name]: range }, { ...options, ...again });
	const { version, resolved = "", integrity } = installedAs(packages, `node_modules/${source.name}`);
	if (version === undefined || integrity === undefined) {
		throw new PiError("package_failed", `Cannot install ${packageName(source)}: npm reported no integrity for it`, {
			hint: "use a registry that sends integrity",
		});
	}
	if (locked?.integrity !== undefined && integrity !== locked.integrity)
		throw mismatch(source, `integrity ${integrity}`);
	// The package finds its dependencies next to it, as npm has arranged them, and those of its own inside.
	renameSync(join(work, "node_modules", source.name), target);
	return { resolved, integrity, npm: packages };
}

async function store(
	source: RemoteSource,
	work: string,
	{ npm, ...origin }: Downloaded,
	{ storeDir, locked: expected }: InstallOptions,
): Promise<Installed> {
	const name = packageName(source);
	const read = (dir: string) => {
		const { root, nodeModules } = installedModules(dir);
		return readContent(root, () => nodeModules, cacheFileOf(storeDir, dir));
	};
	const content = await read(work);
	const resources = checkContent(name, content);
	const version = manifestText(content.manifest, "version");
	const described = {
		version,
		...origin,
		files: Object.fromEntries(content.files.map(({ rel, sha256 }) => [rel, sha256])),
		dependencies: Object.fromEntries(content.dependencies.map((one) => [one.name, lockDependency(one, npm, source)])),
		...(npm ? { npm } : {}),
	};
	const sum = digest(JSON.stringify([described.files, described.dependencies])).slice(0, 12);
	const dir = `${shortName(source).replace(/[^\w.-]/g, "-")}-${version ?? origin.commit?.slice(0, 7) ?? "0"}-${sum}`;
	const locked: LockedPackage = { dir: dir.replace(/^[^\w@]+/, ""), ...described };
	if (expected && differences(expected, locked).length > 0)
		throw mismatch(source, differences(expected, locked).join(", "));
	const target = join(storeDir, locked.dir);
	// A damaged installation is replaced; an equal one may be in use.
	const isThere = existsSync(target) && differences(locked, describeStored(await read(target), locked)).length === 0;
	if (!isThere) {
		rmSync(target, { recursive: true, force: true });
		renameSync(work, target);
	}
	return { locked, content: isThere ? content : await read(target), resources };
}

/** Where the digests of an installed package's dependencies are cached. */
export function cacheFileOf(storeDir: string, dir: string): string {
	return join(dirname(storeDir), "cache", "packages", `${digest(dir).slice(0, 32)}.json`);
}

/** The paths of files and dependencies that differ between two states of a package. */
export function differences(a: Pick<LockedPackage, "files" | "dependencies">, b: typeof a): string[] {
	const changed = <T>(one: Readonly<Record<string, T>>, other: typeof one, key: (value: T | undefined) => unknown) =>
		[...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
			(name) =>
				key(Object.hasOwn(one, name) ? one[name] : undefined) !==
				key(Object.hasOwn(other, name) ? other[name] : undefined),
		);
	return [
		...changed(a.files, b.files, (sha256) => sha256),
		...changed(a.dependencies, b.dependencies, (one) => one?.sha256),
	];
}

/** A package on disk, to compare with its entry in the lock file. */
export function describeStored(
	{ files, dependencies }: Pick<PackageContent, "files" | "dependencies">,
	locked: LockedPackage,
): LockedPackage {
	return {
		...locked,
		files: Object.fromEntries(files.map(({ rel, sha256 }) => [rel, sha256])),
		dependencies: Object.fromEntries(dependencies.map(({ name, sha256 }) => [name, { sha256 }])),
	};
}

/** @throws PiError `package_failed` for a package that pi would never load */
function checkContent(name: string, { files, manifest, incomplete, dependencies }: PackageContent): PackageResources {
	const fail = (reason: string, hint: string) =>
		new PiError("package_failed", `Cannot install ${name}: ${reason}`, { hint });
	if (incomplete !== undefined) throw fail(`it has ${incomplete}`, "a package contains what pi loads, and little else");
	const link = dependencies.find(({ leaving }) => leaving.length > 0);
	if (link) throw fail(`${link.name} contains a link that leaves the package`, "report it to its author");
	const resources = findResources(
		files.map(({ rel }) => rel),
		manifest,
	);
	if (hasResources(resources)) return resources;
	throw fail(
		"it brings no hooks, extensions, tools, agents, skills, prompts or themes",
		"check that it is a package for pi",
	);
}

function lockDependency(
	{ name, sha256 }: Dependency,
	npm: JsonObject | undefined,
	source: RemoteSource,
): LockedDependency {
	const own = source.kind === "npm" ? `node_modules/${source.name}/node_modules` : OWN_MODULES;
	const { version, integrity } = installedAs(npm ?? {}, name.replace(OWN_MODULES, own));
	return { ...(version ? { version } : {}), ...(integrity ? { integrity } : {}), sha256 };
}

/** The dependencies in a package.json, without those that pi provides. @throws PiError for those that are not in a registry */
function readDependencies(dir: string): Record<string, string> {
	const path = join(dir, "package.json");
	if (!existsSync(path)) return {};
	let manifest: unknown;
	try {
		manifest = JSON.parse(readFileSync(path, "utf8"));
	} catch (cause) {
		throw new PiError("package_failed", "Its package.json is not valid JSON", { cause });
	}
	const dependencies = isRecord(manifest) && isRecord(manifest.dependencies) ? manifest.dependencies : {};
	return Object.fromEntries(
		Object.entries(dependencies).flatMap(([name, range]) => {
			if (isOwnPackage(name) || typeof range !== "string") return [];
			if (!/[:/\\]/.test(range) || /^npm:/.test(range)) return [[name, range]];
			throw new PiError("package_failed", `It depends on ${name} at ${range}, which is not in a registry`, {
				hint: "ask its author to publish the dependency",
			});
		}),
	);
}

function mismatch(source: PackageSource, what: string): PiError {
	return new PiError("package_failed", `${packageName(source)} differs from packages.lock.json: ${what}`, {
		hint: "nothing was installed · pi update installs and locks another version",
	});
}

/** Removes what interrupted installations left, and packages that were not used for a month. */
function removeLeftovers(storeDir: string, keep: ReadonlySet<string>): void {
	mkdirSync(storeDir, { recursive: true, mode: 0o700 });
	for (const name of readdirSync(storeDir)) {
		const path = join(storeDir, name);
		const isOld = () => !name.startsWith(".") && !keep.has(name) && Date.now() - statSync(path).mtimeMs > MAX_UNUSED_MS;
		try {
			if (name.startsWith(TEMPORARY) || isOld()) rmSync(path, { recursive: true, force: true });
		} catch {
			// It cannot be removed, which does no harm.
		}
	}
}
