import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../config/settings-schema.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { OperationKind } from "../../session/activity.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { TerminalWindow } from "../../tui/terminal-window.js";
import { formatElapsed } from "../format.js";

/** A run that lasted less is still being watched, ms. */
const LONG_RUN_MS = 10_000;

/** Says around the screen what goes on in it: title, progress, and a word when a long run is over or pi asks. */
export class WindowStatus {
	readonly #window: TerminalWindow;
	#runSince: number | null = null;

	/** @param clock ms since the epoch */
	constructor(
		private settings: Settings["terminal"],
		private readonly features: Pick<TerminalFeatures, "progress" | "notification">,
		write: (data: string) => void,
		private readonly clock: () => number = Date.now,
	) {
		this.#window = new TerminalWindow({ write, ...this.#wishes(settings) });
	}

	/** Applies settings if they are new. */
	use(settings: Settings["terminal"]): void {
		if (isDeepStrictEqual(settings, this.settings)) return;
		this.settings = settings;
		this.#window.use(this.#wishes(settings));
	}

	/** Takes the window, each time the screen is started. */
	start(): void {
		this.#window.start();
	}

	/** Gives it back, each time the screen is stopped. */
	stop(): void {
		this.#window.stop();
	}

	/** @returns true when the input was a report of the terminal's and no key */
	handleInput(data: string): boolean {
		return this.#window.handleInput(data);
	}

	/** Names the window after the session, else after its directory. */
	name(sessionName: string | null, cwd: string): void {
		this.#window.title = ["pi", sessionName, basename(cwd)].filter(Boolean).join(" · ");
	}

	handle(event: AgentSessionEvent): void {
		if (event.type !== "activity_changed") return;
		const { operations } = event.activity;
		const isActive = (...kinds: OperationKind[]) => operations.some(({ kind }) => kinds.includes(kind));
		this.#window.busy = isActive("run", "shell", "compacting");
		if (isActive("run")) this.#runSince ??= this.clock();
		else if (this.#runSince !== null) {
			const lasted = this.clock() - this.#runSince;
			this.#runSince = null;
			// A switch of sessions has stopped it.
			if (lasted >= LONG_RUN_MS && !isActive("switching", "closing")) {
				this.#window.notify(`done after ${formatElapsed(lasted)}`);
			}
		}
	}

	/** A question waits for the user. */
	asks(): void {
		this.#window.notify("waits for your answer");
	}

	#wishes({ title, progress, notify }: Settings["terminal"]) {
		const notifications = { auto: this.features.notification, bell: "bell", off: null } as const;
		return { title, progress: progress && this.features.progress, notification: notifications[notify] };
	}
}
