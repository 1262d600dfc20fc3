import type { ContentBlock } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { readPrompt } from "../../../src/modes/acp/prompt-content.js";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const link = (uri: string): ContentBlock => ({ type: "resource_link", name: "x", uri });

test.each<[string, ContentBlock[]]>([
	["one\n\ntwo", [text("one"), text("two")]],
	["one\ntwo", [text("one\n"), text("two")]],
	["see @a.ts and go", [text("see "), link("file:///p/a.ts"), text(" and go")]],
	["see @a.ts#L3:9 now", [text("see"), link("file:///p/a.ts#L3:9"), text("now")]],
	["@my file.ts @/other/b.ts", [link("file:///p/my%20file.ts"), link("file:///other/b.ts")]],
	["https://example.com/a file://server/b", [link("https://example.com/a"), link("file://server/b")]],
])("the text of a prompt is %j", (expected, blocks) => {
	expect(readPrompt(blocks, { cwd: "/p", elsewhere: null }).text).toBe(expected);
});

test("embedded resources become attachments, pictures among them images", () => {
	const blob = Buffer.from("bytes").toString("base64");
	const prompt = readPrompt(
		[
			{ type: "resource", resource: { uri: "file:///p/a.ts", text: "ä", mimeType: "text/typescript" } },
			{ type: "resource", resource: { uri: "file:///p/a.zip", blob } },
			{ type: "resource", resource: { uri: "file:///p/a.png", blob, mimeType: "image/png" } },
			{ type: "image", data: blob, mimeType: "image/gif" },
		],
		{ cwd: "/p", elsewhere: null },
	);
	expect(prompt).toEqual({
		text: "@a.ts @a.zip",
		images: [
			{ type: "image", data: blob, mimeType: "image/png" },
			{ type: "image", data: blob, mimeType: "image/gif" },
		],
		attachments: [
			{
				...{ id: "resource-1", type: "document", fileName: "a.ts", mimeType: "text/typescript", size: 2 },
				...{ content: Buffer.from("ä").toString("base64"), extractedText: "ä" },
			},
			{
				...{ id: "resource-2", type: "document", fileName: "a.zip", mimeType: "application/octet-stream", size: 5 },
				content: blob,
			},
		],
	});
});

test("a link to a file that the tools cannot reach is refused by name; embedded content is not", () => {
	const place = { cwd: "/p", elsewhere: "ssh build-01" };
	const link: ContentBlock = { type: "resource_link", uri: "file:///p/a.ts", name: "a.ts" };
	expect(() => readPrompt([link], place)).toThrow("/p/a.ts is a file of this machine, and tools work on ssh build-01");
	const resource = { uri: "file:///p/a.ts", text: "1" };
	expect(readPrompt([{ type: "resource", resource }], place).attachments).toMatchObject([{ extractedText: "1" }]);
	expect(readPrompt([{ ...link, uri: "https://example.com/a" }], place).text).toBe("https://example.com/a");
});
