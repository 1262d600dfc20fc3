import { Type } from "typebox";
import {
	type AppMessage,
	type HookAPI,
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
/** Replies of the model without a use of the tool, after which it is reminded. */
const REMIND_AFTER = 10;

const MARKS: Record<TaskStatus, string> = { pending: "[ ]", in_progress: "[~]", done: "[x]" };

const parameters = Type.Object({
	tasks: Type.Array(
		Type.Object({
			text: Type.String({ minLength: 1, maxLength: 500, description: "What is to be done, one line" }),
			// A plain enum: not every provider knows unions of constants.
			status: Type.Unsafe<TaskStatus>({ type: "string", enum: Object.keys(MARKS) }),
		}),
		{ maxItems: 100, description: "The whole list, in order; it replaces the one before" },
	),
});

/** Writes the task list down. The list is nowhere but in the results of this tool. */
export const tasksTool = defineTool<typeof parameters, { tasks: Task[] }>({
	name: NAME,
	description:
		"Write down the tasks of work with several steps, and keep the list up to date: the user sees it, and it is not lost when earlier messages are summarized.",
	parameters,
	readOnly: true,
	promptLine: "keep a list of tasks",
	guidelines: [
		"For work with three or more steps write them down with tasks first. Mark a task in_progress when you begin it and done at once when it is finished and checked; for less than that leave the list alone.",
	],
	async run({ tasks }) {
		const list = tasks.map(({ text, status }) => ({ text: text.replace(/\s+/g, " ").trim(), status }));
		return { content: [{ type: "text", text: summarize(list) }], details: { tasks: list } };
	},
});

/**
 * The task list, written as a hook: `/tasks` shows it, and a model that leaves it alone for long is reminded of what is
 * open. It keeps nothing of its own: everything is read from the entries, so it survives resume, and a branch has the
 * list of its place.
 */
export function tasksHook(pi: HookAPI): void {
	pi.requires("systemItems");

	pi.on("turn_end", (_, ctx) => {
		// After every turn: the context is at hand, the entries of a long session would have to be read from its file.
		if (!isDue(ctx.messages)) return;
		const text = describeReminder(ctx.entries);
		if (text !== null) ctx.systemItems?.append({ kind: "task_reminder", text });
	});

	pi.command(NAME, {
		description: "Show the task list",
		handler(ctx) {
			const tasks = findTasks(ctx.entries) ?? [];
			return { status: tasks.length > 0 ? [summarize(tasks), ...listLines(tasks)].join("\n") : "There are no tasks" };
		},
	});
}

/** The list as it was last written; null when it never was. */
function findTasks(entries: readonly SessionEntry[]): Task[] | null {
	for (let index = entries.length - 1; index >= 0; index--) {
		const tasks = writtenTasks(entries[index]);
		if (tasks) return tasks;
	}
	return null;
}

/** True once the context has so many replies of the model behind its last use of the tool and the last reminder. */
function isDue(messages: readonly AppMessage[]): boolean {
	let replies = 0;
	for (let index = messages.length - 1; index >= 0 && replies < REMIND_AFTER; index--) {
		const message = messages[index];
		if (message === undefined || isReminderMessage(message) || tasksIn(message)) return false;
		if (message.role === "assistant") replies++;
	}
	return replies === REMIND_AFTER;
}

/** What to remind the model of; null for nothing. That there is such a tool is said once. */
function describeReminder(entries: readonly SessionEntry[]): string | null {
	const tasks = findTasks(entries);
	if (tasks === null) {
		if (entries.some(isReminder)) return null;
		return `The tasks tool has not been used. If this work has several steps, write them down with it; if not, go on as before.`;
	}
	if (tasks.every(({ status }) => status === "done")) return null;
	return [
		`The task list was last written ${REMIND_AFTER} or more replies ago. It says:`,
		...listLines(tasks),
		"Bring it up to date when it is behind the work, and go on with what is open.",
	].join("\n");
}

function isReminder(entry: SessionEntry | undefined): boolean {
	return isSystemItemEntry(entry) && entry.source === NAME && entry.item.kind === "task_reminder";
}

/** The same as the context has it. */
function isReminderMessage(message: AppMessage): boolean {
	return message.role === "user" && messageText(message).startsWith(`<task_reminder source="${NAME}">`);
}

/** The list that an entry wrote; null for every other entry, and for a list that is none. */
function writtenTasks(entry: SessionEntry | undefined): Task[] | null {
	return isMessageEntry(entry) ? tasksIn(entry.message) : null;
}

function tasksIn(message: AppMessage): Task[] | null {
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

function listLines(tasks: readonly Task[]): string[] {
	return tasks.map(({ text, status }) => `${MARKS[status]} ${text}`);
}
