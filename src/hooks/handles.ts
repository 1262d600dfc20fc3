import { PiError } from "../errors.js";
import type { SystemItemEntry } from "../log/entry.js";
import { type HookFile, hookFileName } from "./discover.js";

/** A power over the session that is granted to hooks one by one. */
export type HostHandleName = "systemItems";

/** All handles. */
export const HOST_HANDLE_NAMES: readonly HostHandleName[] = ["systemItems"];

/** What a hook may add for the model to read. Nothing else reaches it this way. */
export type SystemItem = SystemItemEntry["item"];

const SYSTEM_ITEM_KINDS: readonly SystemItem["kind"][] = ["task_reminder", "notification"];

/** Where system items go. The session implements it. */
export interface SystemItemSink {
	/**
	 * Takes an item; it becomes an entry at the next request boundary.
	 * @throws PiError as `ownerOf` and `checkSystemItem` do
	 */
	append(handle: SystemItemsHandle, item: unknown): void;
}

/** What a handle was made for and with. */
interface Authority {
	hook: HookFile;
	sink: SystemItemSink;
	/** Throws when the call that the handle came with is over or must not have effects. */
	check(): void;
}

/** Known to this file alone: without it the constructor makes nothing, whoever gets hold of the class. */
const HOST = Symbol("host");

let create: (authority: Authority) => SystemItemsHandle;
let authorityOf: (handle: unknown) => Authority | null;

/**
 * The right of one hook to tell the model something, in the open: each item is an entry of the session, shown in the
 * transcript and in the context. Only the program makes handles; one ends with its hook and with its session.
 */
export class SystemItemsHandle {
	static {
		create = (authority) => new SystemItemsHandle(HOST, authority);
		authorityOf = (handle) =>
			typeof handle === "object" && handle !== null && #authority in handle ? handle.#authority : null;
		// One hook must not be able to listen in on the handles of another.
		Object.freeze(SystemItemsHandle);
		Object.freeze(SystemItemsHandle.prototype);
	}

	readonly #authority: Authority;

	private constructor(host: typeof HOST, authority: Authority) {
		if (host !== HOST) throw forged();
		this.#authority = authority;
		Object.freeze(this);
	}

	/**
	 * Asks for an item. It becomes an entry right before the next request is made, never in one that is on its way;
	 * while the agent is idle it waits.
	 * @throws PiError `hook_stale` once the hook is unloaded or the session was left; `entry_refused` for an unknown kind
	 * or an empty text; `context_locked` from a `context` handler. Nothing is added then.
	 */
	append(item: SystemItem): void {
		const authority = authorityOf(this);
		if (!authority) throw forged();
		authority.sink.append(this, item);
	}
}

/** Makes a handle for one hook. @param check throws when the handle must not be used, or not any more */
export function createSystemItemsHandle(hook: HookFile, sink: SystemItemSink, check: () => void): SystemItemsHandle {
	return create({ hook, sink, check });
}

/**
 * The hook that a handle belongs to. Call it wherever a handle is taken: a look-alike, a copy and a handle that is over
 * get no further.
 * @throws PiError `entry_refused` for what is no handle, else what its `check` throws
 */
export function ownerOf(handle: unknown): HookFile {
	const authority = authorityOf(handle);
	if (!authority) throw forged();
	authority.check();
	return authority.hook;
}

function forged(): PiError {
	return new PiError("entry_refused", "A system item was refused: this program did not make the handle", {
		hint: "use ctx.systemItems of the handler that runs",
	});
}

/** Takes a copy of an item. @throws PiError `entry_refused` naming the hook and the reason */
export function checkSystemItem(hook: HookFile, item: unknown): SystemItem {
	const refuse = (reason: string) =>
		new PiError("entry_refused", `systemItems.append of ${hook.path}: ${reason}`, {
			hint: `an item is { kind, text }; the kinds are ${SYSTEM_ITEM_KINDS.join(", ")}`,
		});
	if (typeof item !== "object" || item === null) throw refuse("an item is an object");
	const given: { kind?: unknown; text?: unknown } = item;
	const { kind, text } = given;
	const known = SYSTEM_ITEM_KINDS.find((candidate) => candidate === kind);
	if (known === undefined) throw refuse(`${typeof kind === "string" ? JSON.stringify(kind) : typeof kind} is no kind`);
	if (typeof text !== "string" || text.trim() === "") throw refuse("the text must be a non-empty string");
	return { kind: known, text: text.toWellFormed() };
}

/** A hook that requires a handle which nobody has granted it yet. */
export interface GrantRequest {
	file: HookFile;
	handle: HostHandleName;
}

/** The user's answer: saved in the settings, for this run only, or the hook is not loaded. */
export type GrantAnswer = "grant" | "once" | "no";

/**
 * The handles that the user's `hookGrants` give to a hook, by path or by file name.
 * @param resolvePath makes a key absolute as the settings file means it
 */
export function grantedHandles(
	hookGrants: Readonly<Record<string, readonly string[]>>,
	file: Pick<HookFile, "path" | "realPath">,
	resolvePath: (key: string) => string,
): HostHandleName[] {
	const granted = Object.entries(hookGrants).flatMap(([key, names]) => {
		const path = resolvePath(key);
		return key === hookFileName(file.path) || path === file.path || path === file.realPath ? names : [];
	});
	return HOST_HANDLE_NAMES.filter((name) => granted.includes(name));
}
