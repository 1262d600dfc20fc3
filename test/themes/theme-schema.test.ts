import fc from "fast-check";
import Schema from "typebox/schema";
import { expect, test } from "vitest";
import { checkTheme } from "../../src/themes/theme-file.js";
import { themeSchema } from "../../src/themes/theme-schema.js";

const value = fc.oneof(
	fc.constantFrom("red", "brightBlue", "default", "#a0B1c2", "#abc", "puce", 7, 255, 256, -1, 1.5, true, null),
	fc.constantFrom(
		{},
		{ color: "red" },
		{ background: 22, bold: true },
		{ bold: 1 },
		{ blink: true },
		{ color: "x" },
		[],
	),
);
const theme = fc.record(
	{
		$schema: fc.constantFrom("./x.json", 1),
		name: fc.constantFrom("Dusk", "", 3),
		base: fc.constantFrom("dark", "light", "high-contrast", "plain", "neon", 1),
		colors: fc.oneof(
			fc.dictionary(fc.constantFrom("accent", "dim", "codeType", "acent"), value),
			fc.constantFrom([], 1),
		),
		extra: fc.constant(1),
	},
	{ requiredKeys: [] },
);

test("the schema rejects exactly the files in which pi reports problems", () => {
	const schema = themeSchema();
	fc.assert(
		fc.property(theme, (file) => {
			const { problems } = checkTheme(file);
			expect({ file, isAccepted: Schema.Check(schema, file), problems }).toMatchObject({
				isAccepted: problems.length === 0,
			});
		}),
		{ numRuns: 500 },
	);
});
