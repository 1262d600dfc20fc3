import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { TracedMessage } from "../../src/context/context-message.js";
import { hasImage, imagesOf, lastOmission, omittedImages, withoutOmitted } from "../../src/context/omitted-images.js";
import type { AppMessage, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, custom, result, session, user } from "../helpers/entries.js";

const timestamp = "2026-01-01T00:00:00.000Z";
const digestOf = (data: string) => createHash("sha256").update(data).digest("hex");
const image = (data: string, extra = {}) => ({ type: "image" as const, data, mimeType: "image/png", ...extra });
const text = (content: string) => ({ type: "text" as const, text: content });
const omission = (...datas: string[]): SessionEntry => ({
	type: "image_omission",
	timestamp,
	images: datas.map((data) => ({ digest: digestOf(data), entryIndex: 1 })),
	provider: "test",
	modelId: "m",
	reason: `too large: ${datas.join()}`,
});
const undo = (entryIndex: number): SessionEntry => ({ type: "context_undo", timestamp, entryIndex });
const placeholder = (...datas: string[]) =>
	`[An image was here. test refused it, so it is not sent: too large: ${datas.join()}]`;
const item = (message: AppMessage, entryIndex: number | null = 1): TracedMessage =>
	Object.freeze({ message: freezeDeep(message), entryIndex, origin: { kind: "entry" as const } });
const shown = (entryIndex: number, ...content: ReturnType<typeof image | typeof text>[]) =>
	item(user(content).message, entryIndex);

/** A log that finds entries by type, as the file of a session does. */
function indexed(entries: readonly SessionEntry[]) {
	return {
		length: entries.length,
		at: (index: number) => entries[index],
		lastOfTypes: (types: readonly string[], before: number) =>
			entries.slice(0, before).findLastIndex(({ type }) => types.includes(type)),
	};
}

test.each([
	["a list", (entries: readonly SessionEntry[]) => entries],
	["an index of types", indexed],
])("omissions are found with %s, unless an entry undid them", (_, source) => {
	const entries = session(user("u"), omission("a", "b"), custom("x"), omission("c"), omission("a"), undo(4), user("v"));
	const omitted = omittedImages(source(entries), 0);
	expect(Object.fromEntries(omitted)).toEqual({
		[digestOf("a")]: placeholder("a", "b"),
		[digestOf("b")]: placeholder("a", "b"),
	});
	expect(Object.fromEntries(omittedImages(source(entries), 3))).toEqual({ [digestOf("a")]: placeholder("a") });
	expect([2, 5, 6].map((from) => omittedImages(source(entries), from).size)).toEqual([2, 1, 0]);
	expect(lastOmission(source(entries))).toBe(5);
	expect(lastOmission(source(session(omission("a"), undo(1))))).toBe(-1);
	expect(lastOmission(source(session(user("u"))))).toBe(-1);
});

test("a log without omissions gives the same empty map each time", () => {
	const none = omittedImages(session(user("u")), 0);
	expect(none.size).toBe(0);
	expect(omittedImages(session(omission("a"), undo(1)), 0)).toBe(none);
});

test("the images of a context are listed with their messages and digests, in order", () => {
	const messages = [
		shown(1, text("see"), image("a"), image("b")),
		item(assistant("text").message, 2),
		item({ ...result("c1").message, content: [image("c")] } as AppMessage, 3),
		item(user("plain").message, 4),
		item({ role: "bashExecution", command: "ls", output: "" } as AppMessage, 5),
		item(user([image("a")]).message, null),
	];
	expect(imagesOf(messages).map(({ digest, position, entryIndex }) => [digest, position, entryIndex])).toEqual([
		[digestOf("a"), 0, 1],
		[digestOf("b"), 0, 1],
		[digestOf("c"), 2, 3],
		[digestOf("a"), 5, null],
	]);
	expect(messages.map(({ message }) => hasImage(message))).toEqual([true, false, true, false, false, true]);
	expect(imagesOf(messages)[0]?.image).toEqual(image("a"));
});

test("an image that may change is hashed again", () => {
	const mine = image("a");
	const messages: TracedMessage[] = [{ message: user([mine]).message, entryIndex: 1, origin: { kind: "entry" } }];
	expect(imagesOf(messages)[0]?.digest).toBe(digestOf("a"));
	mine.data = "b";
	expect(imagesOf(messages)[0]?.digest).toBe(digestOf("b"));
});

test("omitted images become text, which names the original, and other messages are the same objects", () => {
	const omitted = omittedImages(session(omission("a", "b")), 0);
	const original = { width: 1, height: 1, mimeType: "image/png", bytes: 1 };
	const both = shown(1, text("see"), image("a"), image("c"), image("b", { original: { ...original, path: "/tmp/b" } }));
	const tool = item({
		...result("c1").message,
		content: [image("a", { original: { ...original, path: null } })],
	} as AppMessage);
	const [plain, other] = [item(user("plain").message), shown(3, image("c"))];
	const messages = Object.freeze([both, tool, plain, other]);
	const without = withoutOmitted(messages, omitted);
	expect(without[0]).toEqual({
		...both,
		message: {
			...both.message,
			content: [
				text("see"),
				text(placeholder("a", "b")),
				image("c"),
				text(`${placeholder("a", "b").slice(0, -1)}; the original is /tmp/b]`),
			],
		},
		omittedImages: 2,
	});
	expect(without[1]).toEqual({
		...tool,
		message: { ...tool.message, content: [text(placeholder("a", "b"))] },
		omittedImages: 1,
	});
	expect([without[2], without[3]]).toEqual([plain, other]);
	expect(without[2]).toBe(plain);
	expect(without[3]).toBe(other);
	expect([Object.isFrozen(without), Object.isFrozen(without[0]), Object.isFrozen(without[0]?.message)]).toEqual([
		true,
		true,
		true,
	]);
	expect(both.message).toMatchObject({
		content: [{ type: "text" }, { type: "image" }, { type: "image" }, { type: "image" }],
	});
});

test("equal input gives the same items, and other omissions give others", () => {
	const omitted = omittedImages(session(omission("a")), 0);
	const messages = [shown(1, image("a"), image("b"))];
	const [first] = withoutOmitted(messages, omitted);
	const again = withoutOmitted(messages, omitted);
	expect(again[0]).toBe(first);
	expect(again).not.toBe(messages);
	const [all] = withoutOmitted(messages, omittedImages(session(omission("a", "b")), 0));
	expect(all).toMatchObject({ omittedImages: 2 });
});

test("a list without omitted images is returned as it is", () => {
	const messages = [shown(1, image("c")), item(user("plain").message)];
	expect(withoutOmitted(messages, omittedImages(session(omission("a")), 0))).toBe(messages);
	expect(withoutOmitted([shown(1, image("a"))], new Map())[0]).toMatchObject({ message: { content: [image("a")] } });
});
