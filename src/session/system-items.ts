import { checkSystemItem, ownerOf, type SystemItem, type SystemItemSink } from "../hooks/handles.js";
import { entryTimestamp } from "../log/entry.js";
import type { SessionState } from "./session-state.js";

/**
 * Items that hooks want the model to read and that are no entries yet. They are written right before the context of the
 * next request is computed, and in no other way do they reach it.
 */
export class SystemItems implements SystemItemSink {
	#waiting: { source: string; item: SystemItem }[] = [];

	constructor(private readonly state: SessionState) {}

	append(handle: unknown, item: unknown): void {
		const hook = ownerOf(handle);
		this.#waiting.push({ source: hook.name, item: checkSystemItem(hook, item) });
	}

	/** Writes what waits, in the order in which it came, at once. */
	write(): void {
		const waiting = this.#waiting.splice(0);
		if (waiting.length === 0) return;
		const timestamp = entryTimestamp();
		this.state.appendAll(waiting.map(({ source, item }) => ({ type: "system_item", timestamp, source, item })));
	}

	/**
	 * The session is left: what waits stays with it, for its next request. It is dropped when nothing was ever said, so
	 * that a session never used leaves no file.
	 */
	settle(): void {
		if (this.state.log.findLast("message") < 0) this.#waiting = [];
		else this.write();
	}
}
