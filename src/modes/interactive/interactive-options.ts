import type { Terminal } from "@mariozechner/pi-tui";
import type { KeybindingsFile } from "../../config/keybindings-file.js";
import type { SettingsStore } from "../../config/settings-store.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { SourceImage } from "../../images/sent-image.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { StartQuestions } from "../start-questions.js";
import type { ThemeOptions } from "./theme-controller.js";

/** Changes of an update. */
export interface News {
	version: string;
	/** Changes since the previous version as Markdown lines; empty for a single line that names the command. */
	lines: readonly string[];
}

/** A prompt that is sent at startup. */
export interface FirstPrompt {
	text: string;
	images?: readonly SourceImage[];
}

/** Options of the interactive mode. */
export interface InteractiveOptions {
	/** Creates the session, without starting it. Called after the first frame. */
	startSession(questions: StartQuestions): Promise<AgentSession>;
	settings: SettingsStore;
	theme: ThemeOptions;
	/** Features of the terminal. Default: text only. */
	features?: TerminalFeatures;
	cwd: string;
	home: string;
	version: string;
	/** Reads the user's key bindings, at startup and on each reload. */
	keybindings?: () => KeybindingsFile;
	/** Finds the command of the external editor, as in `$VISUAL`; null if none is installed. Default: none. */
	findEditor?: () => Promise<string | null>;
	/** Opens an address in the user's browser. Absent, or where it resolves with false, a click on a link copies it. */
	openLink?(address: string): Promise<boolean>;
	/** Prompts sent at startup, each after the run of the previous one has ended; a function is called once hooks have loaded. */
	prompts?: readonly FirstPrompt[] | (() => Promise<readonly FirstPrompt[]>);
	/** A prompt that the empty editor suggests at startup. */
	suggestion?: string;
	/** Starts the demo once this mode has ended. Absent: the demo is not offered. */
	startDemo?(): void;
	/** Environment variables that identify the terminal, for bug reports. */
	terminalFacts?: Readonly<Record<string, string>>;
	/** Called once the session has started. Resolves with the changes of an update, `first` at the first start, or null. */
	news?(): Promise<News | "first" | null>;
	/** Default: the terminal of the process, which is restored on every exit. */
	terminal?: Terminal;
}
