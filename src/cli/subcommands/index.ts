import type { ModeIO } from "../../modes/mode.js";
import type { Subcommand, SubcommandOptions } from "../options.js";
import { printNotices } from "../standard-io.js";
import { divertConsole } from "../stray-errors.js";
import { findLocation, type Location, type Surroundings } from "./location.js";

/**
 * Runs a subcommand: answers go to stdout, problems to stderr.
 * @returns the exit code
 * @throws PiError for operands that do not exist or cannot be used
 */
export async function runSubcommand(
	command: Subcommand,
	options: SubcommandOptions,
	io: ModeIO,
	surroundings: Surroundings = {},
): Promise<number> {
	const location = findLocation(options, surroundings);
	// Loaded hooks share the console, and stdout is reserved for the answer.
	const release = divertConsole((line) => printNotices(io, [line]));
	try {
		return await dispatch(command, location, options, io);
	} finally {
		release();
	}
}

async function dispatch(
	command: Subcommand,
	location: Location,
	options: SubcommandOptions,
	io: ModeIO,
): Promise<number> {
	switch (command.name) {
		case "hooks":
			return runHooks(command, location, options, io);
		case "sessions": {
			const sessions = await import("./sessions.js");
			return command.action === "list"
				? sessions.printSessions(command.search, location, options, io)
				: sessions.showSession(command.target, location, options, io);
		}
		case "context": {
			const { runContext } = await import("./context.js");
			return runContext(command, location, options, io);
		}
		case "doctor": {
			const { runDoctor } = await import("./doctor.js");
			return runDoctor(location, options, io);
		}
	}
}

async function runHooks(
	command: Extract<Subcommand, { name: "hooks" }>,
	location: Location,
	options: SubcommandOptions,
	io: ModeIO,
): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./hooks.js")).listHooks(location, options, io);
		case "check":
			return (await import("./hooks.js")).checkHook(command.target, location, options, io);
		case "new":
			return (await import("./hooks-new.js")).newHook(command, location, options, io);
		case "test":
			return (await import("./hooks-test.js")).testHook(command.target, location, options, io);
		case "trust":
			return (await import("./trust.js")).trustProject(location, options, io);
		case "untrust":
			return (await import("./trust.js")).untrustProject(location, options, io);
	}
}
