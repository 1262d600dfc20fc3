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
	["keys come as they are read", ["a", "bc\x1b[A"], ["a", "bc\x1b[A"]],
	["an arrow that is cut in two is one key", ["\x1b", "[A"], ["\x1b[A"]],
	["one that is cut behind its bracket too", ["x\x1b[1;", "3", "A"], ["x", "\x1b[1;3A"]],
	["Alt with a key is one key, though Escape is read first", ["\x1b", "b"], ["\x1bb"]],
	["a key of the Kitty protocol", ["\x1b[99", ";5:3", "u"], ["\x1b[99;5:3u"]],
	["a function key", ["\x1bO", "P"], ["\x1bOP"]],
	["a paste comes whole", ["\x1b[200~on", "e\x1b[20", "1~x"], ["\x1b[200~one\x1b[201~", "x"]],
	["its first mark may be cut", ["a\x1b[2", "00~b\x1b[201~"], ["a", "\x1b[200~b\x1b[201~"]],
	["what looks like a mark in it is text", ["\x1b[200~a\x1b", "[2K\x1b[201~"], ["\x1b[200~a\x1b[2K\x1b[201~"]],
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

test("a lone escape comes after a moment, the start of a sequence much later", async () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	await vi.advanceTimersByTimeAsync(29);
	expect(emitted).toEqual([]);
	await vi.advanceTimersByTimeAsync(2);
	expect(emitted).toEqual(["\x1b"]);
	gatherer.push("\x1b[");
	await vi.advanceTimersByTimeAsync(200);
	expect(emitted).toEqual(["\x1b"]);
	await vi.advanceTimersByTimeAsync(60);
	expect(emitted).toEqual(["\x1b", "\x1b["]);
});

test("Escape twice, read at once, is two keys", async () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b\x1b");
	await vi.advanceTimersByTimeAsync(31);
	expect(emitted).toEqual(["\x1b", "\x1b"]);
	gatherer.push("\x1b");
	gatherer.push("\x1b[A");
	expect(emitted.slice(2)).toEqual(["\x1b\x1b[A"]);
});

test("a program that was busy reads what has come before it takes an escape for a key of its own", () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	vi.advanceTimersToNextTimer();
	// The time is up; what the terminal has sent meanwhile is read in the same turn of the event loop.
	gatherer.push("[A");
	vi.runAllTimers();
	expect(emitted).toEqual(["\x1b[A"]);
});

test.each([
	["escape", "\x1b"],
	["ctrl+c", "\x03"],
	["escape of the Kitty protocol", "\x1b[27u"],
	["ctrl+c of the Kitty protocol", "\x1b[99;5u"],
	["ctrl+c of xterm", "\x1b[27;5;99~"],
])("a paste whose end never comes is ended by %s once it has gone quiet, and keys are keys again", (_, key) => {
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

test("in a paste that goes on an escape is text", () => {
	const { emitted, gatherer } = start();
	for (const piece of ["\x1b[200~a", "\x1b", "\x03", "b\x1b[201~"]) {
		gatherer.push(piece);
		vi.advanceTimersByTime(400);
	}
	expect(emitted).toEqual(["\x1b[200~a\x1b\x03b\x1b[201~"]);
});

test("a paste of ten million characters in pieces of a thousand costs its length, not its square", () => {
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

test("nothing comes after it is stopped", () => {
	const { emitted, gatherer } = start();
	gatherer.push("\x1b");
	gatherer.stop();
	vi.runAllTimers();
	expect(emitted).toEqual([]);
});
