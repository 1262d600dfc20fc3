import { describeError } from "../errors.js";
import type { LogWatcher } from "../log/session-file.js";

/** Problems found at the start, at reloads and in the current log, one line each. */
export class SessionWarnings {
	/** All problems, oldest first. */
	readonly lines: string[];
	/** Those of the current log. */
	readonly #ofLog: Set<string>;

	/** @param ofLog those of `lines` that concern the log */
	constructor(lines: readonly string[], ofLog: readonly string[]) {
		this.lines = [...lines];
		this.#ofLog = new Set(ofLog);
	}

	add(line: string): void {
		this.lines.push(line);
	}

	/** Adds a problem that does not concern the next log. */
	addOfLog(line: string): void {
		this.#ofLog.add(line);
		this.add(line);
	}

	/** Removes the problems of the log that the session leaves. */
	leaveLog(): void {
		this.lines.splice(0, this.lines.length, ...this.lines.filter((line) => !this.#ofLog.has(line)));
		this.#ofLog.clear();
	}
}

/** Tells the user when entries cannot be saved, and when all are saved again. */
export class SavingReports {
	/** The notice that said that nothing can be saved; null while everything can. */
	unsaved: string | null = null;

	constructor(
		private readonly redact: (text: string) => string,
		private readonly notice: (level: "info" | "error", message: string) => void,
	) {}

	readonly watcher: LogWatcher = {
		onWriteError: (error) => {
			// A home that is read-only or full fails every write: one line for all of them is enough.
			const isUnsaved = error.cause !== undefined;
			if (isUnsaved && this.unsaved !== null) return;
			const line = this.redact(describeError(error));
			if (isUnsaved) this.unsaved = line;
			this.#report("error", line);
		},
		onSaved: () => {
			if (this.unsaved === null) return;
			this.unsaved = null;
			this.#report("info", "The session is saved again");
		},
	};

	/** A listener may read the log, which is in the middle of an append now. */
	#report(level: "info" | "error", message: string): void {
		queueMicrotask(() => this.notice(level, message));
	}
}
