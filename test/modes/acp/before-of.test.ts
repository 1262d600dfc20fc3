import fc from "fast-check";
import { expect, test } from "vitest";
import { beforeOf, describeForClient, diffsOf, readBefore } from "../../../src/modes/acp/acp-tool-calls.js";
import { diffLines } from "../../../src/tools/line-diff.js";

const HOST = { name: "", cwd: process.cwd(), home: "/home/ada" };

const fileText = fc
	.array(fc.constantFrom("a", "b", "", "  c"), { minLength: 1, maxLength: 12 })
	.map((lines) => `${lines.join("\n")}\n`);

test("the text that a write replaced follows from its new text and its diff", async () => {
	await fc.assert(
		fc.asyncProperty(fileText, fileText, async (before, content) => {
			const details = { created: false, lines: 1, ...(await diffLines(before, content)) };
			expect(beforeOf({ name: "write", args: { content }, host: HOST }, details)).toEqual({
				text: before,
			});
		}),
	);
});

test.each<[string, object, unknown]>([
	["a new file", { created: true }, { text: null }],
	["an earlier version of pi", { created: false, lines: 1 }, "unknown"],
	["a diff that was cut", { created: false, diff: "+ 1 x", added: 5, removed: 0 }, "unknown"],
	["an empty file", { created: false, diff: "+ 1 x", added: 1, removed: 0 }, { text: "" }],
])("the text before a write is known for %s as far as its result tells", (_, details, before) => {
	expect(beforeOf({ name: "write", args: { content: "x\n" }, host: HOST }, details)).toEqual(before);
});

test("a call on another machine has no location and no diff: the client would open a file of this one", () => {
	const call = { name: "write", args: { path: "package.json", content: "{}" }, host: { ...HOST, name: "ssh build" } };
	expect(describeForClient(call)).toEqual({ title: "Write package.json", kind: "edit", locations: [] });
	expect(readBefore(call)).toBe("unknown");
	expect(diffsOf(call, { text: null })).toEqual([]);
});
