import type { ModeIO } from "../../modes/mode.js";
import type { Subcommand, SubcommandOptions } from "../options.js";
import { printNotices } from "../standard-io.js";
import { divertConsole } from "../stray-errors.js";
import { findLocation, type SubcommandContext, type Surroundings } from "./location.js";

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
	const context = { location: findLocation(options, surroundings), options, io };
	// Loaded hooks share the console, and stdout is reserved for the answer.
	const release = divertConsole((line) => printNotices(io, [line]));
	try {
		return await dispatch(command, context);
	} finally {
		release();
	}
}

async function dispatch(command: Subcommand, context: SubcommandContext): Promise<number> {
	switch (command.name) {
		case "hooks":
			return runHooks(command, context);
		case "sessions": {
			const sessions = await import("./sessions.js");
			return command.action === "list"
				? sessions.printSessions(command.search, context)
				: sessions.showSession(command.target, context);
		}
		case "context":
			return (await import("./context.js")).runContext(command, context);
		case "usage":
			return (await import("./usage.js")).printUsage(command, context);
		case "doctor":
			return (await import("./doctor.js")).runDoctor(context);
	}
}

async function runHooks(command: Extract<Subcommand, { name: "hooks" }>, context: SubcommandContext): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./hooks.js")).listHooks(context);
		case "check":
			return (await import("./hooks-check.js")).checkHooks(command, context);
		case "new":
			return (await import("./hooks-new.js")).newHook(command, context);
		case "test":
			return (await import("./hooks-test.js")).testHook(command, context);
		case "trust":
			return (await import("./trust.js")).trustProject(context);
		case "untrust":
			return (await import("./trust.js")).untrustProject(context);
	}
}
