import type { EntrySource } from "../../context/entry-message.js";
import { isToolHostEntry } from "../../log/entry.js";
import type { RemotePlace, ViewStyle } from "./views/view.js";

const TYPES = ["tool_host"];

/**
 * Finds the machine on which the tools of an entry worked: the one that the log named last before it. Reads the log with the
 * first call; later entries do not change the result.
 */
export function placesIn(
	entries: EntrySource,
	{ remote }: Pick<ViewStyle, "remote">,
): (index: number) => RemotePlace | null {
	let known: { index: number; place: RemotePlace | null }[] | null = null;
	return (index) => {
		known ??= [...namedIn(entries, remote)];
		return known.find((named) => named.index < index)?.place ?? null;
	};
}

/** The machines that a log names, newest first. */
function* namedIn(entries: EntrySource, remote: RemotePlace | null) {
	const before = (index: number) => entries.lastOfTypes?.(TYPES, index) ?? -1;
	for (let index = before(entries.length); index >= 0; index = before(index)) {
		const entry = entries.at(index);
		if (!isToolHostEntry(entry)) continue;
		const { on, name } = entry;
		// The log does not name the directories of a machine.
		const place = name === remote?.name ? remote : { name, cwd: "", home: "" };
		yield { index, place: on === null ? null : place };
	}
}
