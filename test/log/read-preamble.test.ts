import { describe, expect, test } from "vitest";
import { readPreamble } from "../../src/log/read-preamble.js";

const section = { id: "base", text: "You are pi." };
const tool = { name: "ls", description: "Lists.", parameters: { type: "object" } };
const rich = { ...tool, promptLine: "ls: lists", guidelines: ["Use it.", ""], hook: "/h.ts" };
const own = { parts: [section, tool, rich], core: [0, [4, 1]] };

describe("the record of a system prompt and its tools", () => {
	test.each<[object]>([
		[{ reply: 0 }],
		[{ reply: 7 }],
		[{ parts: [], core: [] }],
		[own],
		[{ ...own, sent: [] }],
		[{ ...own, sent: [[0, 0], 1], generated: { tools: 2, skills: null, base: [3, 4] } }],
		[{ ...own, generated: {} }],
	])("is read as it was written: %j", (written) => {
		expect(readPreamble(written)).toStrictEqual(written);
	});

	test("has only the fields that pi knows; a reply comes before its own parts", () => {
		expect(readPreamble({ ...own, more: 1 })).toStrictEqual(own);
		expect(readPreamble({ ...own, reply: 3 })).toStrictEqual({ reply: 3 });
		expect(readPreamble({ ...own, reply: -1 })).toStrictEqual(own);
	});

	test.each<[unknown]>([
		[null],
		[undefined],
		["x"],
		[[]],
		[{}],
		[{ reply: "0" }],
		[{ reply: -1 }],
		[{ reply: 0.5 }],
		[{ reply: 2 ** 53 }],
		[{ core: [] }],
		[{ parts: [] }],
		[{ ...own, parts: {} }],
		[{ ...own, core: 7 }],
		[{ ...own, sent: null }],
		[{ ...own, generated: null }],
		[{ ...own, generated: [] }],
	])("is invalid: %j", (value) => {
		expect(readPreamble(value)).toBeNull();
	});

	test.each<[unknown]>([
		[null],
		["base"],
		[[]],
		[{}],
		[{ id: "base" }],
		[{ id: "base", text: 7 }],
		[{ ...section, id: 7 }],
		[{ ...tool, name: 7 }],
		[{ ...tool, description: 7 }],
		[{ ...tool, parameters: [] }],
		[{ ...tool, parameters: undefined }],
		[{ ...rich, promptLine: 7 }],
		[{ ...rich, hook: 7 }],
		[{ ...rich, guidelines: "Use it." }],
		[{ ...rich, guidelines: ["Use it.", 7] }],
	])("is invalid with the section or tool %j", (part) => {
		expect(readPreamble({ parts: [section, part], core: [0] })).toBeNull();
	});

	test.each<[unknown]>([["0"], [-1], [0.5], [null], [[]], [[0]], [[0, 1, 2]], [[0, "1"]], [[-1, 0]], [{}]])(
		"is invalid with the reference %j",
		(reference) => {
			expect(readPreamble({ ...own, core: [0, reference] })).toBeNull();
			expect(readPreamble({ ...own, sent: [0, reference] })).toBeNull();
			if (reference !== null) expect(readPreamble({ ...own, generated: { base: 0, tools: reference } })).toBeNull();
		},
	);
});
