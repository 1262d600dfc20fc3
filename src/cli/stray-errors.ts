import { createRequire } from "node:module";
import { setImmediate } from "node:timers";
import type { InspectOptions } from "node:util";
import { errorText } from "../errors.js";
import { takeHarmless } from "../util/harmless-sequences.js";
import { joinLines } from "../util/trim.js";

/** Receives uncaught errors. */
export interface StrayErrorHost {
	/** Reports an error if a hook caused it. @returns false for other errors */
	blameHook(error: unknown): boolean;
}

/** Attributes calls to hooks. */
export interface WriteHost {
	/** True when a hook made the call with this stack trace directly. */
	isCalledByHook(stack: string): boolean;
}

/**
 * Keeps the program alive when a hook causes an uncaught exception or unhandled rejection. Errors in pi itself still end
 * the program.
 * @returns removes the listeners
 */
export function watchStrayErrors(host: StrayErrorHost): () => void {
	const onError = (error: unknown) => {
		if (host.blameHook(error)) return;
		release();
		// Rethrown without listeners: Node reports it, and the terminal guard restores the terminal.
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
 * Passes output of `console` to a callback, one call at a time: hooks use the console, but stdout belongs to the screen
 * or to answers. Model clients warn about a deprecated model with each request; such a warning is passed on once.
 * @returns restores the console
 */
export function divertConsole(onLine: (line: string) => void): () => void {
	const names = ["log", "info", "debug", "warn", "error"] as const;
	const originals = { ...console };
	for (const name of names) {
		console[name] = (...values: unknown[]) => onLine(formatValues(values));
	}
	console.dir = (value: unknown, options?: InspectOptions) => onLine(inspectValue(value, options));
	const deprecations = new Set<string>();
	console.warn = (...values: unknown[]) => {
		const text = formatValues(values);
		if (!/\bdeprecated\b/i.test(text)) return onLine(text);
		if (!deprecations.has(text)) onLine(joinLines(text, " · "));
		deprecations.add(text);
	};
	return () => {
		for (const name of [...names, "dir"] as const) console[name] = originals[name];
	};
}

/**
 * Passes direct writes of hooks to stdout and stderr to a callback, except notifications and titles for the terminal.
 * @returns restores the streams
 */
export function divertWrites(host: WriteHost, onLine: (line: string) => void): () => void {
	const releases = [process.stdout, process.stderr].map((stream) => {
		const write = stream.write;
		const divert = (...args: Parameters<typeof write>) => {
			const caller: { stack?: string } = {};
			Error.captureStackTrace(caller, divert);
			if (!host.isCalledByHook(caller.stack ?? "")) return write.apply(stream, args);
			const [chunk, ...rest] = args;
			const { sequences, rest: text } = takeHarmless(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
			if (sequences !== "") write.call(stream, sequences);
			if (sequences === "" || text.trim() !== "") onLine(text.trimEnd());
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

/** Formats the arguments of `console.log` as Node does. Never throws. */
function formatValues(values: readonly unknown[]): string {
	return formatted(({ format }) => format(...values));
}

function inspectValue(value: unknown, options: InspectOptions = {}): string {
	return formatted(({ inspect }) => inspect(value, { customInspect: false, ...options }));
}

/** @param format may run code of the values, which may throw */
function formatted(format: (util: typeof import("node:util")) => string): string {
	try {
		return format(createRequire(import.meta.url)("node:util"));
	} catch (error) {
		return `[cannot be printed: ${errorText(error)}]`;
	}
}
