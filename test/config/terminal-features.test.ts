import { expect, test } from "vitest";
import { terminalFeatures } from "../../src/config/terminal-features.js";

const kitty = { links: true, images: "kitty" };
const iterm = { links: true, images: "iterm2" };
const links = { links: true, images: null };
const text = { links: false, images: null };

test.each([
	[{ TERM: "xterm-256color" }, text],
	[{}, text],
	[{ TERM: "dumb", TERM_PROGRAM: "ghostty" }, text],
	[{ TERM: "xterm-kitty" }, kitty],
	[{ TERM: "xterm-ghostty", TERM_PROGRAM: "ghostty" }, kitty],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, kitty],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, iterm],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, links],
	[{ TERM: "foot" }, links],
	[{ TERM: "xterm-256color", WT_SESSION: "1" }, links],
	[{ TERM: "xterm-256color", VTE_VERSION: "7600" }, links],
	[{ TERM: "xterm-256color", VTE_VERSION: "5000" }, text],
	[{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, kitty],
	// Started from kitty, which left its variable.
	[{ TERM: "alacritty", KITTY_WINDOW_ID: "1" }, links],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal", KITTY_WINDOW_ID: "1" }, text],
	[{ TERM: "screen-256color", STY: "1.x", TERM_PROGRAM: "kitty" }, text],
	[{ TERM: "tmux-256color", TMUX: "/tmp/x", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.5a" }, text],
	[{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4", LC_TERMINAL: "iTerm2" }, links],
	[{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.3a", LC_TERMINAL: "iTerm2" }, text],
	[{ TERM: "xterm-256color", FORCE_HYPERLINK: "1" }, links],
	[
		{ TERM: "xterm-kitty", FORCE_HYPERLINK: "0" },
		{ links: false, images: "kitty" },
	],
])("%j can show %j", (env, features) => expect(terminalFeatures(env)).toEqual(features));
