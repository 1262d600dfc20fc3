import { expect, test } from "vitest";
import { terminalFeatures } from "../../src/config/terminal-features.js";

const text = { links: false, images: null, progress: false, notification: "bell" };
const links = { ...text, links: true };
const kitty = { ...links, images: "kitty", notification: "osc9" };
const iterm = { ...links, images: "iterm2", notification: "osc9" };

test.each([
	[{ TERM: "xterm-256color" }, text],
	[{}, text],
	[
		{ TERM: "dumb", TERM_PROGRAM: "ghostty" },
		{ ...text, fixedCursor: true },
	],
	[{ TERM: "linux" }, { ...text, fixedCursor: true }],
	[{ TERM: "xterm-kitty" }, kitty],
	[
		{ TERM: "xterm-ghostty", TERM_PROGRAM: "ghostty" },
		{ ...kitty, progress: true },
	],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, kitty],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, iterm],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, links],
	[
		{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.6.6" },
		{ ...iterm, progress: true },
	],
	[
		{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "4.0" },
		{ ...iterm, progress: true },
	],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.14" }, iterm],
	[{ TERM: "foot" }, { ...links, notification: "osc777" }],
	[{ TERM: "rxvt-unicode-256color" }, { ...text, notification: "osc777" }],
	[
		{ TERM: "xterm-256color", WT_SESSION: "1" },
		{ ...links, progress: true },
	],
	[
		{ TERM: "xterm-256color", ConEmuPID: "1" },
		{ ...text, progress: true },
	],
	[{ TERM: "xterm-256color", VTE_VERSION: "7600" }, links],
	[{ TERM: "xterm-256color", VTE_VERSION: "5000" }, text],
	[{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, kitty],
	// Started from kitty, so its variable is inherited.
	[{ TERM: "alacritty", KITTY_WINDOW_ID: "1" }, links],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal", KITTY_WINDOW_ID: "1" }, text],
	[{ TERM: "screen-256color", STY: "1.x", TERM_PROGRAM: "kitty" }, text],
	[
		{ TERM: "tmux-256color", TMUX: "/tmp/x", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.5a" },
		{ ...text, images: "tmux" },
	],
	[{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4", LC_TERMINAL: "iTerm2" }, links],
	[{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.3a", LC_TERMINAL: "iTerm2" }, text],
	[{ TERM: "xterm-256color", FORCE_HYPERLINK: "1" }, links],
	[
		{ TERM: "xterm-kitty", FORCE_HYPERLINK: "0" },
		{ ...kitty, links: false },
	],
])("with %j the features are %j", (env, features) => expect(terminalFeatures(env)).toEqual(features));
