import type { AssistantMessage, AssistantMessageEvent, ToolCall } from "@mariozechner/pi-ai";
import type { FindToolRenderer } from "../../hooks/tool-drawing.js";
import { type EntryDrawing, endedAbnormally, type ToolItems } from "./entry-items.js";
import { createItem, type Item, type ItemKind } from "./transcript-item.js";
import { ReplyEndView } from "./views/reply-end-view.js";
import { TextView } from "./views/text-view.js";
import { ThinkingView } from "./views/thinking-view.js";
import { ToolCallView } from "./views/tool-call-view.js";
import type { ViewStyle } from "./views/view.js";

/** Receives the items of a reply. */
export interface ReplyTarget {
	readonly style: ViewStyle;
	readonly tools: ToolItems;
	/** The functions with which a hook draws calls of a tool. */
	readonly toolRendererOf: FindToolRenderer;
	readonly words: EntryDrawing["words"];
	add(item: Item): void;
}

/** A reply while it streams. Each of its blocks becomes an item at its first visible character. */
export class LiveReply {
	readonly #items = new Set<Item>();
	readonly #texts = new Map<number, TextView>();
	readonly #thoughts = new Map<number, ThinkingView>();
	readonly #calls = new Map<number, ToolCallView>();

	constructor(private readonly target: ReplyTarget) {}

	update(event: AssistantMessageEvent): void {
		switch (event.type) {
			case "text_delta":
				if (event.delta.trim() || this.#texts.has(event.contentIndex))
					this.#text(event.contentIndex).append(event.delta);
				break;
			case "text_end":
				this.#finishText(event.contentIndex, event.content);
				break;
			case "thinking_delta":
				if (event.delta.trim() || this.#thoughts.has(event.contentIndex)) {
					this.#thought(event.contentIndex, false).append(event.delta);
				}
				break;
			case "thinking_end":
				this.#finishThought(event.contentIndex, event.content, false);
				break;
			case "toolcall_start":
			case "toolcall_delta": {
				const block = event.partial.content[event.contentIndex];
				if (block?.type === "toolCall" && block.name) this.#describe(event.contentIndex, block, false);
				break;
			}
			case "toolcall_end":
				this.#describe(event.contentIndex, event.toolCall, true);
				break;
		}
	}

	/**
	 * Completes the reply once it is in the log: finishes the streamed blocks and adds the others.
	 * @returns the items of the reply
	 */
	finish(message: AssistantMessage, entryIndex: number, isRetried = false): Iterable<Item> {
		for (const [index, block] of message.content.entries()) {
			if (block.type === "text") this.#finishText(index, block.text);
			else if (block.type === "thinking") this.#finishThought(index, block.thinking, block.redacted ?? false);
			else this.#describe(index, block, true);
		}
		for (const view of [...this.#texts.values(), ...this.#thoughts.values()]) view.close();
		if (endedAbnormally(message)) {
			this.#add("replyEnd", new ReplyEndView(this.target.style, message, this.target.words, isRetried));
			if (message.stopReason !== "length") for (const call of this.#calls.values()) call.stop();
		}
		for (const item of this.#items) item.entryIndices.unshift(entryIndex);
		return this.#items;
	}

	/** Closes a reply whose run ended before it was complete. */
	abandon(): void {
		for (const view of [...this.#texts.values(), ...this.#thoughts.values()]) view.close();
		for (const call of this.#calls.values()) call.stop();
	}

	#finishText(index: number, content: string): void {
		if (content.trim() || this.#texts.has(index)) this.#text(index).finish(content);
	}

	#finishThought(index: number, content: string, redacted: boolean): void {
		if (content.trim() || redacted || this.#thoughts.has(index)) this.#thought(index, redacted).finish(content);
	}

	#text(index: number): TextView {
		const view = this.#texts.get(index) ?? new TextView(this.target.style);
		if (!this.#texts.has(index)) this.#add("text", view);
		this.#texts.set(index, view);
		return view;
	}

	#thought(index: number, redacted: boolean): ThinkingView {
		const view = this.#thoughts.get(index) ?? new ThinkingView(this.target.style, redacted);
		if (!this.#thoughts.has(index)) this.#add("thinking", view);
		this.#thoughts.set(index, view);
		return view;
	}

	#describe(index: number, call: ToolCall, complete: boolean): void {
		const { style, toolRendererOf } = this.target;
		const view = this.#calls.get(index) ?? new ToolCallView(style, call.name, call.arguments, toolRendererOf);
		if (!this.#calls.has(index)) {
			const item = this.#add("tool", view);
			this.target.tools.set(call.id, { item, view });
		}
		this.#calls.set(index, view);
		view.describe(call.name, call.arguments, complete);
	}

	#add(kind: ItemKind, view: TextView | ThinkingView | ToolCallView | ReplyEndView): Item {
		const item = createItem(kind, view, this.target.style);
		this.#items.add(item);
		this.target.add(item);
		return item;
	}
}
