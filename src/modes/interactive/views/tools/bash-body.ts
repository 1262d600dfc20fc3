import { commandOutput } from "../../../../tools/describe-shell.js";
import { detail, field, numberDetail, textArg } from "../../../../tools/description.js";
import { formatDuration } from "../../../format.js";
import { cleanLine, styled, wrapLines } from "../../clean-text.js";
import { type OutputCut, tailOf } from "./command-output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

/** Tells the model what was cut; written by the bash tool after the output. */
const CUT_NOTE = /(?<!\n)\n*\[Cut: only the last [^\n]*\](?=(?:\n\n[^\n]*)*$)/;

/** A shell command: the end of its output, and how it ended unless it succeeded. */
export const bashPresenter: ToolPresenter = {
	status(call, words) {
		// `body` shows how a failed command ended, below its output.
		if (call.isError) return words.length > 0 ? "" : undefined;
		return ending(call, words);
	},

	body(call, width, style, words) {
		// The command never ran: the view draws the error as for any tool.
		if (call.phase === "finished" && call.isError && words.length === 0) return [];
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
		if (call.phase === "finished" && call.isError) lines.push(style.theme.error(ending(call, words)));
		return lines;
	},
};

function ending(call: ToolCallState, words: readonly string[]): string {
	const ms = numberDetail(call, "durationMs");
	return [...words, ...(ms === undefined ? [] : [formatDuration(ms)])].join(" · ");
}

function output(call: ToolCallState): string {
	const text = commandOutput(resultText(call), call.isError);
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
