import {
	type AppMessage,
	type EntryTheme,
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	isSystemItemEntry,
	messageText,
	type SessionEntry,
} from "../hooks/index.js";
import { defineTool } from "../tools/tool.js";

/** One line of the task list. */
export interface Task {
	text: string;
	status: TaskStatus;
}

export type TaskStatus = "pending" | "in_progress" | "done";

/** Name of the feature, of its tool and of its command. */
const NAME = "tasks";
/** Number of tasks above the editor. */
const MAX_SHOWN = 5;
/** Reasons of session events after which another list may be the latest. */
const SHOW_AFTER = ["start", "switch", "clear", "branch"];
/** Number of replies without a use of the tool after which the model gets a reminder. */
const REMIND_AFTER = 10;

const STATUSES = ["pending", "in_progress", "done"] as const satisfies readonly TaskStatus[];
const MARKS: Record<TaskStatus, string> = { pending: "[ ]", in_progress: "[~]", done: "[x]" };

const parameters = {
	type: "object",
	properties: {
		tasks: {
			type: "array",
			items: {
				type: "object",
				properties: {
					text: { type: "string", minLength: 1, maxLength: 500, description: "The task, in one line" },
					// A plain enum: not every provider supports unions of constants.
					status: { type: "string", enum: STATUSES },
				},
				required: ["text", "status"],
			},
			maxItems: 100,
			description: "The full list, in order; it replaces the previous one",
		},
	},
	required: ["tasks"],
} as const;

/** Stores the task list. Only the results of this tool contain the list. */
export const tasksTool = defineTool<typeof parameters, { tasks: Task[] }>({
	name: NAME,
	description:
		"Write down the tasks of work with several steps, and keep the list up to date: the user sees it, and it is not lost when earlier messages are summarized.",
	parameters,
	readOnly: true,
	promptLine: "keep a list of tasks",
	guidelines: [
		"For work with three or more steps write them down with tasks first. Mark a task in_progress when you begin it and done as soon as it is finished and checked. Do not use the list for smaller work.",
	],
	async run({ tasks }) {
		const list = tasks.map(({ text, status }) => ({ text: text.replace(/\s+/g, " ").trim(), status }));
		return { content: [{ type: "text", text: summarize(list) }], details: { tasks: list } };
	},
});

/**
 * The task list, written as a hook: open tasks are shown above the editor, `/tasks` shows all, and a model that does not
 * update the list for long gets a reminder of the open tasks. It has no state of its own: it reads everything from the
 * entries, so the list survives resume, and a branch has the list of its starting point.
 */
export function tasksHook(pi: HookAPI): void {
	pi.requires("systemItems");

	pi.on("session", ({ reason }, ctx) => {
		if (!SHOW_AFTER.includes(reason)) return;
		// The context first: reading the entries of a long session is slow. A compaction removes the list from it.
		const tasks = latestTasks(ctx.messages) ?? (ctx.messages.length > 0 ? findTasks(ctx.entries) : null);
		show(tasks ?? [], ctx);
	});

	pi.on("turn_end", (_, ctx) => {
		const tasks = latestTasks(ctx.messages);
		// A compaction removes the list from the context, not from the screen.
		if (tasks) show(tasks, ctx);
		// Runs after every turn, so check the context first: reading the entries of a long session is slow.
		if (!isDue(ctx.messages)) return;
		const text = describeReminder(ctx.entries);
		if (text !== null) ctx.systemItems?.append({ kind: "task_reminder", text });
	});

	pi.command(NAME, {
		description: "Show the task list",
		handler(ctx) {
			const tasks = findTasks(ctx.entries) ?? [];
			return { status: tasks.length > 0 ? [title(tasks), ...listLines(tasks)].join("\n") : "There are no tasks" };
		},
	});
}

/** Shows the open tasks above the editor, in the order of the list. */
function show(tasks: readonly Task[], { ui }: HookEventContext): void {
	const open = tasks.filter(({ status }) => status !== "done");
	const rest = open.length - MAX_SHOWN;
	const lines = [
		ui.theme.bold(title(tasks)),
		...open.slice(0, MAX_SHOWN).map((task) => shownLine(task, ui.theme)),
		...(rest > 0 ? [ui.theme.dim(`… ${rest} more · /tasks shows all`)] : []),
	];
	ui.setWidget(NAME, open.length > 0 ? lines : undefined);
}

