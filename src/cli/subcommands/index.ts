import type { ModeIO } from "../../modes/mode.js";
import { HookWatch } from "../hook-watch.js";
import type { McpSubcommand, ModelsSubcommand, SessionsSubcommand, Subcommand, SubcommandOptions } from "../options.js";
import { printNotices } from "../standard-io.js";
import { divertConsole } from "../stray-errors.js";
import { type CommandEnvironment, findLocation, type SubcommandContext } from "./location.js";

/**
 * Runs a subcommand: answers go to stdout, problems to stderr.
 * @returns the exit code
 * @throws PiError for operands that do not exist or cannot be used
 */
export async function runSubcommand(
	command: Subcommand,
	options: SubcommandOptions,
	io: ModeIO,
	environment: CommandEnvironment = { watch: new HookWatch((line) => printNotices(io, [line])) },
): Promise<number> {
	const context = { location: findLocation(options, environment), options, io };
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
		case "sessions":
			return runSessions(command, context);
		case "context":
			return (await import("./context.js")).runContext(command, context);
		case "bench":
			return (await import("./context-bench.js")).runContextBench(command, context);
		case "usage":
			return (await import("./usage.js")).printUsage(command, context);
		case "models":
			return runModels(command, context);
		case "mcp":
			return runMcp(command, context);
		case "install":
			return (await import("./install.js")).runInstall(command, context);
		case "list":
			return (await import("./list-packages.js")).listPackages(context);
		case "update":
			return (await import("./update.js")).runUpdate(command, context);
		case "remove":
			return (await import("./remove.js")).runRemove(command, context);
		case "import":
			return (await import("./import-setup.js")).importSetup(command, context);
		case "doctor":
			return (await import("./doctor.js")).runDoctor(context);
	}
}

async function runModels(command: ModelsSubcommand, context: SubcommandContext): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./models.js")).printModels(command, context);
		case "show":
			return (await import("./models.js")).showModel(command, context);
		case "update":
			return (await import("./models-update.js")).updateModelList(command, context);
	}
}

async function runMcp(command: McpSubcommand, context: SubcommandContext): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./mcp-list.js")).listServers(context);
		case "add":
			return (await import("./mcp-change.js")).addServer(command, context);
		case "remove":
			return (await import("./mcp-change.js")).removeServer(command, context);
	}
}

async function runSessions(command: SessionsSubcommand, context: SubcommandContext): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./sessions.js")).printSessions(command, context);
		case "show":
			return (await import("./sessions.js")).showSession(command, context);
		case "search":
			return (await import("./sessions-search.js")).searchSessions(command, context);
		case "check":
			return (await import("./sessions-check.js")).checkSessions(command, context);
		case "repair":
			return (await import("./sessions-check.js")).repairSession(command, context);
		case "export":
			return (await import("./sessions-export.js")).exportNamedSession(command, context);
		case "import":
			return (await import("./sessions-import.js")).importSessions(command, context);
	}
}

async function runHooks(command: Extract<Subcommand, { name: "hooks" }>, context: SubcommandContext): Promise<number> {
	switch (command.action) {
		case "list":
			return (await import("./hooks.js")).listHooks(context);
		case "check":
			return (await import("./hooks-check.js")).checkHooks(command, context);
		case "new":
			return command.asPackage
				? (await import("./hooks-new-package.js")).newPackage(command, context)
				: (await import("./hooks-new.js")).newHook(command, context);
		case "test":
			return (await import("./hooks-test.js")).testHook(command, context);
		case "trust":
			return (await import("./trust.js")).trustProject(context);
		case "untrust":
			return (await import("./trust.js")).untrustProject(context);
	}
}
