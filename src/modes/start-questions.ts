import { describeError } from "../errors.js";
import type { GrantAnswer, GrantRequest, HostHandleName } from "../hooks/granted-handles.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { DialogOptions } from "../hooks/types.js";
import type { TrustAnswer } from "../trust/gate.js";
import type { ProjectFile, ProjectSet } from "../trust/store.js";
import type { Approval, ApprovalAnswer, ApprovalDetails } from "../util/approval.js";
import { revealLine } from "../util/reveal.js";
import { type CodeChange, type CodeLine, codeLines, compareWithTrusted, isPlainFile } from "./code-lines.js";
import { displayPath } from "./format.js";

/** User interaction during the start of a session. */
export interface StartQuestions {
	ui: SessionUI & {
		/** Asks whether something may run. */
		approve(approval: Approval, dialog?: DialogOptions, details?: ApprovalDetails): Promise<ApprovalAnswer>;
	};
	/** Shows code until the user closes it. */
	showCode(title: string, code: readonly CodeLine[]): Promise<void>;
	/** Control sequences that restore the terminal, for code that exits the program without the mode. */
	lastBytes: string;
}

/** Explains to the user what each handle allows. */
const HANDLE_MEANINGS: Readonly<Record<HostHandleName, string>> = {
	systemItems: "It lets the hook add notes for the model. Each note is also shown in the transcript.",
};
/** The characters of a row that fits most screens, and of a name on it: wider gaps would not be shown as blanks. */
const [MAX_ROW, MAX_NAME] = [78, 32];

/** Asks whether the code of a project or package may run, and shows it. @param now ms since the epoch */
export async function askTrust(set: ProjectSet, questions: StartQuestions, now = Date.now()): Promise<TrustAnswer> {
	const changes = new Map<string, CodeChange>();
	for (const file of set.files) {
		const change = await compareWithTrusted(file);
		if (change) changes.set(file.rel, change);
	}
	const owner = set.package ? `The package ${revealAll(set.package.name)}` : "This project";
	const approval: Approval = {
		question: `${owner} has code that pi would run. It can do anything you can. Run it?`,
		subject: { kind: "text", text: describe(set, changes, now) },
		yes: "Trust these contents",
		choices: [{ label: "This run only", key: "once" }],
	};
	const title = `${set.package ? "Package" : "Project"} code that would run`;
	const show = () =>
		questions.showCode(title, codeOf(set, changes, now)).catch((error: unknown) => {
			questions.ui.notify(`Cannot show the code: ${describeError(error)}`, "error");
		});
	const answer = await questions.ui.approve(approval, {}, { label: "Show code and changes", show });
	if (!answer.allowed) return "no";
	return answer.choice < 0 ? "trust" : "once";
}

/** Asks whether to grant a handle that a hook requires. */
export async function askGrant(
	{ file, handle }: GrantRequest,
	{ ui }: StartQuestions,
	paths: { cwd: string; home: string },
): Promise<GrantAnswer> {
	const answer = await ui.approve({
		question: `The hook ${revealAll(file.name)} asks for ${handle}. Grant it?`,
		subject: { kind: "text", text: `${HANDLE_MEANINGS[handle]}\n${revealAll(displayPath(file.path, paths))}` },
		yes: "Grant it",
		choices: [{ label: "This run only", key: "once" }],
		no: "Do not load the hook",
	});
	if (!answer.allowed) return "no";
	return answer.choice < 0 ? "grant" : "once";
}

/** What the question about code lists: what a package brings, its files, and what pi could not follow. */
function describe(set: ProjectSet, changes: ReadonlyMap<string, CodeChange>, now: number): string {
	// Files that need attention come first.
	const files = [...set.files].sort((a, b) => Number(a.state === "trusted") - Number(b.state === "trusted"));
	const rows = files.map((file) => {
		const digest = file.sha256.slice(0, 12);
		const details = `${formatSize(file.size).padStart(8)}   ${digest}   ${stateOf(file, set, changes, now)}`;
		return { name: nameOf(file, set), details };
	});
	// A long name gets a line of its own and does not widen the column of the others.
	const room = Math.min(MAX_NAME, MAX_ROW - 2 - Math.max(0, ...rows.map(({ details }) => details.length)));
	const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length).filter((length) => length <= room));
	const lines = rows.map(({ name, details }) =>
		name.length <= nameWidth ? `${name.padEnd(nameWidth)}  ${details}` : `${name}\n  ${details.trimStart()}`,
	);
	const unresolved = set.unresolved.map(
		({ from, specifier, reason }) => `${revealAll(from)} also loads ${revealAll(specifier)}: ${reason}`,
	);
	return [...(set.package?.notes.map(revealAll) ?? []), ...lines, ...unresolved].join("\n");
}

/** @returns new and changed code; all code when nothing has changed */
function codeOf(set: ProjectSet, changes: ReadonlyMap<string, CodeChange>, now: number): CodeLine[] {
	const fresh = set.files.filter(({ state }) => state !== "trusted");
	return (fresh.length > 0 ? fresh : set.files).flatMap((file): CodeLine[] => {
		const text = `${nameOf(file, set)}   ${stateOf(file, set, changes, now)}`;
		const code = changes.get(file.rel)?.lines ?? codeLines(file.bytes.toString("utf8"));
		return [{ kind: "heading", mark: "", text }, ...code];
	});
}

/** @returns a file's path, and its target if it is a link */
function nameOf({ title, rel, realPath }: ProjectFile, set: ProjectSet): string {
	const name = revealAll(title ?? rel);
	return isPlainFile({ rel, realPath }, set) ? name : `${name} → ${revealAll(realPath)}`;
}

function stateOf(
	{ state, rel }: ProjectFile,
	{ trustedAt }: ProjectSet,
	changes: ReadonlyMap<string, CodeChange>,
	now: number,
): string {
	const change = changes.get(rel);
	const counts = change ? `   +${change.added} −${change.removed}` : "";
	const since = trustedAt ? shortDate(trustedAt, now) : "it was trusted";
	return `${state === "changed" ? `changed since ${since}` : state}${counts}`;
}

/** One line of untrusted text that the user decides about: nothing is cut. */
function revealAll(text: string): string {
	return revealLine(text, { maxLength: Number.POSITIVE_INFINITY });
}

function formatSize(bytes: number): string {
	if (bytes < 100) return `${bytes} B`;
	if (bytes < 1000 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
	return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** @returns day and month, and the year unless it is the current one */
function shortDate(iso: string, now: number): string {
	const date = new Date(iso);
	if (Number.isNaN(date.getTime())) return revealLine(iso, { maxLength: 30 });
	const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
	return date.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${date.getFullYear()}`;
}
