import { expect, test } from "vitest";
import { terminalColors } from "../../src/config/terminal-colors.js";

test.each([
	[{ TERM: "xterm-256color", COLORTERM: "truecolor" }, 3, "COLORTERM=truecolor"],
	[{ TERM: "xterm-256color" }, 2, "TERM=xterm-256color"],
	[{ TERM: "xterm" }, 1, "TERM=xterm"],
	[{ TERM: "linux" }, 1, "TERM=linux"],
	[{ TERM: "xterm-kitty" }, 3, "TERM=xterm-kitty"],
	[{ TERM: "tmux-256color", TERM_PROGRAM: "tmux" }, 2, "TERM=tmux-256color"],
	[{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, 3, "TERM_PROGRAM=iTerm.app"],
	[{ TERM: "dumb", COLORTERM: "truecolor" }, 0, "TERM=dumb"],
	[{ TERM: "xterm-256color", COLORTERM: "truecolor", NO_COLOR: "1" }, 0, "NO_COLOR=1"],
	[{ TERM: "xterm-256color", NO_COLOR: "" }, 2, "TERM=xterm-256color"],
	[{ TERM: "xterm-256color", NO_COLOR: "1", FORCE_COLOR: "1" }, 1, "FORCE_COLOR=1"],
	[{ TERM: "dumb", FORCE_COLOR: "3" }, 3, "FORCE_COLOR=3"],
	[{ TERM: "xterm", COLORTERM: "truecolor", FORCE_COLOR: "0" }, 0, "FORCE_COLOR=0"],
	[{ TERM: "xterm", FORCE_COLOR: "" }, 1, "FORCE_COLOR="],
	[{}, 1, "TERM="],
])("with %j the color level is %i because of %s", (env, level, reason) => {
	expect(terminalColors(env, "linux")).toEqual({ level, reason, background: null });
});

test.each([
	["15;0", "dark"],
	["0;15", "light"],
	["0;default;15", "light"],
	["12;8", "dark"],
	["0;7", "light"],
	["15;default", null],
	["", null],
	["0;99", null],
])("COLORFGBG=%s is a %s background", (COLORFGBG, background) => {
	expect(terminalColors({ COLORFGBG }, "linux").background).toBe(background);
});

test("Windows consoles support true color", () => {
	expect(terminalColors({}, "win32")).toMatchObject({ level: 3 });
});
