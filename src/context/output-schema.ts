import type { OutputSchemaEntry, ToolInfo } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import type { JsonSchema } from "../util/check-json.js";
import { isRecord } from "../util/is-record.js";
import type { ActiveOutputSchema } from "./context-message.js";
import { type CorePreamble, isSameTool, withTools } from "./preamble.js";

/** What an entry asks for; null if it ends what an earlier one asked for. */
export function activeSchema(entry: OutputSchemaEntry): ActiveOutputSchema | null {
	const { schema } = entry;
	return schema === null ? null : { ...entry, schema };
}

/** The only property of an answer that is wrapped in an object. */
const WRAPPER = "answer";

/** The form in which providers and tools get a schema: its root must be of the type `object`. */
export interface AnswerForm {
	schema: JsonSchema;
	/** True if `schema` describes an object that has the answer as its property `answer`. */
	isWrapped: boolean;
}

/** Keywords that only objects have: models read a root with one of them as an object. */
const OF_OBJECTS = ["properties", "required", "patternProperties", "additionalProperties"];

export function answerForm(schema: JsonSchema): AnswerForm {
	if (schema.type === "object") return { schema, isWrapped: false };
	if (schema.type === undefined && OF_OBJECTS.some((name) => schema[name] !== undefined)) {
		return { schema: { ...schema, type: "object" }, isWrapped: false };
	}
	const { $schema: _, $defs, definitions, ...rest } = schema;
	return {
		isWrapped: true,
		schema: {
			type: "object",
			properties: { [WRAPPER]: moved(rest) },
			required: [WRAPPER],
			additionalProperties: false,
			...(isRecord($defs) && { $defs: moved($defs) }),
			...(isRecord(definitions) && { definitions: moved(definitions) }),
		},
	};
}

/** A part of a schema whose references to the root lead to where the root is now. Definitions stay at the root. */
function moved(part: unknown): unknown {
	if (Array.isArray(part)) return part.map(moved);
	if (!isRecord(part)) return part;
	const entries = Object.entries(part).map(([key, value]) => {
		const isReference =
			key === "$ref" && typeof value === "string" && /^#(?!\/(?:\$defs|definitions)\/)(?:\/|$)/.test(value);
		return [key, isReference ? `#/properties/${WRAPPER}${value.slice(1)}` : moved(value)];
	});
	return Object.fromEntries(entries);
}

/** The answer in what a provider or a tool got; undefined if it has another form. */
export function unwrapAnswer(given: unknown, { isWrapped }: AnswerForm): unknown {
	if (!isWrapped) return given;
	return isRecord(given) && Object.keys(given).length === 1 ? given[WRAPPER] : undefined;
}

const tools = new WeakMap<JsonSchema, Map<string, ToolInfo>>();

/** The tool that the model calls to answer. The same object for the same schema and name. */
export function answerTool(schema: JsonSchema, name: string): ToolInfo {
	const known = tools.get(schema) ?? new Map<string, ToolInfo>();
	tools.set(schema, known);
	const tool =
		known.get(name) ??
		freezeDeep({
			name,
			description: "Give the final answer. Call it once, alone, when everything else is done: it ends the run.",
			parameters: answerForm(schema).schema as ToolInfo["parameters"],
			guidelines: [`Answer by calling ${name}: other text does not reach the user`],
		});
	known.set(name, tool);
	return tool;
}

const offering = new WeakMap<CorePreamble, { tool: ToolInfo; core: CorePreamble }>();

/** A core with the tool for answers, if the active schema needs one. The same object for the same input. */
export function withAnswerTool(core: CorePreamble, active: ActiveOutputSchema | null): CorePreamble {
	if (active?.tool === undefined) return core;
	const tool = answerTool(active.schema, active.tool);
	if (core.tools.some((known) => isSameTool(known, tool))) return core;
	const known = offering.get(core);
	if (known?.tool === tool) return known.core;
	// The text of a frozen request does not change, but the run could not end without the tool.
	const created = core.isFrozen ? { ...core, tools: Object.freeze([...core.tools, tool]) } : withTools(core, [tool]);
	offering.set(core, { tool, core: created });
	return created;
}
