import { BUILTIN_COMMANDS } from "../../commands/builtin/index.js";
import { reservedNames } from "../../commands/command-registry.js";
import { HookRegistry, type LoadedHook, replacedBundled } from "../../hooks/hook-registry.js";
import { type HookReach, type Unreachable, unreachable } from "../../hooks/reach.js";
import { NO_NAMES, type RegisteredNames, registeredNames, summarizeNames } from "../../hooks/registered-names.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import { type FoundHook, findHooks } from "./find-hooks.js";
import type { Location, SubcommandContext } from "./location.js";

/** What hooks can use in each mode, with tools and a saved session. JSON mode is like print mode. */
const MODES = {
	interactive: { tools: true, sessions: true, screen: true, user: true },
	print: { tools: true, sessions: true, screen: false, user: false },
	rpc: { tools: true, sessions: true, screen: false, user: true },
} satisfies Record<string, HookReach>;

/** Registrations of a hook, as printed by `list` and `check`. */
export interface HookReport extends RegisteredNames {
	path: string;
	scope: string;
	trust: string;
	loaded: boolean;
	/** Handlers and commands that can never be called in each mode. */
	cannotFire: Record<keyof typeof MODES, Unreachable[]>;
	/** Why it failed to load or may not run; null when it is loaded. */
	problem: string | null;
}

/** `pi hooks list`: prints every hook that a session would discover. @returns 1 when one of them does not load */
export async function listHooks({ location, options, io }: SubcommandContext): Promise<number> {
	const { hooks, attempts, untrusted, problems } = await findHooks(location, options);
	const loaded = attempts.flatMap(({ hook }) => hook ?? []);
	const replaced = replacedBundled(loaded);
	const running = loaded.filter(({ path }) => !replaced.has(path));
	const notices = [...location.warnings, ...problems, ...createRegistry(running, location).warnings];
	const reports = hooks.map((found) => {
		const attempt = attempts.find(({ file }) => file.realPath === found.realPath);
		const by = replaced.get(found.path);
		if (by) return reportHook(found, null, `replaced by ${by.path}`);
		return reportHook(found, attempt?.hook ?? null, attempt ? attempt.error : "not loaded: the project is not trusted");
	});
	if (options.json) await printJson(io, { hooks: reports, problems: notices });
	else {
		await printLines(io, reports.length > 0 ? describeReports(reports) : ["No hooks found"]);
		printNotices(io, notices);
		if (untrusted.length > 0) printNotices(io, ["pi hooks trust lists the code of the project and trusts it"]);
	}
	return attempts.some(({ error }) => error !== null) || problems.length > 0 ? 1 : 0;
}

export function reportHook(file: FoundHook, hook: LoadedHook | null, problem: string | null): HookReport {
	return {
		path: file.path,
		scope: file.scope,
		trust: file.trust,
		loaded: hook !== null,
		...(hook ? registeredNames(hook) : NO_NAMES),
		cannotFire: {
			interactive: hook ? unreachable(hook, MODES.interactive) : [],
			print: hook ? unreachable(hook, MODES.print) : [],
			rpc: hook ? unreachable(hook, MODES.rpc) : [],
		},
		problem,
	};
}

function describeReports(reports: readonly HookReport[]): string[] {
	const rows = reports.map((report) => [
		report.path,
		report.scope,
		report.trust,
		report.problem ?? summarizeNames(report).flat().join(", "),
	]);
	return tableLines([["hook", "from", "trust", "registers"], ...rows]);
}

/** The hooks with their name conflicts, also with built-in commands. */
export function createRegistry(hooks: readonly LoadedHook[], { settings }: Pick<Location, "settings">): HookRegistry {
	return new HookRegistry(hooks, reservedNames(BUILTIN_COMMANDS, settings.commands.replace));
}
