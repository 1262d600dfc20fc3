import { describe, expect, test } from "vitest";
import { createJsonCheck, describeSchemaProblem } from "../../src/util/check-json.js";

const PRICES = {
	type: "object",
	properties: {
		items: {
			type: "array",
			items: {
				type: "object",
				properties: { price: { type: "number" } },
				required: ["price"],
				additionalProperties: false,
			},
		},
	},
	required: ["items"],
};

describe("the errors of a value", () => {
	test("name the values of an enumeration", async () => {
		const check = await createJsonCheck({ properties: { size: { enum: ["small", 2, null] } } });
		expect(check({ size: "huge" })).toEqual(['/size: must be one of "small", 2, null']);
	});

	test("name the constants that a value may equal", async () => {
		const check = await createJsonCheck({
			properties: { size: { const: "small" }, color: { anyOf: [{ const: "red" }, { const: 2 }] } },
		});
		expect(check({ size: "huge", color: "blue" })).toEqual([
			'/size: must be "small"',
			'/color: must be one of "red", 2',
			"/color: must match a schema in anyOf",
		]);
	});

	test.each([
		[{ items: [{ price: 1 }] }, []],
		[{ items: [{ price: "1" }] }, ["/items/0/price: must be number"]],
		[{ items: [{ price: null }] }, ["/items/0/price: must be number"]],
		[{ items: [{}, { price: 1, name: "a" }] }, ["/items/0/price: is missing", "/items/1/name: is not allowed"]],
		[{}, ["/items: is missing"]],
		["text", ["/: must be object"]],
		[undefined, ["/: must be object"]],
	])("of %j are named by path, without conversions", async (value, errors) => {
		expect((await createJsonCheck(PRICES))(value)).toEqual(errors);
	});

	test("false allows nothing", async () => {
		expect((await createJsonCheck({ not: {} }))(1)).not.toEqual([]);
		const closed = { type: "object", unevaluatedProperties: false };
		expect((await createJsonCheck(closed))({ a: 1 })).toEqual(["/: must not have unevaluated properties"]);
	});
});

describe("a schema", () => {
	test.each([
		[PRICES],
		[{}],
		[
			{
				$schema: "https://json-schema.org/draft/2020-12/schema",
				$ref: "#/$defs/a~1b",
				$defs: { "a/b": { type: "string" } },
			},
		],
		[{ type: "object", properties: { next: { $ref: "#" }, $ref: { type: "string" } } }],
		[{ $ref: "#here", $defs: { a: { $anchor: "here", type: "null" } } }],
		[{ prefixItems: [{ type: "number" }], items: false, enum: [{ $ref: "data" }] }],
	])("%j can be used", async (schema) => {
		expect(await describeSchemaProblem(schema)).toBeNull();
	});

	test.each([
		[[], "/: must be an object"],
		[null, "/: must be an object"],
		[true, "/: must be an object"],
		[{ properties: { a: { type: "strin" } } }, "/properties/a/type: "],
		[{ items: [{ type: "string" }] }, "/items: "],
		[{ required: "a" }, "/required: must be array"],
		[{ minLength: -1 }, "/minLength: must be >= 0"],
		[{ allOf: [] }, "/allOf: "],
		[{ properties: { a: { $ref: "#/$defs/lost" } } }, '$ref "#/$defs/lost": the schema contains no such part'],
		[{ $ref: "https://example.com/x.json" }, '$ref "https://example.com/x.json": the schema contains no such part'],
		[{ pattern: "(" }, "/: Invalid regular expression"],
	])("%j is refused: %s", async (schema, problem) => {
		expect(await describeSchemaProblem(schema)).toContain(problem);
	});
});
