import type { CommandShell } from "../../commands/command.js";
import { PiError } from "../../errors.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { copyToClipboard } from "../desktop.js";
import { confirmEnd } from "../end-question.js";
import type { PlainDialogs } from "./plain-dialogs.js";
import type { PlainOutput } from "./plain-output.js";

/** What commands use of the plain mode. */
export interface PlainShellHost extends Pick<CommandShell, "quit" | "leave" | "startDemo"> {
	session: AgentSession;
	output: PlainOutput;
	dialogs: PlainDialogs;
	/** Replaces the text that Enter on an empty line sends. */
	setDraft(text: string): void;
}

/** Creates the interface through which commands use the plain mode. */
export function createPlainShell({ session, output, dialogs, setDraft, ...own }: PlainShellHost): CommandShell {
	return {
		...own,
		openCompaction: async (trial) => {
			const { askPlainCompaction } = await import("./plain-compaction.js");
			return askPlainCompaction(trial, dialogs, output);
		},
		async copy(text) {
			if (await copyToClipboard(text)) return;
			throw new PiError("command_failed", "Cannot copy to the clipboard: no clipboard program works", {
				hint: "install wl-copy or xclip, or use /export",
			});
		},
		setEditorText: setDraft,
		secret: (title) => dialogs.secret(title),
		confirmEnd: (title, signal) => confirmEnd(session, { title, about: "work", signal }, dialogs),
		hotkeys: () => HOTKEYS,
		show: (title, lines) => {
			for (const line of [title, ...lines]) output.say(inWords(line));
			return () => {};
		},
	};
}

/** Replaces the gutter marks of a line with words and the gaps between columns with commas. */
function inWords(line: string): string {
	return line
		.replace(/^▎ +◆/, "summary  ")
		.replace(/^▎/, "in the context")
		.replace(/^┆/, "hidden")
		.replace(/(\S) {2,}/g, "$1, ");
}

const HOTKEYS: [string, string][] = [
	["Enter", "Send; during a run, pi sends it after the current tool calls"],
	["backslash, Enter", "Continue on the next line"],
	["Ctrl+C", "Cancel a question or abort a run; twice: quit"],
	["Ctrl+D", "Quit"],
	["Ctrl+Z", "Suspend; resume with fg"],
];
