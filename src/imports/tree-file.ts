import { PiError } from "../errors.js";
import { MAX_LINE_BYTES } from "../log/check-session.js";
import { parseLine } from "../log/line-patterns.js";
import { unopened } from "../log/open-error.js";
import { OpenFile } from "../log/open-file.js";
import { rawLines } from "../log/raw-lines.js";
import { isRecord } from "../util/is-record.js";

/** An entry of a session in the tree format, as it was written. */
export type TreeEntry = Readonly<Record<string, unknown>> & { readonly type: string };

/** The active path of a session in the tree format. */
export interface TreePath {
	/** Its first line. */
	header: Readonly<Record<string, unknown>>;
	/** From the root to the last leaf. */
	entries: readonly TreeEntry[];
	/** Labels of the path's entries that were set on another branch, in the order of the file. */
	otherLabels: readonly TreeEntry[];
	/** Number of entries on other branches. */
	leftOut: number;
	/** Number of lines that cannot be read. */
	damaged: number;
	/** True if the parent of an entry is missing, so that the path does not begin at the root. */
	isCut: boolean;
}

/** Where an entry is in the file. */
interface Node {
	parentId: string | null;
	offset: number;
	length: number;
	/** Of a label: the entry that it names. */
	targetId: string | null;
}

/** Versions of the format in which entries have an `id` and a `parentId`. */
const TREE_VERSIONS: readonly unknown[] = [2, 3];

/** True for the header of a session whose entries form a tree. */
export function isTreeHeader(value: unknown): value is Record<string, unknown> {
	return isRecord(value) && value.type === "session" && TREE_VERSIONS.includes(value.version);
}

/**
 * Reads the active path of a session file in the tree format: the last entry is the current leaf, and `parentId` leads
 * from there to the root. Only the entries of the path are kept in memory.
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`
 */
export function readTreePath(path: string): TreePath {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		if (!file.stats().isFile()) throw notATree(path, "it is not a regular file");
		return readPath(path, file);
	} catch (error) {
		throw error instanceof PiError ? error : unopened(path, error);
	} finally {
		file?.close();
	}
}

function readPath(path: string, file: OpenFile): TreePath {
	const nodes = new Map<string, Node>();
	let header: Record<string, unknown> | undefined;
	let leaf: string | null = null;
	let damaged = 0;
	for (const line of rawLines(file, MAX_LINE_BYTES)) {
		if (line.isBlank) continue;
		const value = line.bytes ? parseLine(line.bytes.toString()) : undefined;
		if (header === undefined) {
			header = treeHeader(path, value);
			continue;
		}
		if (!isTreeEntry(value) || typeof value.id !== "string") {
			damaged++;
			continue;
		}
		const { offset, length } = line;
		const targetId = value.type === "label" ? textOrNull(value.targetId) : null;
		nodes.set(value.id, { parentId: textOrNull(value.parentId), offset, length, targetId });
		leaf = value.id;
	}
	if (header === undefined) throw notATree(path, "it is empty");
	const { ids, isCut } = pathTo(leaf, nodes);
	const onPath = new Set(ids);
	const isOtherLabel = (id: string, { targetId }: Node) => !onPath.has(id) && targetId !== null && onPath.has(targetId);
	const otherLabels = [...nodes].filter(([id, node]) => isOtherLabel(id, node)).map(([, node]) => node);
	const read = (node: Node | undefined) => (node ? readNode(file, node) : []);
	return {
		header,
		entries: ids.flatMap((id) => read(nodes.get(id))),
		otherLabels: otherLabels.flatMap(read),
		leftOut: nodes.size - ids.length - otherLabels.length,
		damaged,
		isCut,
	};
}

/** @returns the ids from the root to a leaf */
function pathTo(leaf: string | null, nodes: ReadonlyMap<string, Node>): { ids: string[]; isCut: boolean } {
	const ids = new Set<string>();
	let id = leaf;
	while (id !== null && nodes.has(id) && !ids.has(id)) {
		ids.add(id);
		id = nodes.get(id)?.parentId ?? null;
	}
	return { ids: [...ids].reverse(), isCut: id !== null };
}

function readNode(file: OpenFile, { offset, length }: Node): TreeEntry[] {
	const bytes = Buffer.allocUnsafe(length);
	file.read(bytes, offset);
	const value = parseLine(bytes.toString());
	return isTreeEntry(value) ? [value] : [];
}

function isTreeEntry(value: unknown): value is TreeEntry {
	return isRecord(value) && typeof value.type === "string";
}

function textOrNull(value: unknown): string | null {
	return typeof value === "string" ? value : null;
}

function treeHeader(path: string, value: unknown): Record<string, unknown> {
	if (isTreeHeader(value)) return value;
	if (!isRecord(value) || value.type !== "session") throw notATree(path, "its first line is not a session header");
	const { version = 1 } = value;
	if (version === 1) {
		throw new PiError("log_not_a_session", `${path} needs no import: it is linear already`, {
			hint: `open it with pi --session ${path}`,
		});
	}
	throw notATree(path, `it has format version ${String(JSON.stringify(version)).slice(0, 20)}, not 2 or 3`);
}

function notATree(path: string, reason: string): PiError {
	return new PiError("log_not_a_session", `Cannot import ${path}: ${reason}`, {
		hint: "choose a session file whose entries have an id and a parentId",
	});
}
