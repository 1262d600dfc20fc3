import type { CommandShell, CommandThemes } from "../../commands/command.js";
import { PiError } from "../../errors.js";
import { type ClipboardProgram, copyToClipboard } from "../clipboard.js";
import type { PanelParts } from "./panels/open-panels.js";

/** What the shell of a screen is made of. */
export interface ShellParts {
	/** Writes control sequences to the terminal. */
	write(data: string): void;
	setEditorText(text: string): void;
	/** Asks for a text that does not show. */
	secret(title: string): Promise<string | null>;
	quit(): void;
	startDemo?: (() => void) | undefined;
	hotkeys(): [string, string][];
	reloadKeys(): void;
	/** Adds a title and lines to the transcript. */
	page(title: string, lines: readonly string[]): void;
	themes?: CommandThemes;
	/** Where panels stand; absent: commands print instead. */
	panels?: Omit<PanelParts, "copy"> & Pick<CommandShell, "screen">;
	/** Programs that take the clipboard's text on standard input, tried in order. Default: those of the platform. */
	clipboardPrograms?: readonly ClipboardProgram[];
}

/** Longer texts terminals do not take over OSC 52. Characters of base64. */
const MAX_OSC52_LENGTH = 100_000;

/** What commands can do with the screen. */
export function createShell(parts: ShellParts): CommandShell {
	const shell: CommandShell = {
		async copy(text) {
			const encoded = Buffer.from(text, "utf8").toString("base64");
			const asked = encoded.length <= MAX_OSC52_LENGTH;
			// The terminal's own clipboard also works from a remote machine, but whether it took the text is never told.
			if (asked) parts.write(`\x1b]52;c;${encoded}\x07`);
			if (await copyToClipboard(text, parts.clipboardPrograms)) return;
			if (!asked) {
				throw new PiError("command_failed", "The text is too long for the terminal's clipboard", {
					hint: "install wl-copy or xclip, or use /export",
				});
			}
		},
		setEditorText: parts.setEditorText,
		secret: parts.secret,
		quit: parts.quit,
		hotkeys: parts.hotkeys,
		reloadKeys: parts.reloadKeys,
		show: parts.page,
		...(parts.startDemo ? { startDemo: parts.startDemo } : {}),
		themes: parts.themes,
	};
	const { panels } = parts;
	if (!panels) return shell;
	// Loaded when the first one is opened: a start does not wait for them.
	const load = async () => {
		const { createPanels } = await import("./panels/open-panels.js");
		return createPanels({ ...panels, copy: (text) => shell.copy(text) });
	};
	const pickers = async () => (await import("./pickers/open-pickers.js")).createPickers(panels);
	return {
		...shell,
		openContext: async (inspector, at, signal) => (await load()).openContext(inspector, at, signal),
		openCompaction: async (trial) => (await load()).openCompaction(trial),
		openHooks: async (inspector, signal) => (await load()).openHooks(inspector, signal),
		pickModel: async (question, signal) => (await pickers()).pickModel(question, signal),
		pickSession: async (sessions, signal) => (await pickers()).pickSession(sessions, signal),
		pickBranch: async (rows, signal) => (await pickers()).pickBranch(rows, signal),
		openTools: async (tools, signal) => (await pickers()).openTools(tools, signal),
		openSettings: async (settings, signal) => (await pickers()).openSettings(settings, signal),
		showText: async (page, signal) => (await pickers()).showText(page, signal),
		screen: panels.screen,
		showList: async (page, signal) => (await pickers()).showList(page, signal),
	};
}
