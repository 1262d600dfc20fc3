import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import type { SessionEvent } from "../../session/events.js";
import { clipLine } from "./lines.js";
import { RunStatus } from "./run-status.js";
import type { Look } from "./views/view.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** How often the spinner moves while something runs, ms. */
const TICK_MS = 100;

/** One line under the transcript while something runs; nothing, and no timer, while nothing does. */
export class StatusLine implements Component {
	readonly #status = new RunStatus();
	#timer: NodeJS.Timeout | null = null;
	#frame = 0;

	/**
	 * @param stopKey the key that stops a run, as people read it
	 * @param clock ms since the epoch
	 */
	constructor(
		private readonly look: Look,
		private readonly stopKey: string,
		private readonly clock: () => number = Date.now,
	) {}

	/** True while something runs. */
	get isBusy(): boolean {
		return this.#status.isBusy;
	}

	handle(event: SessionEvent): void {
		this.#status.handle(event, this.clock());
		if (this.#status.isBusy && !this.#timer) {
			this.#timer = setInterval(() => this.#tick(), TICK_MS);
			this.look.requestRender();
		} else if (!this.#status.isBusy && this.#timer) {
			this.stop();
			this.look.requestRender();
		}
	}

	/** Stops the spinner. */
	stop(): void {
		if (this.#timer) clearInterval(this.#timer);
		this.#timer = null;
	}

	render(width: number): string[] {
		const state = this.#status.describe(this.clock());
		if (!state) return [];
		const { theme } = this.look;
		const hint = this.stopKey ? ` · ${this.stopKey} ${state.keyDoes}` : "";
		// The key matters more than the end of a long command.
		const room = width - 2 - visibleWidth(hint);
		const text = room >= 12 ? clipLine(state.text, room) + theme.dim(hint) : clipLine(state.text, width - 2);
		return [clipLine(`${theme.accent(FRAMES[this.#frame % FRAMES.length] ?? "")} ${text}`, width)];
	}

	invalidate(): void {} // nothing is kept

	#tick(): void {
		this.#frame += 1;
		this.look.requestRender();
	}
}
