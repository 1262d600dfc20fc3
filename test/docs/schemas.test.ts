import fc from "fast-check";
import Schema from "typebox/schema";
import { expect, test } from "vitest";
import { editorSchema, readBySchema, type SchemaProblem } from "../../src/config/json-schema.js";
import { SETTINGS_SCHEMA } from "../../src/config/settings-schema.js";
import { MCP_SCHEMA } from "../../src/mcp/config.js";
import { MODELS_SCHEMA } from "../../src/models/models-file.js";
import { eventsSchema } from "../../src/modes/event-schema.js";
import { keybindingsSchema } from "../../src/tui/key-bindings.js";
import { KEY_ACTIONS } from "../../src/tui/key-table.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";

const SCHEMAS = {
	settings: editorSchema("pi settings", SETTINGS_SCHEMA),
	models: editorSchema("pi models", MODELS_SCHEMA),
	mcp: editorSchema("pi MCP servers", MCP_SCHEMA),
	keybindings: editorSchema("pi key bindings", keybindingsSchema(KEY_ACTIONS)),
	events: eventsSchema(),
};

test.each(Object.entries(SCHEMAS))(
	"schemas/%s.json matches the schema in the source (npm run schemas updates it)",
	async (name, schema) => {
		await expect(`${JSON.stringify(schema, null, "\t")}\n`).toMatchFileSnapshot(`../../schemas/${name}.json`);
	},
);

const anything = fc.oneof(
	fc.boolean(),
	fc.integer(),
	fc.constantFrom("", "x", "high", null, "http://a.b", "fttp://a"),
	fc.double(),
);
const value = fc.oneof(
	anything,
	fc.array(anything, { maxLength: 3 }),
	fc.dictionary(fc.constantFrom("a", "b"), anything),
);

/** Objects with the keys of a schema and some unknown keys, at every depth. */
function filesOf(schema: unknown): fc.Arbitrary<unknown> {
	const { properties, items, additionalProperties, default: fallback } = Object(schema);
	if (properties) {
		const members = Object.entries(properties).map(([name, member]) => [
			name,
			fc.oneof(value, filesOf(member), filesOf(member)),
		]);
		return fc.record({ ...Object.fromEntries(members), other: anything }, { requiredKeys: [] });
	}
	if (items) return fc.array(filesOf(items), { maxLength: 3 });
	if (additionalProperties) return fc.dictionary(fc.constantFrom("a", "b"), filesOf(additionalProperties));
	return fc.oneof(anything, fc.constant(fallback ?? "x"));
}

test.each([
	["settings", SETTINGS_SCHEMA],
	["models", MODELS_SCHEMA],
	["mcp", MCP_SCHEMA],
])(
	"an editor that knows the schema marks a %s file exactly if pi reports a problem",
	(name, schema) => {
		const editor = Schema.Compile(Object(editorSchema(name, schema)));
		fc.assert(
			fc.property(filesOf(schema), (file) => {
				const problems: SchemaProblem[] = [];
				readBySchema(schema, file, (problem) => problems.push(problem));
				expect({ file, isMarked: !editor.Check(file) }).toEqual({ file, isMarked: problems.length > 0 });
			}),
			propertyRuns(500),
		);
	},
	PROPERTY_TIMEOUT_MS,
);

test("the schema of key bindings allows exactly the keys that pi accepts", () => {
	const accepts = (bindings: object) =>
		createKeymap(bindings).problems.every((problem) => !/unknown (?:key|action)/.test(problem));
	const schema = Object(SCHEMAS.keybindings);
	for (const key of [
		"ctrl+e",
		"Alt+Up",
		"f5",
		"shift+ctrl+z",
		"+",
		"ctrl++",
		"esc",
		"hyper+x",
		"f13",
		"",
		"ctrl+",
		"enterr",
		5,
	]) {
		for (const bindings of [{ "app.model": key }, { "app.model": [key] }, { "app.modle": key }]) {
			expect({ bindings, isAllowed: Schema.Check(schema, bindings) }).toEqual({
				bindings,
				isAllowed: accepts(bindings),
			});
		}
	}
	createKeymap();
});
