import type { Component } from "@mariozechner/pi-tui";
import type { QueuedPrompts } from "../../session/events.js";
import { clipLine } from "../../tui/line.js";
import { cleanLine } from "./clean-text.js";
import type { ViewStyle } from "./views/view.js";

/** Maximum number of prompts shown of each kind; the rest are counted. */
const MAX_SHOWN = 3;

/** Queued prompts: `→ next` is sent after the current tool calls, `⇥ after` at the end of the run. */
export class QueueView implements Component {
	#queue: QueuedPrompts = { steering: [], followUps: [] };
	#waiting = this.#queue;

	constructor(private readonly style: ViewStyle) {}

	set queue(queue: QueuedPrompts) {
		this.#queue = queue;
		this.style.requestRender();
	}

	/** Those that are not in the session's queue yet. */
	set waiting(waiting: QueuedPrompts) {
		this.#waiting = waiting;
		this.style.requestRender();
	}

	render(width: number): string[] {
		const steering = [...this.#queue.steering, ...this.#waiting.steering];
		const followUps = [...this.#queue.followUps, ...this.#waiting.followUps];
		if (steering.length + followUps.length === 0) return [];
		const { theme, keymap } = this.style;
		const rows = [...listed(steering, "→ next: "), ...listed(followUps, "⇥ after: ")];
		const lines = rows.map((row) => theme.muted(clipLine(row, width)));
		const key = keymap.keyOf("app.editQueue");
		if (key) lines.push(theme.dim(clipLine(`  ${key} edits`, width)));
		return lines;
	}

	invalidate(): void {} // nothing is cached
}

function listed(prompts: readonly string[], label: string): string[] {
	const rows = prompts.slice(0, MAX_SHOWN).map((prompt) => label + cleanLine(prompt, 300));
	if (prompts.length > MAX_SHOWN) rows.push(`${" ".repeat(label.length)}… ${prompts.length - MAX_SHOWN} more`);
	return rows;
}

/** A line above the editor about the last key. The screen decides how long it is shown. */
export class HintLine implements Component {
	#text: string | null = null;

	constructor(private readonly style: ViewStyle) {}

	set text(text: string | null) {
		if (text === this.#text) return;
		this.#text = text;
		this.style.requestRender();
	}

	render(width: number): string[] {
		return this.#text === null ? [] : [this.style.theme.dim(clipLine(cleanLine(this.#text), width))];
	}

	invalidate(): void {} // nothing is cached
}
