import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@mariozechner/pi-tui";
import { Deadline } from "../../../hooks/deadline.js";
import type { ScreenOwner } from "../../../hooks/session-ui.js";
import type { AutocompleteFactory } from "../../../hooks/types.js";
import type { Completion, CompletionRequest, CompletionRow, CompletionSource } from "../../../tui/completion.js";
import { abortable } from "../../../util/abort.js";

/** The editor as providers see it. */
export interface CompletedEditor {
	getLines(): string[];
	getCursor(): { line: number; col: number };
}

/** A provider that takes longer, without the time of the completions that it delegates to, is skipped for this text, ms. */
const LIMIT_MS = 1_000;

/** Calls of a provider that have not ended, by the signals that it received. */
type RunningCalls = WeakMap<AbortSignal, { limit: Deadline; onPartial: CompletionRequest["onPartial"] }>;

/** The editor's completions with the providers that hooks have added. */
export class HookCompletion {
	readonly #providers = new Map<symbol, { owner: ScreenOwner; factory: AutocompleteFactory }>();
	/** The rows behind the items of pi's own provider, which providers may pass on. */
	readonly #rows = new WeakMap<AutocompleteItem, CompletionRow>();

	/** The completions to use now. */
	source: CompletionSource;

	/** @param base pi's own completions */
	constructor(
		private readonly base: CompletionSource,
		private readonly editor: CompletedEditor,
	) {
		this.source = base;
	}

	/** Asks a provider before those that exist. @returns a function that removes it */
	add(owner: ScreenOwner, factory: AutocompleteFactory): () => void {
		const id = Symbol(owner.name);
		this.#providers.set(id, { owner, factory });
		this.source = this.#extend(this.source, owner, factory);
		return () => {
			this.#providers.delete(id);
			// Providers added later may delegate to the removed one.
			this.source = [...this.#providers.values()].reduce(
				(source, provider) => this.#extend(source, provider.owner, provider.factory),
				this.base,
			);
		};
	}

	#extend(below: CompletionSource, owner: ScreenOwner, factory: AutocompleteFactory): CompletionSource {
		const failed = (error: unknown) => owner.failed("ui.addAutocompleteProvider", error);
		const running: RunningCalls = new WeakMap();
		let provider: AutocompleteProvider;
		try {
			provider = factory(this.#asProvider(below, running));
			if (typeof provider?.getSuggestions !== "function") throw new TypeError("the factory did not return a provider");
		} catch (error) {
			failed(error);
			return below;
		}
		const suggest = async (request: CompletionRequest): Promise<AutocompleteSuggestions | null> => {
			const { line, col } = this.editor.getCursor();
			const options = { signal: request.signal, force: request.forced };
			return provider.getSuggestions(this.editor.getLines(), line, col, options);
		};
		return {
			complete: async (request) => {
				const late = new AbortController();
				const limit = new Deadline(LIMIT_MS, () =>
					late.abort(new Error(`getSuggestions took more than ${LIMIT_MS} ms`)),
				);
				running.set(request.signal, { limit, onPartial: request.onPartial });
				try {
					const found = await abortable(suggest(request), AbortSignal.any([request.signal, late.signal]));
					return request.signal.aborted ? null : this.#asCompletion(found, provider);
				} catch (error) {
					if (!request.signal.aborted) failed(error);
					return below.complete(request);
				} finally {
					running.delete(request.signal);
					limit.clear();
				}
			},
			cancel: () => below.cancel(),
		};
	}

	/** Completions in the form of pi-tui. @param running the calls that may delegate to them */
	#asProvider(source: CompletionSource, running: RunningCalls): AutocompleteProvider {
		return {
			getSuggestions: async (lines, line, col, { signal, force }) => {
				const before = lines[line]?.slice(0, col) ?? "";
				const resume = running.get(signal)?.limit.hold();
				const onPartial = (completion: Completion) => running.get(signal)?.onPartial?.(completion);
				const request = { before, firstLine: line === 0, forced: force === true, signal, onPartial };
				const found = await Promise.resolve(source.complete(request)).finally(resume);
				if (!found) return null;
				const items = found.rows.map((row) => {
					const { insert: value, label, description } = row;
					const item: AutocompleteItem = { value, label, ...(description === undefined ? {} : { description }) };
					this.#rows.set(item, row);
					return item;
				});
				return { items, prefix: found.prefix };
			},
			applyCompletion: (lines, line, col, { value }, prefix) => {
				const text = lines[line] ?? "";
				const start = col - prefix.length;
				const changed = text.slice(0, start) + value + text.slice(col);
				return { lines: lines.with(line, changed), cursorLine: line, cursorCol: start + value.length };
			},
		};
	}

	#asCompletion(found: AutocompleteSuggestions | null, provider: AutocompleteProvider): Completion | null {
		if (!found) return null;
		const { items, prefix } = found;
		if (!Array.isArray(items) || typeof prefix !== "string") {
			throw new TypeError("getSuggestions must return { items, prefix } or null");
		}
		const rows = items.map((item, at): CompletionRow => {
			if (typeof item?.value !== "string") throw new TypeError(`item ${at + 1} of getSuggestions has no value`);
			const known = this.#rows.get(item);
			if (known) return known;
			return {
				insert: this.#inserted(item, prefix, provider),
				label: typeof item.label === "string" ? item.label : item.value,
				...(typeof item.description === "string" ? { description: item.description } : {}),
				enter: "insert",
			};
		});
		return rows.length > 0 ? { rows, prefix } : null;
	}

	/** The text that replaces the prefix, as the provider inserts it; the item's value if it changes other text too. */
	#inserted(item: AutocompleteItem, prefix: string, provider: AutocompleteProvider): string {
		if (typeof provider.applyCompletion !== "function") return item.value;
		const lines = this.editor.getLines();
		const { line, col } = this.editor.getCursor();
		const text = lines[line] ?? "";
		const start = text.slice(0, col - prefix.length);
		const end = text.slice(col);
		const changed = provider.applyCompletion([...lines], line, col, item, prefix).lines[line] ?? "";
		const isInPlace = changed.startsWith(start) && changed.slice(start.length).endsWith(end);
		return isInPlace ? changed.slice(start.length, changed.length - end.length) : item.value;
	}
}
