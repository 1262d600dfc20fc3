import { type JsonObject, readJsonObject, updateJsonFile } from "../config/json-file.js";
import { PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";

/** One installed package in packages.lock.json. */
export interface LockedPackage {
	/** Its directory among the installed packages. */
	dir: string;
	/** Version in its package.json, or null. */
	version: string | null;
	/** Address of the archive or repository. */
	resolved: string;
	/** npm's digest of the archive. */
	integrity?: string;
	/** Of a git repository. */
	commit?: string;
	/** SHA-256 of each file of the package, by its path. */
	files: Readonly<Record<string, string>>;
	/** By path, such as `node_modules/left-pad`: the SHA-256 of the list of its files, and what npm installed. */
	dependencies: Readonly<Record<string, LockedDependency>>;
	/** `packages` of npm's package-lock.json, which installs the same versions again. */
	npm?: JsonObject;
}

export interface LockedDependency {
	version?: string;
	integrity?: string;
	sha256: string;
}

/** The installed packages by name, and why nothing is installed if the file cannot be read. */
export interface PackageLock {
	packages: ReadonlyMap<string, LockedPackage>;
	warning?: string;
}

/** Reads packages.lock.json; nothing is installed without it. Never throws. */
export function readLockFile(path: string): PackageLock {
	try {
		return { packages: readPackages(readJsonObject(path) ?? {}, path) };
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		return { packages: new Map(), warning: `${reason} · no package of it is loaded` };
	}
}

/** Adds, replaces or removes a package. @param locked null removes it @throws PiError `config_write_failed` */
export async function updateLockFile(path: string, name: string, locked: LockedPackage | null): Promise<void> {
	await updateJsonFile(path, (current) => {
		const packages = isRecord(current.packages) ? { ...current.packages } : {};
		if (locked) packages[name] = locked;
		else delete packages[name];
		const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
		return { ...current, version: 1, packages: Object.fromEntries(sorted) };
	});
}

function readPackages({ version = 1, packages }: JsonObject, path: string): Map<string, LockedPackage> {
	if (version !== 1) {
		throw new PiError("config_invalid", `${path} has version ${JSON.stringify(version)}, which this pi does not know`);
	}
	const entries = isRecord(packages) ? Object.entries(packages) : [];
	return new Map(
		entries.flatMap(([name, value]) => {
			const locked = readPackage(value);
			return locked ? [[name, locked] as const] : [];
		}),
	);
}

/** Undefined for an entry that does not describe an installed package. */
function readPackage(value: unknown): LockedPackage | undefined {
	if (!isRecord(value)) return undefined;
	const { dir, version, resolved, integrity, commit, files, dependencies, npm } = value;
	// The file of a project is not the user's: a name must not lead out of the directory of packages.
	if (typeof dir !== "string" || !/^[\w@][\w@.+-]*$/.test(dir) || typeof resolved !== "string") return undefined;
	return {
		dir,
		version: typeof version === "string" ? version : null,
		resolved,
		...(typeof integrity === "string" ? { integrity } : {}),
		...(typeof commit === "string" ? { commit } : {}),
		files: texts(files),
		dependencies: readDependencies(dependencies),
		...(isRecord(npm) ? { npm } : {}),
	};
}

function texts(value: unknown): Record<string, string> {
	const entries = isRecord(value) ? Object.entries(value) : [];
	return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}

function readDependencies(value: unknown): Record<string, LockedDependency> {
	const entries = isRecord(value) ? Object.entries(value) : [];
	return Object.fromEntries(
		entries.flatMap(([name, one]) => {
			if (!isRecord(one) || typeof one.sha256 !== "string") return [];
			const { version, integrity } = texts(one);
			const known = { ...(version ? { version } : {}), ...(integrity ? { integrity } : {}) };
			return [[name, { ...known, sha256: one.sha256 }]];
		}),
	);
}
