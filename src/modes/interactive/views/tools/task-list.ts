import { plural } from "../../../format.js";
import { cleanLine, wrapLines } from "../../lines.js";
import { genericPresenter } from "./generic.js";
import { failureOf } from "./output.js";
import { field, resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

const MARKS: Readonly<Record<string, string>> = { pending: "☐", in_progress: "▸", done: "☑" };

/** A task as the model wrote it. */
interface WrittenTask {
	text: string;
	status: unknown;
}

/** `tasks change the rounding … 1 of 3 done`. The open tasks stand above the editor. */
export const tasksPresenter: ToolPresenter = {
	subject(call, style) {
		const tasks = tasksOf(call);
		if (!tasks) return genericPresenter.subject(call, style);
		const current = tasks.find(({ status }) => status === "in_progress");
		return current ? cleanLine(current.text, 200) : plural(tasks.length, "task");
	},
	status(call) {
		const tasks = tasksOf(call);
		if (!tasks || call.phase !== "finished" || call.isError) return undefined;
		return `${tasks.filter(({ status }) => status === "done").length} of ${tasks.length} done`;
	},
	body(call, width, style) {
		const tasks = tasksOf(call);
		if (!tasks) return genericPresenter.body?.(call, width, style) ?? [];
		if (call.isError) return failureOf(resultText(call), width, style).map(style.theme.error);
		return style.expanded ? tasks.flatMap((task) => wrapLines([lineOf(task)], width)) : [];
	},
};

/** The list in the arguments; null for those of another tool with this name. */
function tasksOf({ args: { tasks } }: ToolCallState): WrittenTask[] | null {
	if (!Array.isArray(tasks)) return null;
	return tasks.flatMap((task: unknown) => {
		const text = field(task, "text");
		return typeof text === "string" ? [{ text, status: field(task, "status") }] : [];
	});
}

function lineOf({ text, status }: WrittenTask): string {
	return `${MARKS[String(status)] ?? "☐"} ${cleanLine(text, 500)}`;
}
