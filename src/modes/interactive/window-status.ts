import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../config/settings-schema.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { SessionEvent } from "../../session/events.js";
import { TerminalWindow } from "../../tui/terminal-window.js";
import { formatElapsed } from "../format.js";

/** A run that lasted less is still being watched, ms. */
const LONG_RUN_MS = 10_000;

/** Says around the screen what goes on in it: title, progress, and a word when a long run is over or pi asks. */
export class WindowStatus {
	readonly #window: TerminalWindow;
	#runSince: number | null = null;
	#busy = new Set<"run" | "bash" | "compaction">();

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

	handle(event: SessionEvent): void {
		switch (event.type) {
			case "agent_start":
				this.#runSince ??= this.clock();
				this.#set("run", true);
				break;
			case "agent_end":
				this.#set("run", false);
				this.#ended();
				break;
			case "bash_start":
				this.#set("bash", true);
				break;
			case "bash_end":
				this.#set("bash", false);
				break;
			case "auto_compaction_start":
				this.#set("compaction", true);
				break;
			case "auto_compaction_end":
				this.#set("compaction", false);
				break;
			case "session_changed":
				this.#runSince = null;
				this.#busy.clear();
				this.#window.busy = false;
				break;
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

	#ended(): void {
		const lasted = this.clock() - (this.#runSince ?? this.clock());
		this.#runSince = null;
		if (lasted >= LONG_RUN_MS) this.#window.notify(`done after ${formatElapsed(lasted)}`);
	}

	#set(what: "run" | "bash" | "compaction", on: boolean): void {
		if (on) this.#busy.add(what);
		else this.#busy.delete(what);
		this.#window.busy = this.#busy.size > 0;
	}
}
