import { formatDuration } from "../../../format.js";
import { cleanLine, styled, wrapLines } from "../../lines.js";
import { tailOf } from "./output.js";
import { detail, numberDetail, resultText, type ToolCallState, type ToolPresenter, textArg } from "./presenter.js";

/** The last line of a failed result, which tells the model how the command ended; written by the bash tool. */
const ENDING =
	/(?:^|\n)(?:exit code \d+|Timed out after [\d.]+ s; [^\n]*|Aborted by the user; [^\n]*|Ended by signal SIG\w+\.)$/i;

/** A shell command: the end of its output, and how it ended unless it succeeded. */
export const bashPresenter: ToolPresenter = {
	subject(call) {
		const [first = "", ...others] = textArg(call, "command").trim().split("\n");
		return others.length > 0 ? `${cleanLine(first)} ↵ +${others.length}` : cleanLine(first);
	},

	status(call) {
		if (call.phase !== "finished") return undefined;
		if (!call.isError) return ending(call);
		// `body` shows how a failed command ended, below its output.
		return exit(call) ? "" : undefined;
	},

	body(call, width, style) {
		// The command never ran: the view draws the error as for any tool.
		if (call.phase === "finished" && call.isError && !exit(call)) return [];
		// The result tells the model how to follow the command.
		if (detail(call, "job") !== undefined) return [];
		const command = textArg(call, "command").trim();
		// The head shows at most one line of the command.
		const isLong = command.includes("\n") || command.length > width - 8;
		const script = style.expanded && isLong ? command.split("\n").map((line) => cleanLine(line, 4000)) : [];
		const lines = [...styled(wrapLines(script, width), style.theme.muted), ...tailOf(output(call), width, style)];
		if (call.phase === "finished" && call.isError) lines.push(style.theme.error(ending(call)));
		return lines;
	},
};

function exit(call: ToolCallState): string {
	const endedBy = detail(call, "endedBy");
	if (endedBy === "timeout") return "timed out";
	if (endedBy === "abort") return "stopped";
	if (typeof endedBy === "string") return `killed by ${cleanLine(endedBy, 20)}`;
	const job = detail(call, "job");
	if (typeof job === "string") return `started ${cleanLine(job, 20)}`;
	const code = detail(call, "exitCode");
	if (code === null) return "killed";
	return typeof code === "number" ? `exit ${code}` : "";
}

function ending(call: ToolCallState): string {
	const ms = numberDetail(call, "durationMs");
	return [exit(call), ms === undefined ? "" : formatDuration(ms)].filter(Boolean).join(" · ");
}

function output(call: ToolCallState): string {
	return outputOf(resultText(call), call.isError);
}

/** The output of a command without the line that tells the model how it ended, which views show separately. */
export function outputOf(result: string, failed: boolean): string {
	const text = result.trimEnd();
	const [ending = ""] = (failed && ENDING.exec(text)) || [];
	const body = ending ? text.slice(0, -ending.length).trimEnd() : text;
	return body === "(no output)" ? "" : body;
}
