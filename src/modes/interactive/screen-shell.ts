import type { CommandShell } from "../../commands/command.js";
import { PiError } from "../../errors.js";
import type { ClipboardProgram } from "../desktop.js";
import type { DialogMarks } from "./dialogs/open-dialogs.js";

/** The parts of the screen that the shell uses. */
export interface ShellHost
	extends Pick<
		CommandShell,
		"setEditorText" | "hint" | "secret" | "quit" | "leave" | "startDemo" | "hotkeys" | "rereadFiles" | "themes"
	> {
	/** Writes control sequences to the terminal. */
	write(data: string): void;
	/** Adds a title and lines to the transcript. @returns a function that removes them */
	page(title: string, lines: readonly string[]): () => void;
	/** Absent: commands print instead of opening dialogs. */
	dialogs?: Omit<DialogMarks, "copy"> & Pick<CommandShell, "screen">;
	/** Programs that read the clipboard's text from standard input, tried in order. Default: those of the platform. */
	clipboardPrograms?: readonly ClipboardProgram[];
}

/** Terminals reject longer texts over OSC 52. Characters of base64. */
const MAX_OSC52_LENGTH = 100_000;

/**
 * Copies a text to the clipboard of the terminal and to that of the system.
 * @param write writes control sequences to the terminal
 * @param programs see `ShellHost.clipboardPrograms`
 * @throws PiError `command_failed` when neither accepts it
 */
export async function copyText(
	text: string,
	write: (data: string) => void,
	programs?: readonly ClipboardProgram[],
): Promise<void> {
	const encoded = Buffer.from(text, "utf8").toString("base64");
	const isSent = encoded.length <= MAX_OSC52_LENGTH;
	// The terminal's own clipboard also works over ssh, but no terminal confirms that it accepted the text.
	if (isSent) write(`\x1b]52;c;${encoded}\x07`);
	const { copyToClipboard } = await import("../desktop.js");
	if (await copyToClipboard(text, programs)) return;
	if (!isSent) {
		throw new PiError("command_failed", "The text is too long for the terminal's clipboard", {
			hint: "install wl-copy or xclip, or use /export",
		});
	}
}

/** Creates the interface through which commands use the screen. */
export function createShell({ write, page, dialogs: host, clipboardPrograms, ...own }: ShellHost): CommandShell {
	const copy = (text: string) => copyText(text, write, clipboardPrograms);
	const shell: CommandShell = { ...own, copy, show: page };
	if (!host) return shell;
	// Loaded with the first dialog, so that startup does not wait for it.
	const load = async () => (await import("./dialogs/open-dialogs.js")).createDialogs({ ...host, copy });
	return {
		...shell,
		screen: host.screen,
		openContext: async (inspector, at, signal) => (await load()).openContext(inspector, at, signal),
		openCompaction: async (trial) => (await load()).openCompaction(trial),
		openDiff: async (review, scope, signal) => (await load()).openDiff(review, scope, signal),
		openHooks: async (inspector, signal) => (await load()).openHooks(inspector, signal),
		openMcp: async (mcp, signal) => (await load()).openMcp(mcp, signal),
		pickModel: async (question, signal) => (await load()).pickModel(question, signal),
		pickSession: async (sessions, signal) => (await load()).pickSession(sessions, signal),
		pickBranch: async (rows, signal) => (await load()).pickBranch(rows, signal),
		openTools: async (tools, signal) => (await load()).openTools(tools, signal),
		openSettings: async (settings, signal) => (await load()).openSettings(settings, signal),
		pickLive: async (list, signal) => (await load()).pickLive(list, signal),
		showText: async (page, signal) => (await load()).showText(page, signal),
		showList: async (page, signal) => (await load()).showList(page, signal),
	};
}
