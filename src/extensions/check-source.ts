import { posix } from "node:path";
import { isSharedModule, loadSharedModule } from "../hooks/shared-modules.js";
import { isKnownEvent } from "./agent-events.js";
import { findRefusedFields } from "./find-refused-fields.js";
import { REFUSED_EVENTS, REFUSED_MEMBERS } from "./refusals.js";
import { REFUSED_VALUES, UNKNOWN_NAME } from "./refused-values.js";

/** What an extension uses of the API, as found in its source. */
export interface SourceUse {
	/** Events and members that work, each once, in order. */
	works: readonly string[];
	/**
	 * Events and members that pi does not have, with the reason and the line of the first use. `file`: the imported file that
	 * uses it, relative to the directory of the extension's own.
	 */
	refused: readonly { what: string; reason: string; line: number; file?: string }[];
}

const LOCAL_IMPORT = /\b(?:from|import|require)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/**
 * Like `findUse`, for a file and the local files that it imports.
 * @param path with `/`
 * @param read returns null for a file that does not exist
 */
export async function findUseOfFile(path: string, read: (path: string) => string | null): Promise<SourceUse> {
	const works = new Set<string>();
	const refused = new Map<string, SourceUse["refused"][number]>();
	const files = new Set([path]);
	for (const file of files) {
		const source = read(file) ?? "";
		const use = await findUse(source);
		for (const what of use.works) works.add(what);
		const place = file === path ? {} : { file: posix.relative(posix.dirname(path), file) };
		for (const refusal of use.refused)
			if (!refused.has(refusal.what)) refused.set(refusal.what, { ...refusal, ...place });
		for (const [, specifier = ""] of source.matchAll(LOCAL_IMPORT)) {
			const found = candidates(posix.join(posix.dirname(file), specifier)).find((name) => read(name) !== null);
			if (found !== undefined && SCRIPT.test(found)) files.add(found);
		}
	}
	return { works: [...works], refused: [...refused.values()] };
}

const SCRIPT = /\.[cm]?[jt]sx?$/;

/** The files that an import may mean: itself, or a script whose name it shortens. */
function candidates(path: string): string[] {
	const compiled = path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
	return [path, compiled, ...[".ts", ".js", "/index.ts", "/index.js"].map((end) => path + end)];
}

const PI_MEMBERS =
	"registerTool registerCommand registerShortcut registerFlag getFlag registerMessageRenderer registerEntryRenderer sendMessage sendUserMessage appendEntry setSessionName getSessionName setLabel exec getActiveTools getAllTools setActiveTools getCommands setModel getThinkingLevel setThinkingLevel registerProvider unregisterProvider events".split(
		" ",
	);
const UI_MEMBERS =
	"select confirm input editor notify custom setStatus setWidget setFooter setHeader setTitle setWorkingMessage setEditorText getEditorText pasteToEditor addAutocompleteProvider theme getToolsExpanded setToolsExpanded setWorkingVisible setWorkingIndicator setHiddenThinkingLabel setTheme getTheme getAllThemes setEditorComponent getEditorComponent onTerminalInput".split(
		" ",
	);
const CTX_MEMBERS =
	"mode hasUI cwd sessionManager modelRegistry model signal isIdle abort hasPendingMessages shutdown getContextUsage compact getSystemPrompt isProjectTrusted waitForIdle newSession fork switchSession reload navigateTree getSystemPromptOptions".split(
		" ",
	);

const SESSION_MEMBERS =
	"getCwd getSessionDir getSessionId getSessionFile getSessionName getHeader getEntries getBranch getLeafId getLeafEntry getEntry getLabel getTree".split(
		" ",
	);
const MODEL_MEMBERS =
	"registerProvider unregisterProvider find getAll getAvailable getError refresh hasConfiguredAuth getProviderDisplayName getProviderAuthStatus stream streamSimple complete getApiKey getApiKeyForProvider getApiKeyAndHeaders".split(
		" ",
	);

/** Objects by the names that sources call them, and their members that work or are refused. */
const KNOWN_MEMBERS: readonly (readonly [name: string, object: string, members: readonly string[]])[] = [
	["pi", "pi", ["on", ...PI_MEMBERS]],
	["sessionManager", "ctx.sessionManager", SESSION_MEMBERS],
	["modelRegistry", "ctx.modelRegistry", MODEL_MEMBERS],
];

/** The members that work, by their full names. */
export const WORKING_MEMBERS: readonly string[] = [
	...PI_MEMBERS.map((name) => `pi.${name}`),
	...CTX_MEMBERS.map((name) => `ctx.${name}`),
	...UI_MEMBERS.map((name) => `ctx.ui.${name}`),
];

