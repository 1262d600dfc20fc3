import { plural } from "../util/format-amounts.js";
import { argumentWords, type DescribableCall, field, oneLine, type ToolWords } from "./description.js";

/** A task as the model wrote it. */
export interface WrittenTask {
	text: string;
	status: unknown;
}

/** `change the rounding`, or `3 tasks` if none is in progress; `1 of 3 done` */
export const tasksWords: ToolWords = {
	kind: "think",
	verb: "Update the task list:",
	subject(call, wording) {
		const tasks = writtenTasks(call);
		if (!tasks) return argumentWords(call, 400, wording);
		const current = tasks.find(({ status }) => status === "in_progress");
		return current ? oneLine(current.text, 200, wording) : plural(tasks.length, "task");
	},
	status(call) {
		const tasks = writtenTasks(call);
		return tasks ? [`${tasks.filter(({ status }) => status === "done").length} of ${tasks.length} done`] : [];
	},
};

/** The list in the arguments; null for those of another tool with this name. */
export function writtenTasks({ args: { tasks } }: Pick<DescribableCall, "args">): WrittenTask[] | null {
	if (!Array.isArray(tasks)) return null;
	return tasks.flatMap((task: unknown) => {
		const text = field(task, "text");
		return typeof text === "string" ? [{ text, status: field(task, "status") }] : [];
	});
}
