import { expect, test } from "vitest";
import { shortenItem, shortenOutput } from "../../src/context/shorten.js";
import type { AppMessage } from "../../src/log/entry.js";
import { assistantMessage, bashExecution as bash, output, text, user } from "../helpers/entries.js";

const image = { type: "image" as const, data: "aa", mimeType: "image/png" };

const note = (characters: number) => `\n[… ${characters} characters left out to save room …]\n`;

test.each<[string, AppMessage, number, string]>([
	["a long result", output("abcdefghij"), 4, `ab${note(6)}ij`],
	["an odd limit", output("abcdefghij"), 5, `ab${note(6)}ij`],
	["no room", output("abc"), 1, note(3)],
	["a negative limit", output("abc"), -5, note(3)],
	["half a character", output("😀😀😀"), 2, `\ufffd${note(4)}\ufffd`],
	["an image", output("abc", image), 9, "abc\n(an image left out to save room)"],
	["two images", output("", image, image), 9, "\n(2 images left out to save room)"],
])("a shortened output with %s", (_, message, characters, expected) => {
	expect(shortenOutput(message, characters)).toEqual({ ...message, content: [text(expected)] });
});

test("a shortened command keeps all but the middle of its output; short outputs and other messages are unchanged", () => {
	expect(shortenOutput({ ...bash, output: "abcdefghij" }, 4)).toEqual({ ...bash, output: `ab${note(6)}ij` });
	for (const message of [bash, output("abcd"), user("abcdefghij").message, assistantMessage("abcdefghij")]) {
		expect(shortenOutput(message, 4)).toBe(message);
	}
});

test("a shortened item is the same object for the same compaction and limit", () => {
	const item = { message: output("abcdefghij"), entryIndex: 3, origin: { kind: "entry" } as const };
	const short = shortenItem(item, 4, 7);
	expect(short).toEqual({
		...{ message: shortenOutput(item.message, 4), entryIndex: 3, origin: { kind: "shortened", entryIndex: 7 } },
	});
	expect([short, short.message, short.origin].every(Object.isFrozen)).toBe(true);
	expect(shortenItem(item, 4, 7)).toBe(short);
	expect(shortenItem(item, 6, 7)).not.toBe(short);
	expect(shortenItem(item, 6, 8).origin).toEqual({ kind: "shortened", entryIndex: 8 });
	expect(shortenItem(item, 99, 8)).toBe(item);
});
