import type { QueuedPrompts } from "./events.js";

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