/** Finds what the source of an extension uses of the API, and values of the packages that pi lacks. Members are found by their names, whatever their object is called. */
export async function findUse(source: string): Promise<SourceUse> {
	const found: Use[] = [...findEvents(source), ...findMembers(source), ...findUnknown(source)];
	found.push(...findRefusedFields(source));
	const uses = [...found, ...(await findMissingValues(source))].sort((a, b) => a.index - b.index);
	const first = new Map(uses.reverse().map((use) => [use.what, use]));
	const all = [...first.values()].sort((a, b) => a.index - b.index);
	return {
		works: all.filter(({ reason }) => reason === null).map(({ what }) => what),
		refused: all.flatMap(({ what, reason, index }) =>
			reason === null ? [] : [{ what, reason, line: source.slice(0, index).split("\n").length }],
		),
	};
}

interface Use {
	what: string;
	/** Why it is refused; null if it works. */
	reason: string | null;
	index: number;
}

/** The start of a call with the name of an event. */
const EVENT = String.raw`\(\s*["'\x60]([a-z_]+)["'\x60]`;

const PI = String.raw`\bpi`;
/** What follows the name of a member that is called; elsewhere, a name like `pi.dev` may be no code. */
const CALL = String.raw`(?=(?:["']\])?\s*(?:\?\.)?\()`;

/** A pattern for a member of an object, also of `(object as any)`, `object?` and `object!`, or in brackets. */
function memberOf(object: string, member: string): string {
	return String.raw`${object}(?:(?:\s+as\s+[^()\n]*)?\))?[!?]?(?:\.|\.?\[["'])${member}\b`;
}

function findEvents(source: string): Use[] {
	return [...source.matchAll(new RegExp(String.raw`\.on${EVENT}`, "g"))].flatMap(({ 1: name = "", index }) => {
		const reason = Object.hasOwn(REFUSED_EVENTS, name) ? (REFUSED_EVENTS[name] ?? "") : null;
		return reason !== null || isKnownEvent(name) ? [{ what: `event ${name}`, reason, index }] : [];
	});
}

function findMembers(source: string): Use[] {
	const refused: Readonly<Record<string, string>> = REFUSED_MEMBERS;
	return [...WORKING_MEMBERS, ...Object.keys(refused)].flatMap((what) => {
		const [name = "", object] = what.split(".").reverse();
		const holder = object === "ui" ? "ui" : "\\w";
		const index = source.search(new RegExp(memberOf(holder, name)));
		// A member of the context that is not called has a common name, such as `model`.
		const isCommon = object === "ctx" && !new RegExp(`\\b(?:ctx|context|_ctx)\\.${name}\\b`).test(source);
		return index < 0 || isCommon ? [] : [{ what, reason: refused[what] ?? null, index }];
	});
}

/** Events and members of `pi` and of objects of `ctx` that nothing knows, such as misspelled ones. */
function findUnknown(source: string): Use[] {
	const events = [...source.matchAll(new RegExp(memberOf(PI, "on") + EVENT, "g"))];
	const members = KNOWN_MEMBERS.flatMap(([name, object, known]) =>
		[...source.matchAll(new RegExp(memberOf(String.raw`\b${name}`, String.raw`(\w+)`) + CALL, "g"))].flatMap(
			({ 1: member = "", index }) => {
				const what = `${object}.${member}`;
				return known.includes(member) || what in REFUSED_MEMBERS ? [] : [{ what, index }];
			},
		),
	);
	return [
		...events.flatMap(({ 1: name = "", index }) =>
			isKnownEvent(name) || Object.hasOwn(REFUSED_EVENTS, name) ? [] : [{ what: `event ${name}`, index }],
		),
		...members,
	].map((use) => ({ ...use, reason: UNKNOWN_NAME }));
}

const IMPORTS = /^import\s+(?!type\b)[^;"']*?\{([^}]*)\}\s*from\s*["'](@(?:mariozechner|earendil-works)\/[^"']+)["']/gm;

/** Imported names that are used as values, and that the packages of pi lack. */
async function findMissingValues(source: string): Promise<Use[]> {
	const uses: Use[] = [];
	for (const { 1: names = "", 2: specifier = "" } of source.matchAll(IMPORTS)) {
		if (!isSharedModule(specifier, "extension")) continue;
		const offered = await loadSharedModule(specifier, "extension");
		for (const item of names.split(",")) {
			const [name = "", alias = name] = item.trim().split(/(?<!\s)\s+as\s+/);
			if (!/^\w+$/.test(alias) || Object.hasOwn(offered, name)) continue;
			// A type may be imported like a value.
			const index = source.search(new RegExp(`\\b(?:new|extends)\\s+${alias}\\b|(?<![.\\w])${alias}\\s*[(.]`));
			const reason = REFUSED_VALUES.get(name) ?? UNKNOWN_NAME;
			if (index >= 0) uses.push({ what: `${name} of ${specifier}`, reason, index });
		}
	}
	return uses;
}
