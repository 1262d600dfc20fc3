import type { Terminal } from "@mariozechner/pi-tui";
import type { KeybindingsFile } from "../../config/keybindings-file.js";
import type { SettingsStore } from "../../config/settings-store.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { StartQuestions } from "../start-questions.js";
import type { FirstPrompt } from "./prompt-target.js";
import type { ThemeOptions } from "./theme-controller.js";

/** What an update changed. */
export interface News {
	version: string;
	/** Changes since the previous version as Markdown lines; empty for a single line that names the command. */
	lines: readonly string[];
}

/** Everything that the screen does not find out itself. */
export interface InteractiveOptions {
	/** Creates the session; it is called after the first paint. The session is started here. */
	startSession(questions: StartQuestions): Promise<AgentSession>;
	settings: SettingsStore;
	theme: ThemeOptions;
	/** What the terminal can show. Default: text. */
	features?: TerminalFeatures;
	cwd: string;
	home: string;
	version: string;
	/** Reads the user's keys, at the start and at each reload. */
	keybindings?: () => KeybindingsFile;
	/** As in `$VISUAL` or `$EDITOR`. */
	editorCommand?: string | null;
	/** Said first, each when what the one before it began is over. */
	prompts?: readonly FirstPrompt[];
	/** Text in the editor at the start. */
	draft?: string;
	/** Begins the demo once this mode has ended; absent: it is not offered. */
	startDemo?(): void;
	/** What the terminal says of itself, for reports: names and values of variables. */
	terminalFacts?: Readonly<Record<string, string>>;
	/** Told once the session is there: what an update brought, or null. */
	news?(): Promise<News | null>;
	/** Default: the terminal of the process, which is given back on every way out. */
	terminal?: Terminal;
}
