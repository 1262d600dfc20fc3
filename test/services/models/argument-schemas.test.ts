import { validateToolArguments } from "@mariozechner/pi-ai";
import { expect, test, vi } from "vitest";

// The validator passes the required tests of draft 2020-12 in the official suite except for these three reasons. The suite
// itself is in no package of npm.

type Argument = Parameters<typeof validateToolArguments>[1]["arguments"][string];

function accepts(it: object, value: Argument): boolean {
	const parameters = { type: "object", properties: { it }, required: ["it"] };
	const tool = { name: "t", description: "", parameters };
	try {
		validateToolArguments(tool as never, { type: "toolCall", id: "1", name: "t", arguments: { it: value } });
		return true;
	} catch {
		return false;
	}
}

test("arguments are checked by keywords of draft 2020-12", () => {
	const tuple = { type: "array", prefixItems: [{ type: "number" }], items: false };
	expect([accepts(tuple, [1]), accepts(tuple, [1, 2])]).toEqual([true, false]);
	const paired = {
		type: "object",
		dependentRequired: { a: ["b"] },
		unevaluatedProperties: false,
		properties: { a: {}, b: {} },
	};
	expect([accepts(paired, { a: 1, b: 1 }), accepts(paired, { a: 1 }), accepts(paired, { c: 1 })]).toEqual([
		true,
		false,
		false,
	]);
	const contains = { type: "array", contains: { const: "x" }, minContains: 2 };
	expect([accepts(contains, ["x", "x"]), accepts(contains, ["x"])]).toEqual([true, false]);
});

test("a reference to another document is not fetched, and no argument matches it", () => {
	const fetched = vi.spyOn(globalThis, "fetch");
	expect(accepts({ $ref: "http://127.0.0.1:9/integer.json" }, 1)).toBe(false);
	expect(fetched).not.toHaveBeenCalled();
	fetched.mockRestore();
});

test("a format is a rule, not only a remark", () => {
	const email = { type: "string", format: "email" };
	expect([accepts(email, "ada@example.com"), accepts(email, "ada")]).toEqual([true, false]);
});

test("a dialect without the vocabulary of rules does not turn the rules off", () => {
	const dialect = { $schema: "http://127.0.0.1:9/no-validation", type: "number", minimum: 10 };
	expect([accepts(dialect, 10), accepts(dialect, 1)]).toEqual([true, false]);
});
