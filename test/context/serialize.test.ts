import { expect, test } from "vitest";
import { serializeConversation, serializeMessages } from "../../src/context/serialize.js";
import type { AppMessage } from "../../src/log/entry.js";
import { assistantMessage, bashExecution as bash, output, text, user } from "../helpers/entries.js";

const image = { type: "image" as const, data: "aa", mimeType: "image/png" };

test.each<[string, AppMessage, string[]]>([
	["a prompt", user("hi").message, ["[User]\nhi"]],
	["a prompt with an image", user([text("see"), image]).message, ["[User]\nsee\n(an image)"]],
	["a prompt with two images", user([image, image]).message, ["[User]\n\n(2 images)"]],
	["a prompt without images", user([text("see")]).message, ["[User]\nsee"]],
	["a command", bash, ["[User]\nRan `ls`\n```\na\n```"]],
	["a command that is not sent", { ...bash, excludeFromContext: true }, []],
	["a result", output("out"), ["[Result of read]\nout"]],
	[
		"a failure with an image",
		{ ...output("out", image), isError: true } as AppMessage,
		["[Failed of read]\nout\n(an image)"],
	],
	["a reply", assistantMessage("yes"), ["[Assistant]\nyes"]],
	[
		"a reply with calls",
		assistantMessage("look", [{ id: "a", name: "ls", arguments: { p: 1 } }, { id: "b" }]),
		['[Assistant]\nlook\n(calls ls {"p":1})\n(calls read {})'],
	],
	["a reply without text", { ...assistantMessage(""), content: [{ type: "thinking", thinking: "hm" }, text(" ")] }, []],
])("%s becomes text", (_, message, expected) => {
	expect(serializeMessages([message])).toEqual(expected);
});

test("a conversation has a blank line between its messages", () => {
	expect(serializeConversation([user("a").message, assistantMessage(""), assistantMessage("b")])).toBe(
		"[User]\na\n\n[Assistant]\nb",
	);
});

test("long results, commands and arguments keep their start and end", () => {
	const long = `${"a".repeat(1000)}${"z".repeat(1001)}`;
	const cut = `${"a".repeat(1000)}\n… 1 characters omitted …\n${"z".repeat(1000)}`;
	expect(serializeMessages([output(long), output(long.slice(1))])).toEqual([
		...[`[Result of read]\n${cut}`, `[Result of read]\n${long.slice(1)}`],
	]);
	expect(serializeMessages([output("abcdefgh")], { maxResultChars: 5 })).toEqual([
		"[Result of read]\nab\n… 4 characters omitted …\ngh",
	]);
	expect(serializeMessages([{ ...bash, output: "x".repeat(99) }], { maxResultChars: 4 })[0]).toMatch(
		/^\[User\]\nRa\n… \d+ characters omitted …\n``$/,
	);
	expect(serializeMessages([output("😀😀😀")], { maxResultChars: 2 })[0]).toBe(
		"[Result of read]\n\ufffd\n… 4 characters omitted …\n\ufffd",
	);
	const call = assistantMessage("", [{ id: "a", name: "w", arguments: { text: "x".repeat(2000) } }]);
	expect(serializeMessages([call], { maxResultChars: 5 })[0]).toContain("… 1011 characters omitted …");
	expect(serializeMessages([user(long).message])).toEqual([`[User]\n${long}`]);
});
