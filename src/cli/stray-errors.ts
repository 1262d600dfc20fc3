import { setImmediate } from "node:timers";

/** What stray errors are told to. */
export interface StrayErrorHost {
	/** @returns true when the error is a hook's, which is now reported */
	blameHook(error: unknown): boolean;
}

/** What tells whose write it is. */
export interface WriteHost {
	/** True when what a stack shows was called by a hook itself. */
	isCalledByHook(stack: string): boolean;
}

/**
 * Keeps the program alive when a hook's timer throws or its promise is rejected with nobody waiting. An error of pi's own
 * still ends the program, as a fault must.
 * @returns takes the watch off
 */
export function watchStrayErrors(host: StrayErrorHost): () => void {
	const onError = (error: unknown) => {
		if (host.blameHook(error)) return;
		release();
		// Thrown again with no handler left: Node reports it, and what guards the terminal gives it back.
		setImmediate(() => {
			throw error;
		});
	};
	const release = () => {
		process.off("uncaughtException", onError);
		process.off("unhandledRejection", onError);
	};
	process.on("uncaughtException", onError);
	process.on("unhandledRejection", onError);
	return release;
}

/**
 * Hands what is printed through `console` to a callback, a line at a time: stdout belongs to the screen or to answers,
 * and hooks share the console.
 * @returns gives the console back
 */
export function divertConsole(onLine: (line: string) => void): () => void {
	const names = ["log", "info", "debug", "warn", "error"] as const;
	const originals = names.map((name) => [name, console[name]] as const);
	for (const name of names) {
		console[name] = (...values: unknown[]) => onLine(values.map(inspect).join(" "));
	}
	return () => {
		for (const [name, original] of originals) console[name] = original;
	};
}

/**
 * Hands what hooks write to stdout and stderr themselves, past the console, to a callback: it would tear the screen.
 * @returns gives the streams back
 */
export function divertWrites(host: WriteHost, onLine: (line: string) => void): () => void {
	const releases = [process.stdout, process.stderr].map((stream) => {
		const write = stream.write;
		const divert = (...given: Parameters<typeof write>) => {
			const here: { stack?: string } = {};
			Error.captureStackTrace(here, divert);
			if (!host.isCalledByHook(here.stack ?? "")) return write.apply(stream, given);
			const [chunk, ...rest] = given;
			onLine((typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()).trimEnd());
			const done: unknown = rest.at(-1);
			if (typeof done === "function") done();
			return true;
		};
		stream.write = divert as typeof write;
		return () => {
			if (stream.write === divert) stream.write = write;
		};
	});
	return () => {
		for (const release of releases) release();
	};
}

function inspect(value: unknown): string {
	if (typeof value === "string") return value;
	try {
		return value instanceof Error ? (value.stack ?? value.message) : (JSON.stringify(value) ?? String(value));
	} catch {
		return Object.prototype.toString.call(value);
	}
}
