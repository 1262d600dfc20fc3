import { checkSystemItem, ownerOf, type SystemItem, type SystemItemSink } from "../../hooks/granted-handles.js";
import { entryTimestamp } from "../../log/entry.js";
import type { QueuedPrompts } from "../events.js";
import type { SessionState } from "../session-state.js";

/** A queued prompt: its text for the screen, and the message that is sent later. */
export interface QueuedPrompt<T> {
	text: string;
	message: T;
}

/** Whether queued prompts are delivered one per turn or all at once. */
export type QueueMode = "one-at-a-time" | "all";

/** Queued prompts: steering for the end of the current tool calls, follow-ups for the end of the run. @internal */
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

	/** Removes and returns the steering to send now. */
	takeSteering(): T[] {
		return this.#take(this.#steering);
	}

	takeFollowUps(): T[] {
		return this.#take(this.#followUps);
	}

	/** Removes and returns the prompts that start the next run: steering first. */
	take(): T[] {
		const steering = this.takeSteering();
		return steering.length > 0 ? steering : this.takeFollowUps();
	}

	/** Removes the prompt that would be sent last. @returns its text, and whether it waits for the end of the run */
	takeLast(): { text: string; isFollowUp: boolean } | null {
		const isFollowUp = this.#followUps.length > 0;
		const last = (isFollowUp ? this.#followUps : this.#steering).pop();
		if (!last) return null;
		this.#changed();
		return { text: last.text, isFollowUp };
	}

	/** Empties the queue. @returns the texts, in the order in which they would have been sent */
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
 * System items that are not yet entries. They are written right before the context of the next request is
 * computed.
 * @internal
 */
export class SystemItems implements SystemItemSink {
	#waiting: { source: string; item: SystemItem }[] = [];

	constructor(private readonly state: SessionState) {}

	append(handle: unknown, item: unknown): void {
		const hook = ownerOf(handle);
		this.#waiting.push({ source: hook.name, item: checkSystemItem(hook, item) });
	}

	/** Adds an item of pi's own. */
	add(source: string, item: SystemItem): void {
		this.#waiting.push({ source, item });
	}

	/** Writes all waiting items, in the order in which they were appended. */
	write(): void {
		const waiting = this.#waiting.splice(0);
		if (waiting.length === 0) return;
		const timestamp = entryTimestamp();
		this.state.appendAll(waiting.map(({ source, item }) => ({ type: "system_item", timestamp, source, item })));
	}

	/**
	 * Call when the session is left: writes the items for its next request. Without any message in the log it drops them,
	 * so that an unused session leaves no file.
	 */
	writeOrDrop(): void {
		if (this.state.log.findLast("message") < 0) this.#waiting = [];
		else this.write();
	}
}
