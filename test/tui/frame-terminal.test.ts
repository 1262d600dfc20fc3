import { expect, test } from "vitest";
import { FrameTerminal } from "../../src/tui/frame-terminal.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const END = "\x1b[0m\x1b]8;;\x07";

function frame(...lines: string[]): string {
	return `\x1b[?2026h${lines.map((line) => `\x1b[2K${line}${END}`).join("\r\n")}\x1b[?2026l`;
}

test("a frame goes out as one write, and the cursor is hidden once", () => {
	const terminal = new VirtualTerminal();
	const frames = new FrameTerminal(terminal);
	frames.beginFrame();
	frames.write("one");
	frames.hideCursor();
	frames.write("two");
	frames.hideCursor();
	frames.endFrame();
	frames.showCursor();
	expect(terminal.writes).toEqual(["one\x1b[?25ltwo", "\x1b[?25h"]);
});

test("a frame that would clear the scrollback clears what it is told to instead", () => {
	const terminal = new VirtualTerminal();
	const frames = new FrameTerminal(terminal);
	frames.clear = "\x1b[3A\r\x1b[J";
	frames.beginFrame();
	frames.write("\x1b[?2026h\x1b[2J\x1b[H\x1b[3Jtext\x1b[?2026l");
	frames.endFrame();
	expect(terminal.writes).toEqual(["\x1b[?2026h\x1b[3A\r\x1b[Jtext\x1b[?2026l"]);
});

test("only styles and links that are on are turned off", () => {
	const terminal = new VirtualTerminal();
	const frames = new FrameTerminal(terminal);
	frames.beginFrame();
	frames.write(frame("plain", "\x1b[31mred", "plain again"));
	frames.endFrame();
	const linked = frame("a \x1b]8;;http://x.y\x07link");
	frames.beginFrame();
	frames.write(linked);
	frames.endFrame();
	expect(terminal.writes).toEqual([
		"\x1b[?2026h\x1b[2Kplain\x1b[0m\r\n\x1b[2K\x1b[31mred\x1b[0m\r\n\x1b[2Kplain again\x1b[?2026l",
		linked,
	]);
});
