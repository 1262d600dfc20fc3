import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../config/settings-schema.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { OperationKind } from "../../session/activity.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { type CursorShape, TerminalWindow } from "../../tui/terminal-window.js";
import { formatElapsed } from "../format.js";

/** Minimum duration of a run that ends with a notification, ms. Users still watch shorter runs. */
const LONG_RUN_MS = 10_000;

/** Shows the session's state outside the screen: window title, progress, and notifications after long runs and for questions. */
export class WindowStatus {
	readonly #window: TerminalWindow;
	#runSince: number | null = null;
	#name = "";
	#override: string | null = null;

	/** @param clock ms since the epoch */
	constructor(
		private settings: Settings["terminal"],
		private readonly features: Pick<TerminalFeatures, "progress" | "notification">,
		write: (data: string) => void,
		private readonly clock: () => number = Date.now,
	) {
		this.#window = new TerminalWindow({ write, ...this.#windowOptions(settings) });
	}

	/** Applies changed settings. */
	use(settings: Settings["terminal"]): void {
		if (isDeepStrictEqual(settings, this.settings)) return;
		this.settings = settings;
		this.#window.use(this.#windowOptions(settings));
	}

	/** Takes over the window. Call each time the screen starts. */
	start(): void {
		this.#window.start();
	}

	/** Restores the window. Call each time the screen stops. */
	stop(): void {
		this.#window.stop();
	}

	/** @returns true when the input was a terminal report instead of a key */
	handleInput(data: string): boolean {
		return this.#window.handleInput(data);
	}

	/** Sets the shape of the cursor. */
	set cursor(shape: CursorShape) {
		this.#window.cursor = shape;
	}

	/** Sets the window title to session name and directory. */
	name(sessionName: string | null, cwd: string): void {
		this.#name = ["pi", sessionName, basename(cwd)].filter(Boolean).join(" · ");
		this.#window.title = this.#override ?? this.#name;
	}

	/** Sets another title; null restores session name and directory. */
	override(title: string | null): void {
		this.#override = title;
		this.#window.title = title ?? this.#name;
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
			// No notification for a run that was stopped by switching or closing the session.
			if (lasted >= LONG_RUN_MS && !isActive("switching", "closing")) {
				this.#window.notify(`done after ${formatElapsed(lasted)}`);
			}
		}
	}

	/** Notifies the user of an open question. */
	notifyQuestion(): void {
		this.#window.notify("waiting for your answer");
	}

	#windowOptions({ title, progress, notify }: Settings["terminal"]) {
		const notifications = { auto: this.features.notification, bell: "bell", off: null } as const;
		return { title, progress: progress && this.features.progress, notification: notifications[notify] };
	}
}
