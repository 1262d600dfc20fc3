import { isatty } from "node:tty";
import { BUILTIN_COMMANDS } from "../../commands/builtin/index.js";
import { reservedNames } from "../../commands/command-registry.js";
import { readJsonFile } from "../../config/json-file.js";
import { SettingsStore } from "../../config/settings-store.js";
import { bundledPath, selectBundled } from "../../hooks/bundled-words.js";
import { findSetup, SETUP_TITLES } from "../../imports/setup/find-setup.js";
import type { SetupItem, SetupKind } from "../../imports/setup/setup-item.js";
import {
	describeChanges,
	problemOf,
	type SetupState,
	type SetupTarget,
	stateOf,
	takeOver,
} from "../../imports/setup/take-over.js";
import { plural } from "../../modes/format.js";
import { findProjectSet, isTrusted, loadTrust } from "../../trust/store.js";
import { revealInvisible, revealLine } from "../../util/reveal.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import { readLine } from "../terminal-answer.js";
import type { SubcommandContext } from "./location.js";

/** What of a project needs the user's trust. */
const CODE: readonly SetupKind[] = ["agent", "hooks", "MCP server"];

/** An item, compared with what pi has. */
interface Row {
	item: SetupItem;
	state: SetupState;
	/** What to type to choose it; null if it cannot be taken over. */
	number: number | null;
}

/** Asks for a line; absent without a terminal. */
type Ask = (question: string) => Promise<string>;

/**
 * `pi import <program>`: lists what another program has, and takes over what the user chooses.
 * @param ask default: in the terminal, if there is one
 * @throws PiError `config_write_failed`; `config_invalid` if the settings that must change cannot be read, before anything is written
 */
export async function importSetup(
	{ program, yes }: Extract<Subcommand, { name: "import" }>,
	context: SubcommandContext,
	ask: Ask | null = terminalQuestion(context),
): Promise<number> {
	const { location, options, io } = context;
	const { paths, env } = location;
	const { cwd, home, agentDir } = paths;
	const commands = reservedNames(BUILTIN_COMMANDS, []);
	const items = await findSetup(program, { cwd, home, env, agentDir, projectDir: paths.project.dir, commands });
	const target = await targetOf(context);
	let count = 0;
	const rows = items.map((item): Row => {
		const state = stateOf(item, target);
		return { item, state, number: state === "new" ? ++count : null };
	});
	if (!options.json) {
		if (rows.length === 0) await printLines(io, [`${SETUP_TITLES[program]} has nothing here that pi could take over`]);
		else await printLines(io, tableLines(rows.map((row) => describeRow(row, context))));
	}
	const canAsk = ask !== null && !options.json;
	const problem = (line: string) => printNotices(io, [line]);
	const chosen = yes ? rows.filter(({ number }) => number !== null) : canAsk ? await choose(rows, ask, problem) : [];
	// Turning a hook on would replace a file that cannot be parsed.
	if (chosen.some(({ item }) => item.changes.some(({ type }) => type === "hook"))) readJsonFile(paths.settings);
	if (!options.json) {
		for (const { item } of chosen) {
			const lines = await describeChanges(item, target);
			await printLines(io, ["", ...lines.map((line) => revealInvisible(line))]);
		}
		if (!yes && canAsk && chosen.length > 0 && !/^y(es)?$/i.test((await ask("Write this? y/n: ")).trim())) {
			printNotices(io, ["Nothing was written"]);
			return 0;
		}
	}
	const written: string[] = [];
	const taken: Row[] = [];
	const late: Row[] = [];
	for (const row of chosen) {
		// Two items may have the same name, and another program may have written since.
		if (stateOf(row.item, target) === "kept") late.push(row);
		else {
			written.push(...(await takeOver(row.item, target)));
			taken.push(row);
		}
	}
	if (options.json) {
		await printJson(io, { items: rows.map(({ item, state }) => describeJson(item, state)), written });
		return 0;
	}
	for (const { item } of late)
		printNotices(io, [`${item.kind} ${revealLine(item.name)} was kept: pi has another one of that name`]);
	const files = new Set(written).size;
	if (taken.length > 0)
		await printLines(io, ["", `Took over ${plural(taken.length, "item")} in ${plural(files, "file")}`]);
	else if (count > 0 && !canAsk && !yes)
		printNotices(io, [`Nothing was written: pi import ${program} --yes takes over ${plural(count, "item")}`]);
	if (taken.some(({ item }) => item.scope === "project" && CODE.includes(item.kind)))
		printNotices(io, ["pi asks about the new code of this project at its next start"]);
	return 0;
}

