/**
 * Protects uncommitted changes: lists the changed files at the start, and asks before the agent runs edit, write or bash
 * for the first time in the session. If you answer no, these tools are blocked until your next prompt, which asks again.
 *
 * Without a screen they are blocked as well. Changes made by the agent do not cause a question: only the state of the work
 * tree before its first edit matters. The hook does not stash or commit anything.
 */
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

const GUARDED = new Set(["edit", "write", "bash"]);
const MAX_FILES = 10;

export default function dirtyRepoGuard(pi: HookAPI): void {
	/** The pending or given answer, shared by all tool calls. */
	let answer: Promise<boolean> | null = null;
	let files: string[] = [];

	const ask = async (ctx: HookEventContext): Promise<boolean> => {
		files = await listChanges(ctx);
		return files.length === 0 || ctx.ui.confirm("Let the agent work on these files?", describe(files));
	};

	pi.on("session", async (event, ctx) => {
		if (event.reason === "start") {
			const changed = await listChanges(ctx);
			if (changed.length > 0) ctx.ui.notify(describe(changed), "warning");
		}
		// The agent of the next session does not know about these changes.
		if (event.reason === "clear" || event.reason === "switch") answer = null;
	});

	pi.on("agent_start", async () => {
		if (answer && !(await answer.catch(() => false))) answer = null;
	});

	pi.on("tool_call", async (event, ctx) => {
		if (!GUARDED.has(event.toolName)) return undefined;
		answer ??= ask(ctx);
		if (await answer) return undefined;
		return {
			block: true,
			reason: `${describe(files)} The user has not allowed changes to these files: do not try again, describe what you would do.`,
		};
	});
}

/** Paths of files with uncommitted changes, including new files; empty if git fails. */
async function listChanges(ctx: HookEventContext): Promise<string[]> {
	const args = ["-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--no-renames"];
	const { code, stdout } = await ctx.exec("git", args, { onHost: true });
	if (code !== 0) return [];
	return stdout.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

function describe(files: readonly string[]): string {
	const shown = files.slice(0, MAX_FILES).join(", ");
	const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : "";
	return `Uncommitted changes: ${shown}${more}.`;
}
