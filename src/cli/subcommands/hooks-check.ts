import { readFileSync } from "node:fs";
import type { SourceUse } from "../../extensions/check-source.js";
import { findImportProblems, type ImportProblem } from "../../hooks/check-imports.js";
import type { LoadedHook } from "../../hooks/hook-registry.js";
import { listFurtherNames } from "../../hooks/registered-names.js";
import { listShortcuts } from "../../hooks/shortcuts.js";
import { positionOfError } from "../../hooks/source-position.js";
import { RESERVED_ENTRY_TYPES } from "../../log/entry.js";
import { plural } from "../../modes/format.js";
import { statOrNull } from "../../util/fs.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines, printNotices } from "../standard-io.js";
import { checkTypes, type TypeErrors } from "./check-types.js";
import { findHookFile, tryHooks } from "./find-hooks.js";
import { createRegistry, type HookReport, reportHook } from "./hooks.js";
import type { SubcommandContext } from "./location.js";

const NO_TYPESCRIPT = "TypeScript was not found, so types were not checked · npm install --save-dev typescript";

/** The result of checking one hook. */
interface Checked {
	report: HookReport;
	/** Faults that the load does not show, one line each. */
	problems: string[];
	/** Number of errors outside of handlers, which are printed as they happen. */
	strays: number;
	/** Undefined without `--types`. */
	types: TypeErrors | undefined;
	/** What an extension uses of its API; undefined for a hook. */
	use: SourceUse | undefined;
}

/**
 * `pi hooks check <file|name>…`: loads hooks as a session would, and prints what each registers and what is wrong with it.
 * @returns 1 if one of them does not load or has a fault
 * @throws PiError `hook_load_failed` when a file does not exist
 */
export async function checkHooks(
	{ target, more = [], types = false }: Extract<Subcommand, { name: "hooks"; action: "check" }>,
	context: SubcommandContext,
): Promise<number> {
	const checked: Checked[] = [];
	for (const name of [target, ...more]) checked.push(await checkHook(name, types, context));
	const { options, io } = context;
	if (options.json) {
		const reports = checked.map(describeJson);
		await printJson(io, more.length === 0 ? reports[0] : reports);
	} else {
		for (const hook of checked) {
			const { report, problems, types: errors, use } = hook;
			if (report.loaded) {
				const lines = describeReport(report, countProblems(hook));
				await printLines(io, [...lines, ...(use ? describeUse(use) : [])]);
			}
			printNotices(io, [...(report.problem === null ? [] : [report.problem]), ...problems, ...(errors ?? [])]);
		}
		if (checked.some(({ types: errors }) => errors === null)) printNotices(io, [NO_TYPESCRIPT]);
	}
	return checked.every((hook) => hook.report.loaded && countProblems(hook) === 0) ? 0 : 1;
}

function countProblems({ problems, strays, types }: Checked): number {
	return problems.length + strays + typeCount(types);
}

async function checkHook(target: string, withTypes: boolean, { location }: SubcommandContext): Promise<Checked> {
	const file = await findHookFile(target, location);
	const before = (await location.watch?.countErrors()) ?? 0;
	const [attempt] = await tryHooks([file], location);
	const strays = ((await location.watch?.countErrors()) ?? 0) - before;
	const hook = attempt?.hook ?? null;
	const report = reportHook({ ...file, trust: "own", mayRun: true }, hook, attempt?.error ?? null);
	if (file.scope === "bundled")
		return { report, problems: [], strays, types: withTypes ? [] : undefined, use: undefined };
	const isExtension = file.kind === "extension";
	const imports = await findImportProblems(file.realPath, file.kind).catch(() => []); // the load reports a file that does not compile
	return {
		report,
		problems: [
			...imports.map(describeImport),
			...(hook ? [...createRegistry([hook], location).warnings, ...findRegistrationProblems(hook)] : []),
			...(hook && hook.shortcuts.length > 0 ? await findKeyProblems(hook) : []),
			...findReservedTypes(file.realPath),
		],
		strays,
		types: withTypes ? await checkTypes(file.realPath) : undefined,
		use: isExtension ? await findUseOf(file.realPath) : undefined,
	};
}