/** Only on a terminal, whose line editing is on. */
function terminalQuestion({ io }: SubcommandContext): Ask | null {
	if (!io.outIsTerminal || !isatty(0)) return null;
	return (question) => {
		io.err(question);
		return readLine();
	};
}

/** @param report receives why an answer is no choice */
async function choose(rows: readonly Row[], ask: Ask, report: (line: string) => void): Promise<Row[]> {
	const open = rows.filter(({ number }) => number !== null);
	if (open.length === 0) return [];
	for (;;) {
		const answer = (await ask("Take over which? a for all, numbers such as 1 3-5, Enter for none: ")).trim();
		if (/^a(ll)?$/i.test(answer)) return open;
		const numbers = readNumbers(answer, open.length);
		if (typeof numbers !== "string") return open.filter(({ number }) => number !== null && numbers.has(number));
		report(numbers);
	}
}

/** @returns a message for something else than numbers and ranges up to `max` */
export function readNumbers(text: string, max: number): Set<number> | string {
	const numbers = new Set<number>();
	for (const word of text.split(/[\s,]+/).filter((part) => part !== "")) {
		const [, first = "", last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(word) ?? [];
		const [from, to] = [Number(first), Number(last)];
		if (first === "") return `${revealLine(word)} is no number of the list, and no range such as 3-5`;
		if (from < 1 || to > max) return `${word} is not in the list, whose numbers are 1 to ${max}`;
		if (from > to) return `${word} is no range: ${from} is larger than ${to}`;
		for (let number = from; number <= to; number++) numbers.add(number);
	}
	return numbers;
}

async function targetOf({ location: { paths, env, trust } }: SubcommandContext): Promise<SetupTarget> {
	const set = await findProjectSet(paths.cwd, loadTrust(paths.agentDir), { env, home: paths.home });
	const settings = new SettingsStore(paths);
	const words = () => settings.current.hooks;
	return {
		isTrusted: trust || (set.files.length > 0 && isTrusted(set)),
		cwd: paths.cwd,
		isOn: (hook) => selectBundled(words(), true).hooks.some(({ name }) => name === hook),
		turnOn: (hook) => settings.set("hooks", [...words(), bundledPath(hook)]),
	};
}

function describeRow({ item, state, number }: Row, { location: { paths } }: SubcommandContext): string[] {
	const { kind, scope, name, note } = item;
	const shorten = (path: string) => (path.startsWith(`${paths.home}/`) ? `~${path.slice(paths.home.length)}` : path);
	const path = item.changes.flatMap((change) => (change.type === "hook" ? [] : [shorten(change.path)]))[0] ?? "";
	const results: Readonly<Record<SetupState, string>> = {
		new: `→ ${path}`,
		taken: "taken over before",
		kept: `kept: ${state === "kept" ? shorten(problemOf(item) ?? `${path} has another one`) : ""}`,
		untrusted: "not before you trust this project: start pi in it, or add --trust",
		none: note ?? "no counterpart",
	};
	const more = state === "new" && note !== null ? ` (${note})` : "";
	return [number === null ? "" : String(number), kind, scope, revealLine(name), revealLine(results[state] + more)];
}

function describeJson({ kind, scope, name, source, note, changes }: SetupItem, state: SetupState) {
	const to = changes.map((change) => (change.type === "hook" ? bundledPath(change.name) : change.path));
	return { kind, scope, name, source, state, to, note };
}
