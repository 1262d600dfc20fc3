/**
 * Reminds the agent of its task: `/task <text>` sets it, and the model reads it again every ten requests. The task stands
 * above the editor, `/task` prints it, `/task done` ends it.
 *
 * After an hour of work the first prompt is far back in the context, and a summary may omit it. Each reminder is an entry of
 * the session, so you see it too. Grant the hook permission in ~/.pi/agent/settings.json:
 *
 *     "hookGrants": { "task-reminder.ts": ["systemItems"] }
 */
import type { HookAPI, HookEventContext, SessionEntry } from "@mariozechner/pi-coding-agent/hooks";

const REQUESTS_BETWEEN = 10;
/** Reasons of `session` after which the entries are those of another session, or of a hook that has just loaded. */
const SHOW_AFTER = ["start", "switch", "clear", "branch"];

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
		// This request is already built: the item is part of the next one.
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
			show(ctx);
			return { status: text === "done" ? "The task is done" : "The agent will be reminded" };
		},
	});

	pi.on("session", (event, ctx) => {
		if (SHOW_AFTER.includes(event.reason)) show(ctx);
	});
}

/** Shows the task above the editor, or removes it. */
function show({ entries, ui }: Pick<HookEventContext, "entries" | "ui">): void {
	const task = currentTask(entries);
	ui.setWidget("task", task === null ? undefined : [ui.theme.dim(`task: ${task.replace(/\s+/g, " ")}`)]);
}

function currentTask(entries: readonly SessionEntry[]): string | null {
	const entry = entries.findLast(({ type }) => type === "task_reminder_task");
	return entry ? taskOf(entry) : null;
}

/** The log is untrusted input, so this checks the field. */
function taskOf(entry: SessionEntry): string | null {
	return "text" in entry && typeof entry.text === "string" ? entry.text : null;
}
