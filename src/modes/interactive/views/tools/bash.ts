import { formatDuration } from "../../../format.js";
import { cleanLine, styled, wrapLines } from "../../lines.js";
import { type OutputCut, tailOf } from "./output.js";
import {
	detail,
	field,
	numberDetail,
	resultText,
	type ToolCallState,
	type ToolPresenter,
	textArg,
} from "./presenter.js";

/** The last line of a failed result, which tells the model how the command ended; written by the bash tool. */
const ENDING =
	/(?:^|\n)(?:exit code \d+|Timed out after [\d.]+ s; [^\n]*|Aborted by the user; [^\n]*|Ended by signal SIG\w+\.)$/i;

/** Tells the model what was cut; written by the bash tool after the output. */
const CUT_NOTE = /(?<!\n)\n*\[Cut: only the last [^\n]*\](?=(?:\n\n[^\n]*)*$)/;

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
		const lines = [
			...styled(wrapLines(script, width), style.theme.muted),
			...tailOf(output(call), width, style, cutOf(call)),
		];
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
	const text = outputOf(resultText(call), call.isError);
	return cutOf(call) ? text.replace(CUT_NOTE, "") : text;
}

/** What the result does not contain; null if it is complete. */
function cutOf(call: ToolCallState): OutputCut | null {
	const truncation = detail(call, "truncation");
	if (field(truncation, "truncated") !== true) return null;
	const [total, kept] = ["totalLines", "outputLines"].map((name) => Number(field(truncation, name)));
	const lines = Number(total) - Number(kept);
	const file = detail(call, "fullOutputPath");
	return { lines: lines >= 0 ? lines : null, file: typeof file === "string" ? file : undefined };
}

/** The output of a command without the line that tells the model how it ended, which views show separately. */
export function outputOf(result: string, failed: boolean): string {
	const text = result.trimEnd();
	const [ending = ""] = (failed && ENDING.exec(text)) || [];
	const body = ending ? text.slice(0, -ending.length).trimEnd() : text;
	return body === "(no output)" ? "" : body;
}
