import { setImmediate } from "node:timers";

/** What stray errors are told to. */
export interface StrayErrorHost {
	/** @returns true when the error is a hook's, which is now reported */
	blameHook(error: unknown): boolean;
}

/**
 * Keeps the program alive when a hook's timer throws or its promise is rejected with nobody waiting. Every other error
 * that nobody catches still ends the program, as a fault of its own must.
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

function inspect(value: unknown): string {
	if (typeof value === "string") return value;
	try {
		return value instanceof Error ? (value.stack ?? value.message) : (JSON.stringify(value) ?? String(value));
	} catch {
		return Object.prototype.toString.call(value);
	}
}
