import { detail, oneLine, type ToolWords, textArg } from "./description.js";

const MAX_COMMAND = 500;

/** `npm test`, or in a row `cd src ↵ +1`; `exit 1` */
export const bashWords: ToolWords = {
	kind: "execute",
	verb: "",
	subject: (call, wording) => oneLine(textArg(call, "command").trim(), MAX_COMMAND, wording),
	brief(call) {
		const [first = "", ...others] = textArg(call, "command").trim().split("\n");
		return others.length > 0 ? `${oneLine(first, MAX_COMMAND)} ↵ +${others.length}` : oneLine(first, MAX_COMMAND);
	},
	status(call) {
		const end = commandEnd({
			exitCode: detail(call, "exitCode"),
			endedBy: detail(call, "endedBy"),
			job: detail(call, "job"),
			moved: detail(call, "moved"),
		});
		return end === "" ? [] : [end];
	},
};

/** `stop job-1` */
export const jobsWords: ToolWords = {
	kind: "execute",
	verb: "Background commands:",
	subject: (call, wording) => oneLine(`${textArg(call, "action")} ${textArg(call, "id")}`, 120, wording),
};

/** How a command ended, from the details of `bash` or from a command of the user: `exit 1`. Empty if nothing says so. */
export function commandEnd({
	exitCode,
	endedBy,
	job,
	moved,
}: {
	exitCode?: unknown;
	endedBy?: unknown;
	job?: unknown;
	moved?: unknown;
}): string {
	if (endedBy === "timeout") return "timed out";
	if (endedBy === "abort") return "stopped";
	if (typeof endedBy === "string") return `killed by ${oneLine(endedBy, 20)}`;
	if (typeof job === "string") return `${moved === true ? "moved to" : "started"} ${oneLine(job, 20)}`;
	if (exitCode === null) return "killed";
	return typeof exitCode === "number" ? `exit ${exitCode}` : "";
}

/** The last line of a failed result, which tells the model how the command ended; written by the bash tool. */
const ENDING =
	/(?:^|\n)(?:exit code \d+|Timed out after [\d.]+ s; [^\n]*|Aborted by the user; [^\n]*|Ended by signal SIG\w+\.)$/i;

/** The output of a command without the line that tells the model how it ended, which `commandEnd` says. */
export function commandOutput(result: string, failed: boolean): string {
	const text = result.trimEnd();
	const [ending = ""] = (failed && ENDING.exec(text)) || [];
	const body = ending ? text.slice(0, -ending.length).trimEnd() : text;
	return body === "(no output)" ? "" : body;
}
