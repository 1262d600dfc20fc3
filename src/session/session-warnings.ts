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
