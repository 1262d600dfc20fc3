import type { HookEventContext } from "@mariozechner/pi-coding-agent/hooks";
import { type ClaudeEvent, type Command, type Config, isRecord } from "./config.js";

/** Maximum number of characters that one command adds to the context. */
const MAX_TEXT = 10_000;
/** Bash if there is one, as in Claude Code. */
const SHELL = 'if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi';

/** What a command answered. */
export interface Answer {
	command: string;
	/** With exit code 2: stderr. */
	refusal: string | null;
	/** JSON that it printed with exit code 0; empty without. */
	json: Record<string, unknown>;
	/** `hookSpecificOutput` of `json`. */
	specific: Record<string, unknown>;
	/** Other text that it printed with exit code 0. */
	text: string;
}

/** The commands of all groups of an event that match one of the names, by that name. Each command once. */
export function commandsFor(config: Config, event: ClaudeEvent, names: readonly string[]): Map<string, Run[]> {
	const runs = new Map<string, Run[]>();
	const seen = new Set<string>();
	for (const { matches, commands, file, event: own } of config.groups) {
		const name = own === event ? names.find(matches) : undefined;
		if (name === undefined) continue;
		for (const command of commands) {
			if (seen.has(command.command)) continue;
			seen.add(command.command);
			const { findChanged } = file;
			const check = findChanged && (() => findChanged([command.command]));
			runs.set(name, [...(runs.get(name) ?? []), { ...command, findChanged: check }]);
		}
	}
	return runs;
}

/** A command. */
export interface Run extends Command {
	/** For one of the project: the path of a file that it runs and that is not as trusted. */
	findChanged: (() => Promise<string | null>) | undefined;
}

/**
 * Runs commands at the same time, each with the event as JSON on stdin.
 * @param warn receives a line for each command that failed
 * @param refuse receives a line for each command that does not run because a file that it runs is not as trusted
 */
export async function runCommands(
	runs: readonly Run[],
	payload: object,
	ctx: HookEventContext,
	warn: (line: string) => void,
	refuse: (line: string) => void,
): Promise<Answer[]> {
	const stdin = `${JSON.stringify(payload)}\n`;
	const answers = await Promise.all(
		runs.map(async (run) => {
			const changed = (await run.findChanged?.()) ?? null;
			if (changed === null) return runCommand(run, stdin, ctx, warn);
			refuse(`${changed}, which a hook of Claude Code runs, is new or has changed · /reload asks about it`);
			return null;
		}),
	);
	return answers.filter((answer) => answer !== null);
}

async function runCommand(
	{ command, timeoutMs, isAsync }: Run,
	stdin: string,
	ctx: HookEventContext,
	warn: (line: string) => void,
): Promise<Answer | null> {
	const running = ctx.exec("sh", ["-c", SHELL, "sh", command], {
		...{ stdin, timeout: timeoutMs, env: { CLAUDE_PROJECT_DIR: ctx.cwd } },
	});
	if (isAsync) return null;
	const { code, stdout, stderr, killed } = await running;
	if (ctx.signal.aborted) return null;
	const answer = { command, refusal: null, json: {}, specific: {}, text: "" };
	if (killed) {
		warn(`${shortly(command)} timed out after ${timeoutMs / 1000} s`);
		return null;
	}
	if (code === 2)
		return { ...answer, refusal: clip(stderr.trim()) || `${shortly(command)} refused it without a reason` };
	if (code !== 0) {
		warn(`${shortly(command)} exited with code ${code}: ${firstLine(stderr) || "no message"}`);
		return null;
	}
	const json = parseObject(stdout);
	if (json === null) return { ...answer, text: clip(stdout.trim()) };
	return { ...answer, json, specific: isRecord(json.hookSpecificOutput) ? json.hookSpecificOutput : {} };
}

/** The reason why a command refuses or continues something: of exit code 2, or of the decision `block`. */
export function blockReason({ refusal, json, command }: Answer): string | null {
	if (refusal !== null) return refusal;
	return json.decision === "block" ? textOf(json.reason) || `${shortly(command)} blocked it without a reason` : null;
}

/** Why a command ends the run; null if it does not. */
export function stopReason({ json, command }: Answer): string | null {
	return json.continue === false ? textOf(json.stopReason) || `${shortly(command)} stopped the run` : null;
}

/** What a command adds to the context. */
export function contextOf({ specific }: Answer): string {
	return textOf(specific.additionalContext);
}

/** A text of an answer; empty for everything else. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? clip(value.trim()) : "";
}

/** A command for messages. */
export function shortly(command: string): string {
	const line = firstLine(command);
	return `The hook ${JSON.stringify(line.length > 60 ? `${line.slice(0, 59)}…` : line)}`;
}

function firstLine(text: string): string {
	return (text.trim().split("\n", 1)[0] ?? "").slice(0, 300);
}

function clip(text: string): string {
	return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}\n[…]` : text;
}

function parseObject(stdout: string): Record<string, unknown> | null {
	if (!stdout.trimStart().startsWith("{")) return null;
	try {
		const value: unknown = JSON.parse(stdout);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}
