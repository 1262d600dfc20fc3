import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
	hasSameItems,
	isSameSection,
	isSameTool,
	NO_PREAMBLE,
	plainPreamble,
	sectionTokens,
	toolTokens,
	withoutToolsOf,
} from "../../src/context/preamble.js";
import { core, tool } from "./preamble-support.js";

describe("a core without the tools of some hooks", () => {
	const own = core(["read"]);
	const all = {
		...own,
		sections: [...own.sections, { id: "own", text: "kept" }],
		tools: [...own.tools, { ...tool("fly"), hook: "/a.ts" }, { ...tool("swim"), hook: "/b.ts" }],
		generate: (tools: readonly { name: string }[]) => ({ tools: tools.map(({ name }) => name).join(" "), skills: "" }),
	};

	test("has the other tools, and the sections generated for them", () => {
		const without = withoutToolsOf(all, new Set(["/a.ts"]));
		expect(without.tools.map(({ name }) => name)).toEqual(["read", "swim"]);
		expect(without.sections).toEqual(
			all.sections
				.filter(({ id }) => id !== "skills")
				.map((section) => (section.id === "tools" ? { id: "tools", text: "read swim" } : section)),
		);
		expect(without.generate).toBe(all.generate);
		expect([without.sections, without.tools, ...without.sections].every(Object.isFrozen)).toBe(true);
	});

	test("is the same object if they have none, or if it is frozen", () => {
		expect(withoutToolsOf(all, new Set(["/c.ts"]))).toBe(all);
		expect(withoutToolsOf(all, new Set())).toBe(all);
		const frozen = { ...all, isFrozen: true };
		expect(withoutToolsOf(frozen, new Set(["/a.ts"]))).toBe(frozen);
	});
});

test("a preamble has the text, tokens and digests of what is sent", () => {
	const plain = plainPreamble(core());
	const { sections, tools } = core();
	const digest = (text: string) => createHash("sha256").update(text).digest("hex");
	expect(plain.systemPrompt).toBe(sections.map(({ text }) => text).join("\n\n"));
	expect(plain.systemDigest).toBe(digest(plain.systemPrompt));
	expect(plain.toolsDigest).toBe(digest(JSON.stringify(tools)));
	expect([plain.systemDigest, plain.toolsDigest]).toEqual([plain.systemDigest, plain.toolsDigest]);
	const parts = [...sections.map(sectionTokens), ...tools.map(toolTokens)];
	expect(plain.tokens).toBe(parts.reduce((total, tokens) => total + tokens, 0));
	expect([plain.isChanged, plain.hiddenTools, plain.hiddenSections, plain.toolsBy, plain.generated]).toEqual([
		...[false, [], [], null, null],
	]);
	expect(plain.sections.map(({ origin }) => origin)).toEqual(sections.map(() => ({ kind: "core" })));
	const frozen = plainPreamble({ ...core(), isFrozen: true });
	expect(frozen.sections.map(({ origin }) => origin)).toEqual(sections.map(() => ({ kind: "freeze" })));
	// The hook of a tool is not sent.
	const hooked = plainPreamble({ ...core(), tools: tools.map((one) => ({ ...one, hook: "/h.ts" })) });
	expect(hooked.toolsDigest).toBe(plain.toolsDigest);
	expect([NO_PREAMBLE.generate([]), plainPreamble(NO_PREAMBLE).systemPrompt]).toEqual([{}, ""]);
});

test("a tool that may change is estimated again", () => {
	const mine = { ...tool("read") };
	const before = toolTokens(mine);
	mine.description = "x".repeat(400);
	expect(toolTokens(mine)).toBeGreaterThan(before + 50);
});

test("sections and tools are equal if they are sent alike", () => {
	const [a, b] = [
		{ id: "a", text: "t" },
		{ id: "b", text: "t" },
	];
	expect([isSameSection(a, a), isSameSection(a, { ...a }), isSameSection(a, b)]).toEqual([true, true, false]);
	expect([isSameSection(a, { id: "a", text: "u" }), isSameSection(a, undefined), isSameSection(undefined, a)]).toEqual([
		...[false, false, false],
	]);
	expect(isSameSection(undefined, undefined)).toBe(false);
	const read = tool("read");
	expect([
		isSameTool(read, read),
		isSameTool(read, { ...read, hook: "/h.ts" }),
		isSameTool(read, tool("bash")),
	]).toEqual([...[true, true, false]]);
	expect([isSameTool(read, undefined), isSameTool(undefined, read), isSameTool(undefined, undefined)]).toEqual([
		...[false, false, false],
	]);
	const cyclic = { ...read, parameters: {} as Record<string, unknown> };
	cyclic.parameters.self = cyclic.parameters;
	expect(isSameTool(cyclic, cyclic)).toBe(true); // the same object is not compared
});

test("lists with the same objects are equal", () => {
	const [a, b] = [{}, {}];
	expect([
		hasSameItems([a, b], [a, b]),
		hasSameItems([a], [a, b]),
		hasSameItems([a, b], [a]),
		hasSameItems([a], [b]),
	]).toEqual([...[true, false, false, false]]);
});
