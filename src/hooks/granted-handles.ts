import { PiError } from "../errors.js";
import type { ContextFileItem, SystemItemEntry } from "../log/entry.js";
import type { HookFile } from "./discover.js";
import { hookFileName } from "./hook-name.js";

/** A host feature that the user grants to each hook separately. */
export type HostHandleName = "systemItems";

export const HOST_HANDLE_NAMES: readonly HostHandleName[] = ["systemItems"];

/** A text that a hook adds to the context, with its kind. */
export type SystemItem = Exclude<SystemItemEntry["item"], ContextFileItem>;

const SYSTEM_ITEM_KINDS: readonly SystemItem["kind"][] = ["task_reminder", "notification"];

/** Receives system items. The session implements it. */
export interface SystemItemSink {
	/**
	 * Queues an item; it becomes an entry at the next request boundary.
	 * @throws PiError as `ownerOf` and `checkSystemItem`
	 */
	append(handle: SystemItemsHandle, item: unknown): void;
}

/** The hook and sink that a handle is bound to. */
interface Authority {
	hook: HookFile;
	sink: SystemItemSink;
	/** Throws if the hook is unloaded, the session has changed, or the call must not have effects. */
	check(): void;
}

/** Private to this file: a hook that obtains the class still cannot construct a handle. */
const HOST = Symbol("host");

let create: (authority: Authority) => SystemItemsHandle;
let authorityOf: (handle: unknown) => Authority | null;

/**
 * Lets one hook add texts to the context visibly: each item is an entry of the session, shown in the transcript and the
 * context. Only pi creates handles; a handle is valid until its hook is unloaded or the session changes.
 */
export class SystemItemsHandle {
	static {
		create = (authority) => new SystemItemsHandle(HOST, authority);
		authorityOf = (handle) =>
			typeof handle === "object" && handle !== null && #authority in handle ? handle.#authority : null;
		// Frozen so that one hook cannot patch the class to observe the handles of another.
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
	 * Queues an item. It becomes an entry right before the next request is sent; while the agent is idle it waits.
	 * @throws PiError `hook_stale` after the hook is unloaded or the session has changed; `entry_refused` for an unknown
	 * kind or an empty text; `context_locked` from a `context` handler. Nothing is added then.
	 */
	append(item: SystemItem): void {
		const authority = authorityOf(this);
		if (!authority) throw forged();
		authority.sink.append(this, item);
	}
}

/** Creates a handle for one hook. @param check throws if the handle must not be used now */
export function createSystemItemsHandle(hook: HookFile, sink: SystemItemSink, check: () => void): SystemItemsHandle {
	return create({ hook, sink, check });
}

/**
 * The hook that a handle belongs to. Every function that accepts a handle calls this first, which rejects forged, copied
 * and stale handles.
 * @throws PiError `entry_refused` if `handle` is not a handle, else whatever its `check` throws
 */
export function ownerOf(handle: unknown): HookFile {
	const authority = authorityOf(handle);
	if (!authority) throw forged();
	authority.check();
	return authority.hook;
}

function forged(): PiError {
	return new PiError("entry_refused", "A system item was refused: the handle was not created by pi", {
		hint: "use ctx.systemItems of the current handler",
	});
}

/** Copies a valid item. @throws PiError `entry_refused` naming the hook and the reason */
export function checkSystemItem(hook: HookFile, item: unknown): SystemItem {
	const refuse = (reason: string) =>
		new PiError("entry_refused", `systemItems.append of ${hook.path}: ${reason}`, {
			hint: `an item is { kind, text }; the kinds are ${SYSTEM_ITEM_KINDS.join(", ")}`,
		});
	if (typeof item !== "object" || item === null) throw refuse("an item must be an object");
	const given: { kind?: unknown; text?: unknown } = item;
	const { kind, text } = given;
	const known = SYSTEM_ITEM_KINDS.find((candidate) => candidate === kind);
	if (known === undefined)
		throw refuse(`unknown kind ${typeof kind === "string" ? JSON.stringify(kind) : typeof kind}`);
	if (typeof text !== "string" || text.trim() === "") throw refuse("the text must be a non-empty string");
	return { kind: known, text: text.toWellFormed() };
}

/** A hook that requires a handle the user has not granted yet. */
export interface GrantRequest {
	file: HookFile;
	handle: HostHandleName;
}

/** The user's answer: grant and save, grant for this start of pi only, or do not load the hook. */
export type GrantAnswer = "grant" | "once" | "no";

/** The shortest name of a hook in `hookGrants`: its file name, or its path if others chose it, as in projects and packages. */
export function grantName({ path, scope }: Pick<HookFile, "path" | "scope">): string {
	return scope === "package" || scope === "project" ? path : hookFileName(path);
}

/**
 * The handles that the user's `hookGrants` grant to a hook, by path or by `grantName`.
 * @param resolvePath makes a key absolute, relative to the settings file
 */
export function grantedHandles(
	hookGrants: Readonly<Record<string, readonly string[]>>,
	{ path, realPath, scope }: Pick<HookFile, "path" | "realPath" | "scope">,
	resolvePath: (key: string) => string,
): HostHandleName[] {
	const granted = Object.entries(hookGrants).flatMap(([key, names]) => {
		const isNamed = key === path || key === grantName({ path, scope });
		return isNamed || [path, realPath].includes(resolvePath(key)) ? names : [];
	});
	return HOST_HANDLE_NAMES.filter((name) => granted.includes(name));
}
