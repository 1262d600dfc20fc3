import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import type { AgentSessionEvent } from "../../session/events.js";
import { clipLine } from "./lines.js";
import { RunStatus } from "./run-status.js";
import type { ViewStyle } from "./views/view.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Time between two frames of the spinner, ms. */
const TICK_MS = 100;

/** Minimum columns of the title: to make room, the key hint is dropped first, then the time is cut. */
const MIN_TITLE = 8;

/** One line under the transcript while the session is busy. Hidden, without a timer, when it is idle or a dialog is open. */
export class StatusLine implements Component {
	readonly #status = new RunStatus();
	#timer: NodeJS.Timeout | null = null;
	#frame = 0;
	#hidden = false;

	/** @param clock ms since the epoch */
	constructor(
		private readonly style: ViewStyle,
		private readonly clock: () => number = Date.now,
	) {}

	handle(event: AgentSessionEvent): void {
		this.#status.handle(event, this.clock());
		this.#update();
	}

	/** Replaces the text about the model's work; null restores it. */
	showWorking(message: string | null): void {
		this.#status.message = message;
		this.style.requestRender();
	}

	/** Hides the line while a dialog is open, or shows it again. */
	hide(hidden: boolean): void {
		this.#hidden = hidden;
		this.#update();
	}

	stop(): void {
		if (this.#timer) clearInterval(this.#timer);
		this.#timer = null;
	}

	render(width: number): string[] {
		const state = this.#hidden ? null : this.#status.describe(this.clock());
		if (!state) return [];
		const { theme, keymap } = this.style;
		const key = keymap.keyOf("app.abort");
		const hint = key && state.keyDoes ? ` · ${key} ${state.keyDoes}` : "";
		// Time and key hint are more important than the end of a long command.
		const room = width - 2 - visibleWidth(state.figures);
		const withHint = room - visibleWidth(hint);
		const text =
			withHint >= Math.min(MIN_TITLE, visibleWidth(state.title))
				? clipLine(state.title, withHint) + state.figures + theme.dim(hint)
				: clipLine(state.title, Math.max(MIN_TITLE, room)) + state.figures;
		return [clipLine(`${theme.accent(FRAMES[this.#frame % FRAMES.length] ?? "")} ${text}`, width)];
	}

	invalidate(): void {} // nothing is cached

	#update(): void {
		const spins = this.#status.isShown && !this.#hidden;
		if (spins === (this.#timer !== null)) return;
		const tick = () => {
			this.#frame += 1;
			this.style.requestRender();
		};
		if (spins) this.#timer = setInterval(tick, TICK_MS);
		else this.stop();
		this.style.requestRender();
	}
}
