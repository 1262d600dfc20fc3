import { formatDuration } from "../../../format.js";
import { cleanLine, styled, wrapLines } from "../../lines.js";
import { tailOf } from "./output.js";
import { detail, numberDetail, resultText, type ToolCallState, type ToolPresenter, textArg } from "./presenter.js";

/** The sentence that tells the model how a command ended; see the bash tool. */
const ENDING =
	/(?:^|\n)(?:exit code \d+|Timed out after [\d.]+ s; [^\n]*|Aborted by the user; [^\n]*|Ended by signal SIG\w+\.)$/i;

/** A shell command: the end of its output while it runs and after; how it ended when that is not plain success. */
export const bashPresenter: ToolPresenter = {
	subject(call) {
		const [first = "", ...others] = textArg(call, "command").trim().split("\n");
		return others.length > 0 ? `${cleanLine(first)} ↵ +${others.length}` : cleanLine(first);
	},

	outcome(call) {
		if (call.phase !== "finished") return "";
		if (!call.isError) return [exit(call), duration(call)].filter(Boolean).join(" · ");
		// How a command ended stands below its output.
		return exit(call) ? " " : "";
	},

	body(call, width, style) {
		// It never ran: what was said instead is drawn as for any tool.
		if (call.phase === "finished" && call.isError && !exit(call)) return [];
		const command = textArg(call, "command").trim();
		// The head shows one line of it at most.
		const isLong = command.includes("\n") || command.length > width - 8;
		const script = style.expanded && isLong ? command.split("\n").map((line) => cleanLine(line, 4000)) : [];
		const lines = [...styled(wrapLines(script, width), style.theme.muted), ...tailOf(output(call), width, style)];
		if (call.phase === "finished" && call.isError) {
			const how = [exit(call), duration(call)].filter(Boolean).join(" · ");
			lines.push(style.theme.error(how));
		}
		return lines;
	},
};

function exit(call: ToolCallState): string {
	const endedBy = detail(call, "endedBy");
	if (endedBy === "timeout") return "timed out";
	if (endedBy === "abort") return "stopped";
	if (typeof endedBy === "string") return `killed by ${cleanLine(endedBy, 20)}`;
	const code = detail(call, "exitCode");
	if (code === null) return "killed";
	return typeof code === "number" ? `exit ${code}` : "";
}

function duration(call: ToolCallState): string {
	const ms = numberDetail(call, "durationMs");
	return ms === undefined ? "" : formatDuration(ms);
}

/** The output without the sentence that tells the model how the command ended: the screen shows that anyway. */
function output(call: ToolCallState): string {
	const text = resultText(call).trimEnd();
	const [ending = ""] = (call.isError && ENDING.exec(text)) || [];
	const body = ending ? text.slice(0, -ending.length).trimEnd() : text;
	return body === "(no output)" ? "" : body;
}
