import { createHash } from "node:crypto";
import { existsSync, readdirSync, realpathSync, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { type JsonObject, readJsonObject, updateJsonFile } from "../config/json-file.js";
import { describeError } from "../errors.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import { atomicWriteFile, ensurePrivateDir, readRegularFileSync } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { type CodeFile, collectProjectCode, type ProjectCode } from "./code-files.js";
import type { ServerContext } from "./server-code.js";

/** Whether the user trusted the content of a file. */
export type TrustState = "trusted" | "new" | "changed";

/** A file of the project with its trust state. */
export interface ProjectFile extends CodeFile {
	state: TrustState;
	/** What to show instead of `rel`: a dependency, whose bytes list its files, with its version. */
	title?: string;
	/** Digest of the content that was trusted at this path; see `trustedText`. */
	trustedSha256?: string;
	/** The trusted text of a changed file, for the trust dialog; absent if no copy exists. */
	trustedText?: string;
}

/** The code of a project, each file with its trust state. Only the `bytes` here may run. */
export interface ProjectSet extends ProjectCode {
	files: ProjectFile[];
	/** When the project was last trusted, ISO 8601. */
	trustedAt?: string;
	/** Set if this is the code of a package; `root` is then the key of its entry in the store. */
	package?: TrustedPackage;
}

/** A package whose code the user decides on. */
export interface TrustedPackage {
	/** Such as `npm:name`. */
	name: string;
	/** What it brings and would register, one line each. Empty outside of the question. */
	notes: readonly string[];
}

/** The trusted files of one project. */
export interface TrustedProject {
	/** Path relative to the project's root → SHA-256, hex. */
	files: Readonly<Record<string, string>>;
	/** ISO 8601. */
	at: string;
}

/** The content of trust.json. */
export interface TrustStore {
	/** By the project's real path. */
	projects: ReadonlyMap<string, TrustedProject>;
	/** Why nothing is trusted, if the file cannot be read. */
	warning?: string;
}

const STORE_FILE = "trust.json";
const TEXTS_DIR = "trusted";

/** Reads trust.json. Never throws: with an unreadable file no project is trusted, and `warning` names it. */
export function loadTrust(agentDir: string): TrustStore {
	const path = join(agentDir, STORE_FILE);
	const writer = findForeignWriter(path, agentDir, { allowsOwnGroup: true });
	if (writer) {
		return { projects: new Map(), warning: `${path}: ${writer.problem} · ${writer.hint} · no project is trusted` };
	}
	try {
		return { projects: readProjects(readJsonObject(path) ?? {}) };
	} catch (error) {
		return { projects: new Map(), warning: `${describeError(error)} · no project is trusted` };
	}
}

/**
 * Reads the project's current code and compares each file with its trusted content.
 * @see collectProjectCode for the files
 */
export async function findProjectSet(cwd: string, store: TrustStore, context?: ServerContext): Promise<ProjectSet> {
	return compareWithStore(await collectProjectCode(cwd, context), store);
}

/** Compares code with the contents that are trusted under its `root`. */
export function compareWithStore(code: ProjectCode, store: TrustStore): ProjectSet {
	const trusted = store.projects.get(code.root);
	const files = code.files.map((file) => {
		const trustedSha256 = trusted && Object.hasOwn(trusted.files, file.rel) ? trusted.files[file.rel] : undefined;
		const state: TrustState =
			trustedSha256 === undefined ? "new" : trustedSha256 === file.sha256 ? "trusted" : "changed";
		return { ...file, state, ...(trustedSha256 !== undefined && { trustedSha256 }) };
	});
	return { ...code, files, ...(trusted && { trustedAt: trusted.at }) };
}

/** Whether every file is trusted in its current state. A project without code is trusted. */
export function isTrusted(set: ProjectSet): boolean {
	return !set.incomplete && set.files.every((file) => file.state === "trusted");
}

/**
 * Trusts exactly these contents of a project, and stores copies to show later changes.
 * @returns `keptAside`: path of the copy of a trust.json that could not be parsed
 * @throws PiError `config_write_failed`
 */
export async function storeTrust(agentDir: string, set: ProjectSet): Promise<{ keptAside?: string }> {
	const texts = join(agentDir, TEXTS_DIR);
	ensurePrivateDir(texts);
	for (const file of set.files) {
		const copy = join(texts, `${file.sha256}.txt`);
		if (trustedText(agentDir, file.sha256) === undefined) await atomicWriteFile(copy, file.bytes, { mode: 0o600 });
	}
	const files = Object.fromEntries(set.files.map((file) => [file.rel, file.sha256]));
	return changeProjects(agentDir, (projects) => {
		projects.set(set.root, { files, at: new Date().toISOString() });
		return true;
	});
}

/** Revokes trust in a project. @returns false if it was not trusted. @throws PiError `config_write_failed` */
export async function untrust(agentDir: string, cwd: string): Promise<boolean> {
	// A deleted project is found by its former path.
	return untrustRoot(agentDir, existsSync(cwd) ? realpathSync(cwd) : resolve(cwd));
}

/** Removes an entry of the store, such as that of a package. @returns false if it was not trusted @throws PiError `config_write_failed` */
export async function untrustRoot(agentDir: string, root: string): Promise<boolean> {
	let found = false;
	await changeProjects(agentDir, (projects) => {
		found = projects.delete(root);
		return found;
	});
	return found;
}

/** The trusted text with this digest, to compare a changed file with; undefined if no valid copy exists. */
export function trustedText(agentDir: string, sha256: string): string | undefined {
	try {
		const bytes = readRegularFileSync(join(agentDir, TEXTS_DIR, `${sha256}.txt`));
		return createHash("sha256").update(bytes).digest("hex") === sha256 ? bytes.toString("utf8") : undefined;
	} catch {
		return undefined; // without a copy, the complete file is shown
	}
}

async function changeProjects(
	agentDir: string,
	change: (projects: Map<string, TrustedProject>) => boolean,
): Promise<{ keptAside?: string }> {
	return updateJsonFile(join(agentDir, STORE_FILE), (current) => {
		const projects = readProjects(current);
		if (!change(projects)) return null;
		removeUnusedTexts(join(agentDir, TEXTS_DIR), projects);
		return { ...current, version: 1, projects: Object.fromEntries(projects) };
	});
}

function readProjects(store: JsonObject): Map<string, TrustedProject> {
	const projects = new Map<string, TrustedProject>();
	// Another version of the format may use the same names with other meanings.
	if (!isRecord(store.projects) || (store.version ?? 1) !== 1) return projects;
	for (const [root, value] of Object.entries(store.projects)) {
		if (!isRecord(value) || !isRecord(value.files) || typeof value.at !== "string") continue;
		const files = Object.entries(value.files).flatMap(([rel, sha256]) =>
			typeof sha256 === "string" ? [[rel, sha256] as const] : [],
		);
		projects.set(root, { files: Object.fromEntries(files), at: value.at });
	}
	return projects;
}

function removeUnusedTexts(dir: string, projects: ReadonlyMap<string, TrustedProject>): void {
	const used = new Set([...projects.values()].flatMap(({ files }) => Object.values(files)));
	try {
		for (const name of readdirSync(dir)) {
			if (/^[0-9a-f]{64}\.txt$/.test(name) && !used.has(name.slice(0, 64))) unlinkSync(join(dir, name));
		}
	} catch {
		// An unused copy does no harm.
	}
}
