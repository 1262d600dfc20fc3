import { buildContext, plainMessages } from "../../context/build-context.js";
import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { coreContext } from "../../context/core.js";
import { digestContext } from "../../context/digest.js";
import { HookRegistry, type LoadedHook } from "../../hooks/registry.js";
import { HookRunner } from "../../hooks/runner.js";
import { type ContextRecord, isMessageEntry, type SessionEntry } from "../../log/entry.js";
import { createReadOnlyHost } from "./read-only-host.js";

/** What a session's context is computed with: its entries and hooks, nothing else. */
export interface SessionViewOptions {
	cwd: string;
	sessionFile: string | null;
	entries: readonly SessionEntry[];
	hooks: readonly LoadedHook[];
	hookTimeoutMs: number;
	/** Hears of hooks that fail. */
	onHookError(line: string): void;
}

/** A request whose recorded context is not what is computed now. */
export interface Mismatch {
	/** Of the reply that the request got. */
	entryIndex: number;
	recorded: ContextRecord;
	computed: { digest: string; messages: number };
}

/** Computes the context of a session at any point, without a model and without writing anything. */
export class SessionView {
	readonly #registry: HookRegistry;

	constructor(private readonly options: SessionViewOptions) {
		this.#registry = new HookRegistry(options.hooks, new Set());
	}

	/** The context of the entries before index `end`. */
	async build(end: number): Promise<BuiltContext> {
		const entries = Object.freeze(this.options.entries.slice(0, end));
		const { cwd, sessionFile, hookTimeoutMs, onHookError } = this.options;
		const messages = Object.freeze(coreContext(entries).messages.map(({ message }) => message));
		const runner = new HookRunner({
			registry: this.#registry,
			host: createReadOnlyHost({ cwd, sessionFile, entries, messages }),
			hookTimeoutMs: () => hookTimeoutMs,
			onError: ({ hookPath, event, error }) => onHookError(`Hook ${hookPath} failed on ${event}: ${error}`),
		});
		return buildContext(
			entries,
			runner.contextStages(() => entries, new AbortController().signal),
		);
	}

	/**
	 * How many messages at the start of a context were in the request before it, unchanged: what a provider's cache can
	 * hold. 0 when there was no request before index `end`.
	 */
	async cachedPrefix(messages: readonly TracedMessage[], end: number): Promise<number> {
		const reply = this.#lastReply(end);
		if (reply < 0) return 0;
		const before = (await this.build(reply)).messages;
		let count = 0;
		while (count < before.length && isSame(before[count], messages[count])) count++;
		return count;
	}

	/** Computes every recorded request again. @returns how many there are, and the first that differs */
	async verify(): Promise<{ requests: number; mismatch: Mismatch | null }> {
		let requests = 0;
		for (const [entryIndex, entry] of this.options.entries.entries()) {
			if (!isMessageEntry(entry) || !entry.context) continue;
			requests++;
			const mismatch = await this.#compare(entryIndex, entry.context);
			if (mismatch) return { requests, mismatch };
		}
		return { requests, mismatch: null };
	}

	/** A hook may have saved entries while the reply was on its way: the request is that of some point after the last message. */
	async #compare(entryIndex: number, recorded: ContextRecord): Promise<Mismatch | null> {
		let closest: Mismatch["computed"] | null = null;
		for (let end = entryIndex; end > 0; end--) {
			const messages = plainMessages(await this.build(end));
			const computed = { digest: digestContext(messages), messages: messages.length };
			if (computed.digest === recorded.digest) return null;
			closest ??= computed;
			if (isMessageEntry(this.options.entries[end - 1])) break;
		}
		return { entryIndex, recorded, computed: closest ?? { digest: digestContext([]), messages: 0 } };
	}

	#lastReply(end: number): number {
		for (let index = end - 1; index > 0; index--) {
			const entry = this.options.entries[index];
			if (isMessageEntry(entry) && entry.message.role === "assistant") return index;
		}
		return -1;
	}
}

function isSame(a: TracedMessage | undefined, b: TracedMessage | undefined): boolean {
	if (!a || !b) return false;
	return a.message === b.message || digestContext([a.message]) === digestContext([b.message]);
}
