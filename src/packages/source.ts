import { isAbsolute, resolve } from "node:path";
import { resolveUserPath } from "../config/paths.js";
import { PiError } from "../errors.js";
import { trimEndOf } from "../util/trim.js";

/** Where a package comes from. */
export type PackageSource =
	/** `range`: a version, range or tag; absent: the latest version. */
	| { kind: "npm"; name: string; range?: string }
	/** `ref`: a branch, tag or commit; absent: the default branch. */
	| { kind: "git"; url: string; ref?: string }
	/** `path`: absolute. The package stays there. */
	| { kind: "path"; path: string };

/** The directories that relative paths and `~` in a source refer to. */
export interface SourceBase {
	dir: string;
	home: string;
}

/** Longer than any path or address. */
const MAX_SOURCE = 4096;
const NPM_NAME = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i;
/** A version, range or tag: no paths, URLs or aliases, which npm would read as other kinds of sources. */
const NPM_RANGE = /^[\w.+^~<>=|* -]+$/;
const URL_SCHEMES = new Set(["https:", "http:", "ssh:", "git:", "file:"]);
/** `user@host:path`. */
const SCP_ADDRESS = /^(?:[\w.-]+@)?[\w][\w.-]*:(?!\/\/)[^\s]+$/;
/** `github.com/user/repository`. */
const BARE_ADDRESS = /^[\w-]+(?:\.[\w-]+)+\/[^\s]+$/;
const REF = /^(?!-)[\w./+#-]+$/;

/**
 * Reads a source as the user writes it: `npm:<name>[@version]`, `git:<url>[@ref]` or a path.
 * @throws PiError `bad_arguments` for a malformed one, and for names and addresses that programs could read as options
 */
export function parseSource(text: string, { dir, home }: SourceBase): PackageSource {
	if (text.length > MAX_SOURCE) throw refused(`${text.slice(0, 60)}…`, "it is too long", USAGE);
	const source = text.trim();
	if (source.startsWith("npm:")) return parseNpm(source);
	if (source.startsWith("git:")) return parseGit(source);
	if (/^(?:https?|ssh):\/\//.test(source) || /^git@/.test(source)) {
		throw refused(source, "an address needs a kind", `use git:${source}`);
	}
	if (source === "" || source.includes("\0")) throw refused(source, "the path is empty or malformed", USAGE);
	return { kind: "path", path: resolveUserPath(source, dir, home) };
}

/** Whether an argument of `-e` can only be a package. */
export function isRemoteSource(text: string): boolean {
	return /^(?:npm|git):/.test(text.trim());
}

/** The name of a package without its version: it identifies the package in settings, lock file and trust. */
export function packageName(source: PackageSource): string {
	if (source.kind === "npm") return `npm:${source.name}`;
	if (source.kind === "git") return `git:${shortUrl(source.url)}`;
	return source.path;
}

/** The last part of the name, for directories and for short names on the command line. */
export function shortName(source: PackageSource): string {
	const path = source.kind === "npm" ? source.name : source.kind === "git" ? shortUrl(source.url) : source.path;
	return path.split(/[/\\:]/).findLast((part) => part !== "") ?? "package";
}

/** True if a word on the command line names a package: its source, its name or the last part of it. */
export function isNamed(source: PackageSource, word: string, base: SourceBase): boolean {
	if ([packageName(source), shortName(source)].includes(word)) return true;
	if (source.kind === "npm" && source.name === word) return true;
	try {
		return packageName(parseSource(word, base)) === packageName(source);
	} catch {
		return false; // the word is not a source
	}
}

const USAGE = "use npm:<name>[@version], git:<url>[@ref] or a path";

function parseNpm(source: string): PackageSource {
	const spec = source.slice("npm:".length);
	const at = spec.indexOf("@", 1);
	const name = at === -1 ? spec : spec.slice(0, at);
	const range = at === -1 ? undefined : spec.slice(at + 1).trim();
	if (!NPM_NAME.test(name)) throw refused(source, "the name is malformed", USAGE);
	if (range === undefined) return { kind: "npm", name };
	if (!NPM_RANGE.test(range) || range.startsWith("-")) throw refused(source, "the version is malformed", USAGE);
	return { kind: "npm", name, range };
}

function parseGit(source: string): PackageSource {
	const { address, ref } = splitRef(source.slice("git:".length));
	if (ref !== undefined && (!REF.test(ref) || ref.includes(".."))) {
		throw refused(source, "the ref is malformed", "use a branch, tag or commit");
	}
	const url = readAddress(address);
	if (url !== null && hasPassword(url)) {
		throw refused(`git:${shortUrl(url)}`, "its address has a password", "use a credential helper or an SSH key");
	}
	if (url === null) throw refused(source, "the address is malformed", "use https, ssh, git or file");
	return { kind: "git", url, ...(ref === undefined ? {} : { ref }) };
}

/** The last `@` in the path begins the ref; one at the start of a folder belongs to its name. */
function splitRef(text: string): { address: string; ref?: string } {
	const start = /^[a-z+]+:\/\/[^/]*/i.exec(text)?.[0].length ?? text.search(/[:/]/);
	const at = text.lastIndexOf("@");
	if (start < 0 || at <= start || /[/:]/.test(text[at - 1] ?? "")) return { address: text };
	return { address: text.slice(0, at), ref: text.slice(at + 1) };
}

function readAddress(address: string): string | null {
	// Characters that could end the address or begin an option of git or ssh.
	if (/[\s\0]/.test(address) || address.startsWith("-") || /[@/]-/.test(address.replace(/^[a-z]+:\/\//, "/")))
		return null;
	if (address.includes("://")) {
		const url = URL.canParse(address) ? new URL(address) : null;
		return url && URL_SCHEMES.has(url.protocol) && (url.hostname !== "" || url.protocol === "file:") ? address : null;
	}
	if (address.includes("::")) return null; // a remote helper of git, which is a program
	if (isAbsolute(address)) return `file://${resolve(address)}`;
	if (BARE_ADDRESS.test(address)) return `https://${address}`;
	return SCP_ADDRESS.test(address) ? address : null;
}

/** True for an address with a secret, which would get into settings, lock files and messages. */
function hasPassword(address: string): boolean {
	return URL.canParse(address) && new URL(address).password !== "";
}

/** Without scheme, user and ending, so that every form of an address names one package. */
function shortUrl(url: string): string {
	return trimEndOf(url, "/")
		.replace(/^[a-z]+:\/\//, "")
		.replace(/^[^/@]*@/, "")
		.replace(/^([\w.-]+):(?!\d+\/)/, "$1/")
		.replace(/\.git$/, "");
}

function refused(source: string, reason: string, hint: string): PiError {
	return new PiError("bad_arguments", `Cannot use the package ${JSON.stringify(source)}: ${reason}`, { hint });
}
