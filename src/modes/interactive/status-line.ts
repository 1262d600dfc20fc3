import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import type { WorkingIndicator } from "../../hooks/types.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { clipLine } from "../../tui/line.js";
import { RunStatus } from "./run-status.js";
import type { ViewStyle } from "./views/view.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Time between two frames of the spinner, ms. */
const TICK_MS = 100;

/** Minimum columns of the title: to make room, the key hint is dropped first, then the time is cut. */
const MIN_TITLE = 8;
/** The same for the hint that a command can be moved to the background. */
const MIN_TITLE_WITH_MOVE = 30;

/** One line under the transcript while the session is busy. Hidden, without a timer, when it is idle or a dialog is open. */
export class StatusLine implements Component {
	readonly #status: RunStatus;
	#timer: NodeJS.Timeout | null = null;
	#frame = 0;
	#hidden = false;
	#frames: readonly string[] = FRAMES;
	/** The keys that stop, such as Escape twice where the first one ends a mode of the editor. */
	stopKeys = (key: string): string => key;
	#intervalMs = TICK_MS;

	/** @param clock ms since the epoch */
	constructor(
		private readonly style: ViewStyle,
		private readonly clock: () => number = Date.now,
	) {
		this.#status = new RunStatus(style);
	}

	handle(event: AgentSessionEvent): void {
		this.#status.handle(event, this.clock());
		this.#update();
	}

	/** Replaces the text about the model's work; null restores it. */
	showWorking(message: string | null): void {
		this.#status.message = message;
		this.style.requestRender();
	}

	/** Whether the line is shown for the model's work; for other work it always is. */
	showWork(isShown: boolean): void {
		this.#status.isWorkShown = isShown;
		this.#update();
	}

	/** Draws other frames than pi's at the start of the line; undefined restores these. */
	useIndicator({ frames, intervalMs = TICK_MS }: WorkingIndicator = { frames: FRAMES }): void {
		this.#frames = frames;
		this.#intervalMs = intervalMs;
		this.stop();
		this.#update();
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
		const moveKey = keymap.keyOf("app.background");
		const move = moveKey && state.isLongCommand ? ` · ${moveKey} background` : "";
		const stop = key && state.keyDoes ? ` · ${this.stopKeys(key)} ${state.keyDoes}` : "";
		// Time and key hint are more important than the end of a long command.
		const mark = this.#mark();
		const room = width - visibleWidth(mark) - visibleWidth(state.figures);
		const least = Math.min(MIN_TITLE, visibleWidth(state.title));
		const hasMove = room - visibleWidth(stop + move) >= Math.min(MIN_TITLE_WITH_MOVE, visibleWidth(state.title));
		const hint = hasMove ? stop + move : room - visibleWidth(stop) >= least ? stop : "";
		const title = clipLine(state.title, Math.max(least, room - visibleWidth(hint)));
		const text = title + state.figures + theme.dim(hint);
		return [clipLine(mark + text, width)];
	}

	#mark(): string {
		const frame = this.#frames[this.#frame % this.#frames.length];
		if (frame === undefined) return "";
		return `${this.#frames === FRAMES ? this.style.theme.accent(frame) : frame} `;
	}

	invalidate(): void {} // nothing is cached

	#update(): void {
		const spins = this.#status.isShown && !this.#hidden;
		if (spins === (this.#timer !== null)) return;
		const tick = () => {
			this.#frame += 1;
			this.style.requestRender();
		};
		if (spins) this.#timer = setInterval(tick, this.#intervalMs);
		else this.stop();
		this.style.requestRender();
	}
}
