import { expect, test } from "vitest";
import { PLAIN_WINDOW, windowTraits } from "../../src/config/window-traits.js";

const osc9 = { progress: false, notification: "osc9" };

test.each([
	["a terminal that says nothing of itself", { TERM: "xterm-256color" }, PLAIN_WINDOW],
	["ghostty", { TERM_PROGRAM: "ghostty" }, { progress: true, notification: "osc9" }],
	[
		"iTerm2 that shows progress",
		{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.6.6" },
		{ ...osc9, progress: true },
	],
	["a later iTerm2", { TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "4.0" }, { ...osc9, progress: true }],
	["an older iTerm2", { TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.14" }, osc9],
	["an iTerm2 of no version", { TERM_PROGRAM: "iTerm.app" }, osc9],
	["WezTerm", { TERM_PROGRAM: "WezTerm" }, osc9],
	["kitty", { KITTY_WINDOW_ID: "1" }, osc9],
	["Windows Terminal", { WT_SESSION: "x" }, { progress: true, notification: "bell" }],
	["foot", { TERM: "foot-extra" }, { progress: false, notification: "osc777" }],
	["tmux inside ghostty", { TERM_PROGRAM: "ghostty", TMUX: "/tmp/tmux" }, PLAIN_WINDOW],
	["screen inside kitty", { KITTY_WINDOW_ID: "1", TERM: "screen-256color" }, PLAIN_WINDOW],
])("%s", (_name, env, traits) => {
	expect(windowTraits(env)).toEqual(traits);
});
