import { basename } from "node:path";
import { type WrittenTask, writtenTasks } from "../../../../tools/describe-tasks.js";
import { argumentWords, textArg } from "../../../../tools/description.js";
import { cleanLine, styled, wrapLines } from "../../clean-text.js";
import type { ViewStyle } from "../view.js";
import { failureOf, headOf } from "./command-output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

/** Maximum characters of the arguments of an expanded call. */
const MAX_ARGUMENTS = 4000;
const MARKS: Readonly<Record<string, string>> = { pending: "☐", in_progress: "▸", done: "☑" };

/** `read`, `grep`, `find` and `ls`: what they found, when expanded. */
export const lookupPresenter: ToolPresenter = {
	imageName: (call) => basename(textArg(call, "path")),
	body(call, width, style) {
		const isShown = style.expanded && call.phase === "finished" && !call.isError;
		return isShown ? headOf(resultText(call), width, style) : [];
	},
};

/** The complete list, when expanded. The open tasks stand above the editor. */
export const tasksPresenter: ToolPresenter = {
	body(call, width, style) {
		const tasks = writtenTasks(call);
		if (!tasks) return genericBody(call, width, style);
		if (call.isError) return failureOf(resultText(call), width, style).map((line) => style.theme.error(line));
		return style.expanded ? tasks.flatMap((task) => wrapLines([lineOf(task)], width)) : [];
	},
};

/** Any other tool: the beginning of its result. */
export const genericPresenter: ToolPresenter = { body: genericBody };

function genericBody(call: ToolCallState, width: number, style: ViewStyle): string[] {
	const result = resultText(call);
	const output = call.isError
		? styled(failureOf(result, width, style), style.theme.error)
		: headOf(result, width, style);
	return style.expanded ? [...argumentLines(call, width, style), ...output] : output;
}

/** The full arguments, when they do not fit in the head. */
function argumentLines(call: ToolCallState, width: number, style: ViewStyle): string[] {
	const text = argumentWords(call, MAX_ARGUMENTS);
	const room = width - call.name.length - 2;
	return text.length > room ? styled(wrapLines([text], width), style.theme.muted) : [];
}

function lineOf({ text, status }: WrittenTask): string {
	return `${MARKS[String(status)] ?? "☐"} ${cleanLine(text, 500)}`;
}
