import { expect, test, vi } from "vitest";
import { TerminalReports } from "../../src/tui/terminal-reports.js";

/** Reports of a terminal that was asked, what was typed meanwhile, and what it was told. */
function watch() {
	const written: string[] = [];
	const typed: string[] = [];
	const heard: string[] = [];
	const type = (key: string) => {
		if (!reports.handleInput(key)) typed.push(key);
	};
	const reports = new TerminalReports((data) => written.push(data), type);
	reports.watch((background) => heard.push(background));
	return { reports, written, typed, heard, send: type };
}

test.each([
	["\x1b]11;rgb:0000/0000/0000\x07", "dark"],
	["\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "light"],
	["\x1b]11;rgb:fd/f6/e3\x1b\\", "light"],
	["\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x07", "dark"],
	["\x1b]11;#fafafa\x07", "light"],
	["\x1b]11;rgb:8/8/8\x07", "dark"],
	["\x1b[?997;2n", "light"],
	["\x1b[?997;1n", "dark"],
])("%j means a %s background and is no key", (answer, background) => {
	const { send, heard, typed } = watch();
	send(answer);
	expect({ heard, typed }).toEqual({ heard: [background], typed: [] });
});

test("what is typed around an answer arrives as it is, in order", () => {
	const { send, heard, typed } = watch();
	for (const key of ["a", "\x1b[A", "\x1b]11;rgb:00/00/00\x07", "\x1b", "b", "\x1b[200~paste\x1b[201~"]) send(key);
	expect({ heard, typed }).toEqual({ heard: ["dark"], typed: ["a", "\x1b[A", "\x1b", "b", "\x1b[200~paste\x1b[201~"] });
});

test("an answer that comes in pieces is put together, wherever it is cut", () => {
	const answer = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
	for (let cut = 2; cut < answer.length; cut += 1) {
		const { send, heard, typed } = watch();
		send(answer.slice(0, cut));
		// What follows the piece that was given up arrives character by character.
		for (const character of answer.slice(cut)) send(character);
		expect({ cut, heard, typed }).toEqual({ cut, heard: ["light"], typed: [] });
	}
});

test("what only looks like the beginning of an answer is typed after all", () => {
	vi.useFakeTimers();
	const { send, typed } = watch();
	send("\x1b]");
	send("x");
	send("\x1b]");
	expect(typed).toEqual(["\x1b]", "x"]);
	vi.runAllTimers();
	expect(typed).toEqual(["\x1b]", "x", "\x1b]"]);
	vi.useRealTimers();
});

test("a terminal that nobody asked holds nothing back", () => {
	const reports = new TerminalReports(
		() => {},
		() => {},
	);
	expect(reports.handleInput("\x1b]")).toBe(false);
});

test("it is asked again when the screen comes back, and told to be quiet when the screen goes", () => {
	const { reports, written } = watch();
	reports.stop();
	reports.start();
	expect(written).toEqual(["\x1b]11;?\x07\x1b[?2031h", "\x1b[?2031l", "\x1b]11;?\x07\x1b[?2031h"]);
});
