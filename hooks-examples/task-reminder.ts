/**
 * Keeps the agent to its task: `/task <text>` says what it is, and every ten requests the model reads it again. `/task`
 * shows it, `/task done` ends it.
 *
 * What was said at the beginning is far away after an hour of work, and a summary may have lost it. Each reminder is an
 * entry of the session, so you see it too. For that the hook needs your leave, in ~/.pi/agent/settings.json:
 *
 *     "hookGrants": { "task-reminder.ts": ["systemItems"] }
 */
import type { HookAPI, SessionEntry } from "@mariozechner/pi-coding-agent/hooks";

const REQUESTS_BETWEEN = 10;

export default function taskReminder(pi: HookAPI): void {
	pi.requires("systemItems");
	pi.entry("task_reminder_task", {
		render: (entry, theme) => theme.dim(`task: ${taskOf(entry) ?? "done"}`),
	});

	let requests = 0;
	pi.on("before_request", (_, ctx) => {
		const task = currentTask(ctx.entries);
		requests = task === null ? 0 : requests + 1;
		if (task === null || requests % REQUESTS_BETWEEN !== 0) return;
		// This request is on its way: the model reads it in the next one.
		ctx.systemItems?.append({ kind: "task_reminder", text: `The task is still: ${task}` });
	});

	pi.command("task", {
		description: "Set the task that the agent is reminded of",
		argumentHint: "[text | done]",
		async handler(ctx) {
			const text = ctx.argsRaw.trim();
			if (text === "") return { status: currentTask(ctx.entries) ?? "There is no task" };
			requests = 0;
			await ctx.saveEntry({ type: "task_reminder_task", text: text === "done" ? null : text });
			return { status: text === "done" ? "The task is done" : "The agent will be reminded" };
		},
	});
}

function currentTask(entries: readonly SessionEntry[]): string | null {
	const entry = entries.findLast(({ type }) => type === "task_reminder_task");
	return entry ? taskOf(entry) : null;
}

/** What the log holds may come from anywhere. */
function taskOf(entry: SessionEntry): string | null {
	return "text" in entry && typeof entry.text === "string" ? entry.text : null;
}
