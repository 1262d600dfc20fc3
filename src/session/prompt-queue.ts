import { checkSystemItem, ownerOf, type SystemItem, type SystemItemSink } from "../hooks/handles.js";
import { entryTimestamp } from "../log/entry.js";
import type { QueuedPrompts } from "./events.js";
import type { SessionState } from "./session-state.js";

/** A prompt that waits, as text for the screen and as the message it will become. */
export interface QueuedPrompt<T> {
	text: string;
	message: T;
}

/** Whether waiting prompts are delivered one in each turn or all at once. */
export type QueueMode = "one-at-a-time" | "all";

/** Prompts that wait: steering for the end of the current tool calls, follow-ups for the end of the run. */
export class PromptQueue<T> {
	readonly #steering: QueuedPrompt<T>[] = [];
	readonly #followUps: QueuedPrompt<T>[] = [];

	/** @param onChange called after every change */
	constructor(
		private readonly mode: () => QueueMode,
		private readonly onChange: (queue: QueuedPrompts) => void,
	) {}

	get size(): number {
		return this.#steering.length + this.#followUps.length;
	}

	get texts(): QueuedPrompts {
		return { steering: this.#steering.map(({ text }) => text), followUps: this.#followUps.map(({ text }) => text) };
	}

	steer(prompt: QueuedPrompt<T>): void {
		this.#steering.push(prompt);
		this.#changed();
	}

	followUp(prompt: QueuedPrompt<T>): void {
		this.#followUps.push(prompt);
		this.#changed();
	}

	/** Takes what is to be said now; the rest stays. */
	takeSteering(): T[] {
		return this.#take(this.#steering);
	}

	takeFollowUps(): T[] {
		return this.#take(this.#followUps);
	}

	/** Takes what is delivered outside a run: steering first. */
	take(): T[] {
		const steering = this.takeSteering();
		return steering.length > 0 ? steering : this.takeFollowUps();
	}

	/** Empties the queue. @returns the texts, in the order in which they would have been said */
	clear(): string[] {
		const texts = [...this.#steering, ...this.#followUps].map(({ text }) => text);
		this.#steering.length = 0;
		this.#followUps.length = 0;
		if (texts.length > 0) this.#changed();
		return texts;
	}

	#take(list: QueuedPrompt<T>[]): T[] {
		const taken = list.splice(0, this.mode() === "all" ? list.length : 1).map(({ message }) => message);
		if (taken.length > 0) this.#changed();
		return taken;
	}

	#changed(): void {
		this.onChange(this.texts);
	}
}

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
