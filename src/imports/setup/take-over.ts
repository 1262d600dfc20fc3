import { lstatSync, mkdirSync } from "node:fs";
import { dirname, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../config/json-file.js";
import { changeServers, readServers } from "../../config/mcp-file.js";
import { errorText, PiError } from "../../errors.js";
import { diffLines } from "../../tools/line-diff.js";
import { atomicWriteFile, ensurePrivateDir, readRegularFileSync, realPathOrNull } from "../../util/fs.js";
import { withoutSecrets } from "./server-items.js";
import type { SetupChange, SetupItem } from "./setup-item.js";

/** Lines of a diff that are shown. */
const MAX_LINES = 40;

/**
 * What taking an item over would do. `new`: write what is missing; `taken`: nothing, pi has all of it; `kept`: nothing, pi has something else
 * of that name; `untrusted`: nothing before the project is trusted; `none`: it has no counterpart.
 */
export type SetupState = "new" | "taken" | "kept" | "untrusted" | "none";

/** How items are compared with what pi has, and taken over. */
export interface SetupTarget {
	/** Whether files of the project may be taken over. */
	isTrusted: boolean;
	/** The project: links in it may lead nowhere else. */
	cwd: string;
	/** Whether a bundled hook is on. */
	isOn(hook: string): boolean;
	/** Turns a bundled hook on. */
	turnOn(hook: string): Promise<void>;
}

/** Compares an item with what pi has now. */
export function stateOf({ scope, changes }: SetupItem, target: SetupTarget): SetupState {
	if (changes.length === 0) return "none";
	if (scope === "project" && !target.isTrusted) return "untrusted";
	const isOutside = (change: SetupChange) => change.type !== "hook" && leadsOut(change.path, target.cwd);
	if (scope === "project" && changes.some(isOutside)) return "kept";
	// Who has turned a hook off since then does not want it again.
	const found = changes.filter(({ type }) => type !== "hook").map((change) => compare(change, target));
	if (found.includes("other")) return "kept";
	return found.every((one) => one === "same") ? "taken" : "new";
}

/** Why a file of pi that an item would change cannot be read; null if it can. Says the place in it. */
export function problemOf({ changes }: SetupItem): string | null {
	for (const change of changes) {
		try {
			if (change.type === "server") readServers(change.path);
		} catch (error) {
			return errorText(error);
		}
	}
	return null;
}

/**
 * Writes what is missing of an item. Never replaces anything.
 * @returns the paths of the files that it has written or changed
 * @throws PiError `config_write_failed`
 */
export async function takeOver(item: SetupItem, target: SetupTarget): Promise<string[]> {
	const written: string[] = [];
	const isOfUser = item.scope === "user";
	for (const change of item.changes) {
		if (compare(change, target) !== "missing") continue;
		if (change.type === "hook") {
			await target.turnOn(change.name);
			continue;
		}
		try {
			if (isOfUser) ensurePrivateDir(dirname(change.path));
			else mkdirSync(dirname(change.path), { recursive: true });
			if (change.type === "server")
				await changeServers(change.path, (servers) =>
					Object.hasOwn(servers, change.name) ? null : { ...servers, [change.name]: change.server },
				);
			else await atomicWriteFile(change.path, change.bytes, { mode: modeOf(change, isOfUser) });
		} catch (cause) {
			if (cause instanceof PiError) throw cause;
			throw new PiError("config_write_failed", `Cannot write ${change.path}: ${errorText(cause)}`, { cause });
		}
		written.push(change.path);
	}
	return written;
}

/** The changes of an item as lines with `+` and `-`, without values that may be secret. */
export async function describeChanges({ changes }: SetupItem, target: SetupTarget): Promise<string[]> {
	const lines: string[] = [];
	const add = (title: string, diff: string) => {
		const all = diff.split("\n");
		const more = all.length > MAX_LINES ? [`  … ${all.length - MAX_LINES} more lines`] : [];
		lines.push(title, ...all.slice(0, MAX_LINES), ...more);
	};
	for (const change of changes) {
		if (compare(change, target) !== "missing") continue;
		if (change.type === "hook") lines.push(`settings.json: turns pi:${change.name} on`);
		else if (change.type === "server") {
			const before = serversIn(change.path) ?? {};
			const shown = (servers: JsonObject) =>
				Object.keys(servers).length === 0
					? ""
					: `${JSON.stringify(Object.fromEntries(Object.entries(servers).map(([name, one]) => [name, withoutSecrets(one)])), null, 2)}\n`;
			const { diff } = await diffLines(shown(before), shown({ ...before, [change.name]: change.server }));
			add(`${change.path}:`, diff);
		} else if (change.bytes.includes(0)) lines.push(`${change.path}: new, ${change.bytes.length} bytes`);
		else {
			const { diff } = await diffLines("", change.bytes.toString("utf8"));
			add(`${change.path}: new`, diff);
		}
	}
	return lines;
}

/** No other user can change files of this user. */
function modeOf({ isExecutable = false }: { isExecutable?: boolean }, isOfUser: boolean): number {
	if (isOfUser) return isExecutable ? 0o700 : 0o600;
	return isExecutable ? 0o755 : 0o644;
}

/** Whether the directory of a file of the project is a link to somewhere else. @param root the project */
export function leadsOut(path: string, root: string): boolean {
	let dir = dirname(path);
	while (realPathOrNull(dir) === null && dir !== dirname(dir)) dir = dirname(dir);
	return !`${realPathOrNull(dir)}${sep}`.startsWith(`${realPathOrNull(root)}${sep}`);
}

/** True also for a link to nothing, and below a file. */
function exists(path: string): boolean {
	try {
		return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
	} catch {
		return true;
	}
}

function compare(change: SetupChange, target: SetupTarget): "missing" | "same" | "other" {
	switch (change.type) {
		case "hook":
			return target.isOn(change.name) ? "same" : "missing";
		case "server": {
			const servers = serversIn(change.path);
			if (servers === null) return "other";
			if (!Object.hasOwn(servers, change.name)) return "missing";
			return isDeepStrictEqual(servers[change.name], change.server) ? "same" : "other";
		}
		case "file":
			return compareFile(change.path, change.bytes);
	}
}

function compareFile(path: string, bytes: Buffer): "missing" | "same" | "other" {
	// The user's CLAUDE.md of pi is read only without this file.
	const alternative = path.replace(/AGENTS\.md$/, "CLAUDE.md");
	if (!exists(path)) return alternative !== path && exists(alternative) ? "other" : "missing";
	try {
		return readRegularFileSync(path, { maxBytes: bytes.length }).equals(bytes) ? "same" : "other";
	} catch {
		return "other"; // larger, or no file
	}
}

/** @returns null for a file that cannot be read */
function serversIn(path: string): JsonObject | null {
	try {
		return readServers(path);
	} catch {
		return null;
	}
}
