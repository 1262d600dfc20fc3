import type { ModeIO } from "../../modes/mode.js";
import { printNotices } from "../lines.js";
import type { Subcommand, SubcommandOptions } from "../options.js";
import { divertConsole } from "../stray-errors.js";
import { findPlace, type Place, type Surroundings } from "./place.js";

/**
 * Runs a sub-command: answers on stdout, problems on stderr.
 * @returns the exit code
 * @throws PiError for what the user named and what cannot be used
 */
export async function runSubcommand(
	command: Subcommand,
	options: SubcommandOptions,
	io: ModeIO,
	surroundings: Surroundings = {},
): Promise<number> {
	const place = findPlace(options, surroundings);
	// Hooks that are loaded here share the console, and stdout is for the answer.
	const release = divertConsole((line) => printNotices(io, [line]));
	try {
		return await dispatch(command, place, options, io);
	} finally {
		release();
	}
}

async function dispatch(command: Subcommand, place: Place, options: SubcommandOptions, io: ModeIO): Promise<number> {
	switch (command.name) {
		case "hooks":
			return runHooks(command, place, options, io);
		case "sessions": {
			const sessions = await import("./sessions.js");
			return command.action === "list"
				? sessions.printSessions(command.search, place, options, io)
				: sessions.showSession(command.target, place, options, io);
		}
		case "context": {
			const { runContext } = await import("./context.js");
			return runContext(command, place, options, io);
		}
		case "doctor": {
			const { runDoctor } = await import("./doctor.js");
			return runDoctor(place, options, io);
		}
	}
}

async function runHooks(
	command: Extract<Subcommand, { name: "hooks" }>,
	place: Place,
	options: SubcommandOptions,
	io: ModeIO,
): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./hooks.js")).listHooks(place, options, io);
		case "check":
			return (await import("./hooks.js")).checkHook(command.target, place, options, io);
		case "new":
			return (await import("./hooks-new.js")).newHook(command, place, options, io);
		case "test":
			return (await import("./hooks-test.js")).testHook(command.target, place, options, io);
		case "trust":
			return (await import("./trust.js")).trustProject(place, options, io);
		case "untrust":
			return (await import("./trust.js")).untrustProject(place, options, io);
	}
}
