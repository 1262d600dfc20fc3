import { createHash } from "node:crypto";
import { isMessageEntry, type SessionEntry } from "../log/entry.js";

/** Finds requests that a session has from another one: a branch begins with copies of its entries. */
export class SharedRequests {
	/** The first session of each beginning up to a reply, by digest. */
	readonly #owners = new Map<string, number>();
	readonly #sharing = new Set<number>();
	#session = 0;

	/** Number of sessions so far that have a request of another one, or whose requests another one has. */
	get sessions(): number {
		return this.#sharing.size;
	}

	/** Adds a session. @returns the indices of the replies that an earlier one has after the same messages */
	add(entries: readonly SessionEntry[]): ReadonlySet<number> {
		const session = this.#session++;
		const shared = new Set<number>();
		let start = "";
		for (const [index, entry] of entries.entries()) {
			if (!isMessageEntry(entry)) continue;
			start = createHash("sha256").update(start).update(JSON.stringify(entry.message)).digest("base64");
			if (entry.message.role !== "assistant") continue;
			const owner = this.#owners.get(start);
			if (owner === undefined) this.#owners.set(start, session);
			else {
				shared.add(index);
				this.#sharing.add(owner).add(session);
			}
		}
		return shared;
	}
}
