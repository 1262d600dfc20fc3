import { describe, expect, test } from "vitest";
import { describeProblem } from "../../src/context/describe-problem.js";
import { addProviderFields, asksTheSame, withFields } from "../../src/context/provider-fields.js";

describe("what hooks ask of a provider", () => {
	test("adds up: the later field counts, and lists of beta features are joined", () => {
		const first = addProviderFields(null, { a: { x: 1, betas: ["one"] }, b: { y: 1 } });
		const both = addProviderFields("fields" in first ? first.fields : null, { a: { x: 2, betas: ["two", "one"] } });
		expect(both).toEqual({ fields: { a: { x: 2, betas: ["one", "two"] }, b: { y: 1 } } });
		expect("fields" in both && Object.isFrozen(both.fields.a?.betas)).toBe(true);
	});

	test("joins the beta features that the client sends", () => {
		expect(withFields({ model: "m", betas: ["client"] }, { betas: ["hook"], speed: "fast" })).toEqual({
			...{ model: "m", betas: ["client", "hook"], speed: "fast" },
		});
	});

	test.each([
		["text", "provider is not an object with an object of fields for each wire format"],
		[{ a: 1 }, "provider is not an object with an object of fields for each wire format"],
		[{ a: { messages: [] } }, "provider must not have the field messages, which pi writes"],
		[{ a: JSON.parse('{"__proto__":{"x":1}}') }, "provider must not have the field __proto__, which pi writes"],
		[{ a: { stream_options: {} } }, "provider must not have the field stream_options, which pi writes"],
		[{ a: { stream: false } }, "provider must not have the field stream, which pi writes"],
		[{ a: { x: "y".repeat(10_000) } }, "provider has more than 10,000 characters of JSON"],
	])("%j is refused", (answer, sentence) => {
		const fault = addProviderFields(null, answer);
		expect("rule" in fault && describeProblem(fault)).toBe(sentence);
	});

	test("is compared by content; nothing is the same as an absent record", () => {
		expect(asksTheSame(null, undefined)).toBe(true);
		expect(asksTheSame({ a: { x: [1] } }, { a: { x: [1] } })).toBe(true);
		expect(asksTheSame({ a: { x: [1] } }, null)).toBe(false);
	});
});
