import { StdinBuffer } from "@mariozechner/pi-tui";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { InputGatherer } from "../../src/tui/input-gatherer.js";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

function start() {
	const emitted: string[] = [];
	return { emitted, gatherer: new InputGatherer((data) => emitted.push(data)) };
}

test.each<[string, string[], string[]]>([
	["keys are passed on as they are read", ["a", "bc\x1b[A"], ["a", "bc\x1b[A"]],
	["a split arrow key is one key", ["\x1b", "[A"], ["\x1b[A"]],
	["an arrow key split after its bracket is one key", ["x\x1b[1;", "3", "A"], ["x", "\x1b[1;3A"]],
	["Alt with a key is one key, though Escape is read first", ["\x1b", "b"], ["\x1bb"]],
	["a key of the Kitty protocol", ["\x1b[99", ";5:3", "u"], ["\x1b[99;5:3u"]],
	["a function key", ["\x1bO", "P"], ["\x1bOP"]],
	["Escape before an answer of the terminal is a key", ["\x1b", "\x1b[0n"], ["\x1b[27u\x1b[0n"]],
	["Escape before an answer that is split is a key", ["\x1b\x1b[2", ";1R"], ["\x1b[27u\x1b[2;1R"]],
	["Escape before the report of a color is a key", ["\x1b\x1b]11;rgb:0/0/0\x07"], ["\x1b[27u\x1b]11;rgb:0/0/0\x07"]],
	["Escape before a paste is a key", ["\x1b", "\x1b[200~a\x1b[201~"], ["\x1b[27u", "\x1b[200~a\x1b[201~"]],
	["a paste arrives in one piece", ["\x1b[200~on", "e\x1b[20", "1~x"], ["\x1b[200~one\x1b[201~", "x"]],
	["the start sequence of a paste may be split", ["a\x1b[2", "00~b\x1b[201~"], ["a", "\x1b[200~b\x1b[201~"]],
	["a similar sequence inside a paste is text", ["\x1b[200~a\x1b", "[2K\x1b[201~"], ["\x1b[200~a\x1b[2K\x1b[201~"]],
	[
		"two pastes in one read",
		["\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~"],
		["\x1b[200~a\x1b[201~", "\x1b[200~b\x1b[201~"],
	],
])("%s", (_, chunks, expected) => {
	const { emitted, gatherer } = start();
	for (const chunk of chunks) gatherer.push(chunk);
	expect(emitted).toEqual(expected);
});

test("a lone escape is passed on after a short delay, the start of a sequence after a long one", async () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	await vi.advanceTimersByTimeAsync(29);
	expect(emitted).toEqual([]);
	await vi.advanceTimersByTimeAsync(2);
	expect(emitted).toEqual(["\x1b[27u"]);
	gatherer.push("\x1b[");
	await vi.advanceTimersByTimeAsync(200);
	expect(emitted).toEqual(["\x1b[27u"]);
	await vi.advanceTimersByTimeAsync(60);
	expect(emitted).toEqual(["\x1b[27u", "\x1b["]);
});

test("two escapes in one read are two keys", async () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b\x1b");
	await vi.advanceTimersByTimeAsync(31);
	expect(emitted).toEqual(["\x1b[27u", "\x1b[27u"]);
	gatherer.push("\x1b");
	gatherer.push("\x1b[A");
	expect(emitted.slice(2)).toEqual(["\x1b\x1b[A"]);
});

test("a program that was busy reads pending input before it treats an escape as a key", () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	vi.advanceTimersToNextTimer();
	// The timeout has passed; pending input is read in the same turn of the event loop.
	gatherer.push("[A");
	vi.runAllTimers();
	expect(emitted).toEqual(["\x1b[A"]);
});

test("a character that a busy program reads late after an escape was not pressed with Alt", () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	vi.advanceTimersToNextTimer();
	gatherer.push("\x04");
	vi.runAllTimers();
	expect(emitted).toEqual(["\x1b[27u", "\x04"]);
});

test.each([
	["escape", "\x1b"],
	["ctrl+c", "\x03"],
	["escape of the Kitty protocol", "\x1b[27u"],
	["ctrl+c of the Kitty protocol", "\x1b[99;5u"],
	["ctrl+c of xterm", "\x1b[27;5;99~"],
])("%s ends a paste without an end sequence after a pause, and later keys are keys again", (_, key) => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b[200~one\n");
	gatherer.push("two\x1b[20");
	vi.advanceTimersByTime(60_000);
	gatherer.push("typed\r");
	expect(emitted).toEqual([]);
	vi.advanceTimersByTime(501);
	gatherer.push(key);
	gatherer.push("x\r");
	expect(emitted).toEqual(["\x1b[200~one\ntwo\x1b[20typed\r\x1b[201~", "x\r"]);
});

test("an escape inside an ongoing paste is text", () => {
	const { emitted, gatherer } = start();
	for (const piece of ["\x1b[200~a", "\x1b", "\x03", "b\x1b[201~"]) {
		gatherer.push(piece);
		vi.advanceTimersByTime(400);
	}
	expect(emitted).toEqual(["\x1b[200~a\x1b\x03b\x1b[201~"]);
});

test("a paste of ten million characters in chunks of a thousand takes linear time", () => {
	const { emitted, gatherer } = start();
	const searched = vi.spyOn(String.prototype, "indexOf");
	const piece = "x".repeat(1000);
	gatherer.push("\x1b[200~");
	for (let count = 0; count < 10_000; count++) gatherer.push(piece);
	gatherer.push("\x1b[201~");
	const looked = searched.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
	searched.mockRestore();
	expect(emitted.map(({ length }) => length)).toEqual([10_000_012]);
	expect(looked).toBeLessThan(25_000_000);
});

test("nothing is emitted after stop", () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	gatherer.stop();
	vi.runAllTimers();
	expect(emitted).toEqual([]);
});

test("Escape is a key of its own for the library, even if a report follows before it stops waiting", async () => {
	const keys: string[] = [];
	const library = new StdinBuffer();
	library.on("data", (key: string) => keys.push(key));
	const gatherer = new InputGatherer((data) => library.process(data));
	gatherer.push("\x1b");
	await vi.advanceTimersByTimeAsync(31);
	gatherer.push("\x1b[0n");
	await vi.advanceTimersByTimeAsync(500);
	expect(keys).toEqual(["\x1b[27u", "\x1b[0n"]);
});