function shownLine({ text, status }: Task, theme: EntryTheme): string {
	return status === "in_progress" ? `${theme.accent("▸")} ${text}` : `${theme.dim("☐")} ${text}`;
}

/** The latest task list of some messages; null when none has one. */
function latestTasks(messages: readonly AppMessage[]): readonly Task[] | null {
	for (let index = messages.length - 1; index >= 0; index--) {
		const message = messages[index];
		const tasks = message ? tasksIn(message) : null;
		if (tasks) return tasks;
	}
	return null;
}

/** The latest task list; null when the model has not written one. */
function findTasks(entries: readonly SessionEntry[]): Task[] | null {
	for (let index = entries.length - 1; index >= 0; index--) {
		const entry = entries[index];
		const tasks = isMessageEntry(entry) ? tasksIn(entry.message) : null;
		if (tasks) return tasks;
	}
	return null;
}

/** True once the context has `REMIND_AFTER` replies after the last use of the tool and the last reminder. */
function isDue(messages: readonly AppMessage[]): boolean {
	let replies = 0;
	for (let index = messages.length - 1; index >= 0 && replies < REMIND_AFTER; index--) {
		const message = messages[index];
		if (message === undefined || isReminderMessage(message) || tasksIn(message)) return false;
		if (message.role === "assistant") replies++;
	}
	return replies === REMIND_AFTER;
}

function isReminder(entry: SessionEntry): boolean {
	return isSystemItemEntry(entry) && entry.source === NAME && entry.item.kind === "task_reminder";
}

/** Text of the reminder; null when none is due. The reminder that the tool exists is given only once. */
function describeReminder(entries: readonly SessionEntry[]): string | null {
	const tasks = findTasks(entries);
	if (tasks === null) {
		if (entries.some(isReminder)) return null;
		return `The tasks tool has not been used. If this work has several steps, write them down with it; if not, continue as before.`;
	}
	if (tasks.every(({ status }) => status === "done")) return null;
	return [
		`The task list was last updated ${REMIND_AFTER} or more replies ago:`,
		...listLines(tasks),
		"Update it if it is out of date, and continue with the open tasks.",
	].join("\n");
}

/** Recognizes the message that a reminder becomes in the context. */
function isReminderMessage(message: AppMessage): boolean {
	return message.role === "user" && messageText(message).startsWith(`<task_reminder source="${NAME}">`);
}

/** The valid task list of a tool result; null for every other message. */
export function tasksIn(message: AppMessage): Task[] | null {
	if (message.role !== "toolResult" || message.toolName !== NAME || message.isError) return null;
	const details: unknown = message.details;
	if (typeof details !== "object" || details === null || !("tasks" in details)) return null;
	const { tasks } = details;
	return Array.isArray(tasks) && tasks.every(isTask) ? tasks : null;
}

function isTask(value: unknown): value is Task {
	if (typeof value !== "object" || value === null || !("text" in value && "status" in value)) return false;
	return typeof value.text === "string" && typeof value.status === "string" && Object.hasOwn(MARKS, value.status);
}

function summarize(tasks: readonly Task[]): string {
	if (tasks.length === 0) return "The list is empty";
	const done = tasks.filter(({ status }) => status === "done").length;
	return `${done} of ${tasks.length} tasks done`;
}

/** The title of the list: how many tasks are done, and in progress. */
function title(tasks: readonly Task[]): string {
	const count = (wanted: TaskStatus) => tasks.filter(({ status }) => status === wanted).length;
	const current = count("in_progress");
	return `Tasks ${count("done")}/${tasks.length}${current > 0 ? ` · ${current} in progress` : ""}`;
}

function listLines(tasks: readonly Task[]): string[] {
	return tasks.map(({ text, status }) => `${MARKS[status]} ${text}`);
}