async function findUseOf(file: string): Promise<SourceUse> {
	const { findUseOfFile } = await import("../../extensions/check-source.js");
	return findUseOfFile(file.replaceAll("\\", "/"), (path) =>
		statOrNull(path)?.isFile() ? readFileSync(path, "utf8") : null,
	);
}

/** Registrations that load, but cannot work. */
function findRegistrationProblems(hook: LoadedHook): string[] {
	const at = (registered: object) => placeIn(hook, registered);
	const wrong = (value: unknown, type: "string" | "function") => value !== undefined && typeof value !== type;
	const commands = [...hook.commands].flatMap(([name, options]) => [
		...(wrong(options.description, "string") ? [`${at(options)}: description of /${name} is not a text`] : []),
		...(wrong(options.argumentHint, "string") ? [`${at(options)}: argumentHint of /${name} is not a text`] : []),
		...(wrong(options.complete, "function") ? [`${at(options)}: complete of /${name} is not a function`] : []),
	]);
	const entries = [...hook.entryTypes].flatMap(([type, options]) =>
		wrong(options.render, "function") ? [`${at(options)}: render of the entry type ${type} is not a function`] : [],
	);
	return [...commands, ...entries];
}

/** Where a hook registered something, or its path. */
function placeIn(hook: LoadedHook, registered: object): string {
	const place = positionOfError(hook.places.get(registered), hook);
	return place ? `${place.file}:${place.line}:${place.column}` : hook.path;
}

/** Shortcuts whose key is in use before the user binds others. */
async function findKeyProblems(hook: LoadedHook): Promise<string[]> {
	const { findLostKeys } = await import("../../modes/interactive/hook-keys.js");
	const shortcuts = listShortcuts([hook]);
	return findLostKeys(shortcuts).map(({ id, problem }) => {
		const options = shortcuts.find((shortcut) => shortcut.id === id)?.options ?? hook;
		return `${placeIn(hook, options)}: ${problem}`;
	});
}

/** Entry types of pi that the hook saves with a literal type. The registry reports those that it declares. */
function findReservedTypes(file: string): string[] {
	const source = readFileSync(file, "utf8");
	return [...source.matchAll(/\bsaveEntr(?:y|ies)\(\s*\[?\s*\{\s*type:\s*["'](\w+)["']/g)].flatMap(
		({ 1: type = "", index }) => {
			if (!RESERVED_ENTRY_TYPES.has(type)) return [];
			const before = source.slice(0, index).split("\n");
			const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
			return [`${place}: the entry type ${type} belongs to pi; choose another name`];
		},
	);
}

function describeImport({ place: { file, line, column }, reason }: ImportProblem): string {
	return `${file}:${line}:${column}: ${reason}`;
}

function describeReport(report: HookReport, problems: number): string[] {
	const { path, events, commands, tools, entryTypes } = report;
	return [
		problems === 0 ? `${path} loads without errors` : `${path} loads, but has ${plural(problems, "problem")}`,
		`events    ${events.join(", ") || "none"}`,
		`commands  ${commands.map((name) => `/${name}`).join(", ") || "none"}`,
		...(tools.length > 0 ? [`tools     ${tools.join(", ")}`] : []),
		...listFurtherNames(report).map(([kind, names]) => `${kind.padEnd(9)} ${names}`),
		...(entryTypes.length > 0 ? [`entries   ${entryTypes.join(", ")}`] : []),
	];
}

function describeUse({ works, refused }: SourceUse): string[] {
	return [
		`works     ${works.join(", ") || "nothing of the API is used"}`,
		...refused.map(
			({ what, reason, line, file }) =>
				`refused   ${what} in ${file === undefined ? `line ${line}` : `${file}:${line}`}: ${reason}`,
		),
	];
}

function typeCount(types: TypeErrors | undefined): number {
	// The lines of an error after the first are indented.
	return types === null ? 1 : (types?.filter((line) => !/^\s/.test(line)).length ?? 0);
}

function describeJson({ report, problems, types, use }: Checked) {
	const { scope, trust, cannotFire, ...rest } = report;
	return {
		...rest,
		warnings: problems,
		...(types !== undefined && { types }),
		...(use && { use }),
	};
}
