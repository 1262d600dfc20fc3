import { expect, onTestFinished, test, vi } from "vitest";
import { TerminalWindow, type WindowOptions } from "../../src/tui/terminal-window.js";

/** A started window and its output since the last call. */
function startWindow(options: Partial<WindowOptions> = {}) {
	let written: string[] = [];
	const window = new TerminalWindow({
		write: (data) => written.push(data),
		title: true,
		progress: true,
		notification: "osc9",
		...options,
	});
	const read = () => {
		const all = written;
		written = [];
		return all;
	};
	window.start();
	onTestFinished(() => window.stop());
	return { window, read };
}

test("stop turns off everything that start turned on and restores the title", () => {
	const { window, read } = startWindow();
	window.title = "pi · shop";
	window.busy = true;
	expect(read()).toEqual(["\x1b[22;2t", "\x1b[?1004h", "\x1b]2;pi · shop\x07", "\x1b]9;4;3\x07"]);
	window.stop();
	expect(read()).toEqual(["\x1b]9;4;0\x07", "\x1b[?1004l", "\x1b[23;2t"]);
	window.stop();
	expect(read()).toEqual([]);
});

test("a restarted window shows title and progress again", () => {
	const { window, read } = startWindow();
	window.title = "pi · shop";
	window.busy = true;
	window.stop();
	read();
	window.start();
	expect(read()).toEqual(["\x1b[22;2t", "\x1b[?1004h", "\x1b]2;pi · shop\x07", "\x1b]9;4;3\x07"]);
});

test("features that are off are never written", () => {
	const { window, read } = startWindow({ title: false, progress: false, notification: null });
	window.title = "pi · shop";
	window.busy = true;
	window.handleInput("\x1b[O");
	window.notify("done");
	window.busy = false;
	window.stop();
	expect(read()).toEqual([]);
});

test("progress is repeated while the session is busy, and no timer remains afterwards", () => {
	vi.useFakeTimers();
	onTestFinished(() => void vi.useRealTimers());
	const { window, read } = startWindow({ title: false, notification: null });
	window.busy = true;
	window.busy = true;
	expect(read()).toEqual(["\x1b]9;4;3\x07"]);
	vi.advanceTimersByTime(10_000);
	expect(read()).toEqual(["\x1b]9;4;3\x07", "\x1b]9;4;3\x07"]);
	window.busy = false;
	expect(read()).toEqual(["\x1b]9;4;0\x07"]);
	expect(vi.getTimerCount()).toBe(0);
});

test("a title is written only when it changes, without control characters", () => {
	const { window, read } = startWindow({ notification: null });
	read();
	window.title = "a\x1b]0;evil\x07\n b";
	expect(read()).toEqual(["\x1b]2;a␛]0;evil^G b\x07"]);
	window.title = "a\x1b]0;evil\x07\n b";
	expect(read()).toEqual([]);
});

test.each([
	["osc9", "\x1b]9;pi · 4;3 done\x07"],
	["osc777", "\x1b]777;notify;pi;pi · 4,3 done\x07"],
	["bell", "\x07"],
] as const)("a user in another window is notified by %s, a user in this window is not", (notification, wanted) => {
	const { window, read } = startWindow({ title: false, notification });
	read();
	window.notify("4;3 done");
	expect(read()).toEqual([]);
	expect(window.handleInput("\x1b[O")).toBe(true);
	window.notify("4;3 done");
	expect(read()).toEqual([wanted]);
	expect(window.handleInput("\x1b[I")).toBe(true);
	window.notify("4;3 done");
	expect(read()).toEqual([]);
	expect(window.handleInput("I")).toBe(false);
});
