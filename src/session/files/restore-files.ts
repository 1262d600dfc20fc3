import { describeError } from "../../errors.js";
import type { FileChange, FoldedChange } from "../../log/entry.js";
import { UNKNOWN_CONTENT } from "../../log/file-changes.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import { plainOutput } from "../../tools/output.js";
import { type KeptContents, keepContent } from "./keep-content.js";

/** Lines of a diff that a question shows. */
const MAX_DIFF_LINES = 40;
const MAX_DIFF_MS = 100;

/**
 * Asks whether to restore a file that changed since; null: nothing is to be restored.
 * @param diff from its content now to its content after; empty if it cannot be shown
 */
export type AskToRestore = (path: string, diff: readonly string[]) => Promise<boolean | null>;

/** What was restored, with the content that it replaced, and what was left and why. */
interface Restored {
	done: FileChange[];
	left: { path: string; reason: string }[];
	/** True if the user canceled a question: nothing was restored. */
	isCanceled: boolean;
}

/** A file that is to be restored. */
export interface Restoration {
	change: FileChange;
	/** null: the file is deleted. */
	bytes: Uint8Array | null;
	isExecutable: boolean;
}

/**
 * Gives files the content that they had before these changes, once all questions are answered. Never rejects: a file that cannot be
 * restored is left.
 */
export async function restoreFiles(
	files: readonly FoldedChange[],
	host: ToolHost,
	contents: KeptContents,
	ask: AskToRestore | null,
): Promise<Restored> {
	const plans: { path: string; plan: Restoration | string }[] = [];
	for (const file of files) {
		const { path } = file;
		const plan = await planOf(file, host, contents, ask).catch(reasonOf);
		if (plan === null) {
			const reason = "the undo was canceled";
			return { done: [], left: files.map((one) => ({ path: one.path, reason })), isCanceled: true };
		}
		plans.push({ path, plan });
	}
	const done: FileChange[] = [];
	const left: Restored["left"] = [];
	for (const { path, plan } of plans) {
		const problem = typeof plan === "string" ? plan : await restoreFile(plan, host, contents).catch(reasonOf);
		if (problem !== null) left.push({ path, reason: problem });
		else if (typeof plan !== "string") done.push(plan.change);
	}
	return { done, left, isCanceled: false };
}

export function reasonOf(error: unknown): string {
	return plainOutput(describeError(error));
}

/** @returns the reason why the file is left, if it is; null if the user cancels */
async function planOf(
	file: FoldedChange,
	host: ToolHost,
	contents: KeptContents,
	ask: AskToRestore | null,
): Promise<Restoration | string | null> {
	const { path, before, after, isInterrupted, on, executable = false } = file;
	if (!isOnHost(file, host)) return describeElsewhere(on);
	if (before === UNKNOWN_CONTENT) return "its earlier content was not kept: it was too large or unreadable";
	const bytes = before === null ? null : await contents.get(before);
	if (before !== null && bytes === null) return "its earlier content is no longer kept";
	if ((await host.realPath(path)) !== path) return "it is a link now";
	const now = await keepContent(host, path, contents);
	const change: FileChange = { path, before: now, after: before, ...(on === undefined ? {} : { on }) };
	const plan = { change, bytes, isExecutable: executable };
	if (now === before || (now !== UNKNOWN_CONTENT && now === after && !isInterrupted)) return plan;
	if (ask === null) return "it changed since, and nobody can be asked";
	const current = now === null || now === UNKNOWN_CONTENT ? null : await contents.get(now);
	const isWanted = await ask(path, await describeDiff(current, bytes));
	if (isWanted === null) return null;
	return isWanted ? plan : "it changed since";
}

/** Whether the tools work on the machine that has this file. */
export function isOnHost({ on }: Pick<FileChange, "on">, host: ToolHost): boolean {
	return on === (elsewhereOf(host) ?? undefined);
}

/** Why a file on another machine cannot be changed. */
export function describeElsewhere(on: string | undefined): string {
	return `it is on ${on === undefined ? "the machine where pi runs" : on}, where tools do not work now`;
}

/** @returns the reason why the file was left; null if it was restored */
export async function restoreFile(
	{ change, bytes, isExecutable }: Restoration,
	host: ToolHost,
	contents: KeptContents,
): Promise<string | null> {
	const { path, before, after } = change;
	const now = await keepContent(host, path, contents);
	if (now !== before) return "it changed while a question was open";
	if (now === after && now !== UNKNOWN_CONTENT) return null;
	if (bytes === null) {
		const { exitCode, failure } = await host.exec(["rm", "-f", "--", path]);
		return exitCode === 0 ? null : (failure ?? "it could not be deleted");
	}
	await host.writeFile(path, bytes);
	if (isExecutable) await host.exec(["chmod", "+x", "--", path]);
	return null;
}

async function describeDiff(now: Uint8Array | null, then: Uint8Array | null): Promise<string[]> {
	const [before, after] = [now, then].map((bytes) => (bytes === null ? "" : decodeText(bytes)));
	if (before === undefined || after === undefined) return [];
	// Not needed before the first question.
	const { diffLines } = await import("../../tools/line-diff.js");
	const lines = (await diffLines(before, after, MAX_DIFF_MS)).diff.split("\n").map(plainOutput);
	const cut = lines.length - MAX_DIFF_LINES;
	return cut > 0 ? [...lines.slice(0, MAX_DIFF_LINES), `… ${cut} more lines`] : lines;
}

/** The text of a file, with its byte order mark; undefined for what is not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
	if (bytes.includes(0)) return undefined;
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}
