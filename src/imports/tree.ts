import { basename } from "node:path";
import { sessionFiles } from "../log/catalog.js";
import { sessionIdOfName } from "../log/session-paths.js";
import { type LinearEntry, toLinearEntry } from "./linear-entry.js";
import type { ForeignSession, FoundSession, Program } from "./program.js";
import { headRecords, modifiedAt, recordOf, recordsOf, textOf, titleText } from "./records.js";
import { isTreeHeader, readTreePath, type TreePath } from "./tree-file.js";

/** Sessions in the tree format of pi, in which each entry names its parent: the path from the root to the last leaf. */
export const tree: Program = {
	name: "pi",
	title: "pi, tree format",
	files({ sessionDir }) {
		return sessionFiles(sessionDir).filter((path) => isTreeHeader(headRecords(path)[0]));
	},
	list(path): FoundSession[] {
		const records = headRecords(path);
		const [header] = records;
		if (!isTreeHeader(header)) return [];
		const { content } = recordOf(records.find(({ message }) => recordOf(message).role === "user")?.message);
		const text = typeof content === "string" ? content : (textOf(recordsOf(content)[0]?.text) ?? "");
		const id = textOf(header.id) ?? sessionIdOfName(path) ?? basename(path);
		return [
			{
				program: "pi",
				path,
				id,
				cwd: textOf(header.cwd) ?? null,
				title: titleText(text),
				modifiedAt: modifiedAt(path),
			},
		];
	},
	read(path): ForeignSession {
		const found = readTreePath(path);
		const converted = toLinear(found);
		const kept: Record<string, number> = {};
		for (const { unknown } of converted) if (unknown !== null) kept[unknown] = (kept[unknown] ?? 0) + 1;
		const { header, leftOut, damaged, isCut } = found;
		return {
			...{ id: textOf(header.id) ?? basename(path), cwd: textOf(header.cwd) ?? null, damaged, isCut, kept },
			entries: converted.map(({ entry }) => entry),
			leftOut: leftOut > 0 ? { "entries of other branches": leftOut } : {},
			startedAt: textOf(header.timestamp) ?? new Date(modifiedAt(path)).toISOString(),
		};
	},
};

/** Each entry of the path becomes one entry, so that its index is its position plus one. */
function toLinear({ entries, otherLabels }: TreePath): LinearEntry[] {
	const indices = new Map<unknown, number>();
	for (const [position, { id }] of entries.entries()) indices.set(id, position + 1);
	return [...entries, ...otherLabels].map((entry, position) =>
		toLinearEntry(entry, (id) => indices.get(id), position + 1),
	);
}
