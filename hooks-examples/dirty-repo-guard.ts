/**
 * Guards work that is not committed: says at the start which files have such changes, and asks before the agent first
 * runs edit, write or bash in the session. After a no those tools stay shut until your next prompt, which asks again.
 *
 * Where nobody can be asked they stay shut as well. Changes of the agent itself raise no question: what counts is how the
 * work tree is before it first touches anything. Nothing is stashed or committed; that is yours to do.
 */
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

const GUARDED = new Set(["edit", "write", "bash"]);
const MAX_FILES = 10;

export default function dirtyRepoGuard(pi: HookAPI): void {
	/** One question for all calls of a message. */
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
		// The next session has an agent that knows nothing of these changes.
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
			reason: `${describe(files)} The user has not allowed work on them: do not try again, say what you would do.`,
		};
	});
}

/** Paths of files with changes that are not committed, new ones included; none where git cannot tell. */
async function listChanges(ctx: HookEventContext): Promise<string[]> {
	const { code, stdout } = await ctx.exec("git", [
		"-c",
		"core.fsmonitor=false",
		"status",
		"--porcelain",
		"-z",
		"--no-renames",
	]);
	if (code !== 0) return [];
	return stdout.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

function describe(files: readonly string[]): string {
	const shown = files.slice(0, MAX_FILES).join(", ");
	const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : "";
	return `Changes that are not committed: ${shown}${more}.`;
}
