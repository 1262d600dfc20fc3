import { expect, test, vi } from "vitest";
import { TerminalReports } from "../../src/tui/terminal-reports.js";

/** Reports of a terminal, the typed keys, and the output to the terminal. */
function watch() {
	const written: string[] = [];
	const typed: string[] = [];
	const heard: string[] = [];
	const reports = new TerminalReports(
		(data) => written.push(data),
		(key) => typed.push(key),
	);
	reports.watch((background) => heard.push(background));
	const send = (key: string) => {
		if (!reports.handleInput(key)) typed.push(key);
	};
	return { reports, written, typed, heard, send };
}

test.each([
	["\x1b]11;rgb:0000/0000/0000\x07", "dark"],
	["\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "light"],
	["\x1b]11;rgb:fd/f6/e3\x1b\\", "light"],
	["\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x07", "dark"],
	["\x1b]11;#fafafa\x07", "light"],
	["\x1b]11;rgb:8/8/8\x07", "dark"],
])("%j means a %s background and is not a key", (answer, background) => {
	const { send, heard, typed } = watch();
	send(answer);
	expect({ heard, typed }).toEqual({ heard: [background], typed: [] });
});

test("keys typed around an answer arrive unchanged and in order", () => {
	const { send, heard, typed } = watch();
	for (const key of ["a", "\x1b[A", "\x1b]11;rgb:00/00/00\x07", "\x1b", "b", "\x1b[200~paste\x1b[201~"]) send(key);
	expect({ heard, typed }).toEqual({ heard: ["dark"], typed: ["a", "\x1b[A", "\x1b", "b", "\x1b[200~paste\x1b[201~"] });
});

test("an answer that arrives in two pieces is recognized, wherever it is split", () => {
	const answer = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
	for (let cut = 2; cut < answer.length; cut += 1) {
		const { send, heard, typed } = watch();
		send(answer.slice(0, cut));
		// The rest of the piece that was passed on arrives character by character.
		for (const character of answer.slice(cut)) send(character);
		expect({ cut, heard, typed }).toEqual({ cut, heard: ["light"], typed: [] });
	}
});

test("input that only resembles the start of an answer is passed on", () => {
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

test("without a question nothing is held back", () => {
	const reports = new TerminalReports(
		() => {},
		() => {},
	);
	expect(reports.handleInput("\x1b]")).toBe(false);
});

test("the terminal is asked again when the screen starts, and reports are turned off when it stops", () => {
	const { reports, written } = watch();
	reports.stop();
	reports.start();
	expect(written).toEqual(["\x1b]11;?\x07\x1b[?2031h", "\x1b[?2031l", "\x1b]11;?\x07\x1b[?2031h"]);
});
