import { BASE_THEMES } from "./built-in.js";
import { COLOUR_NAMES, DEFAULT_COLOUR, HEX_COLOUR } from "./colour.js";
import { ROLE_NAMES, STYLE_ATTRIBUTES, THEME_ROLES } from "./roles.js";

/** What a theme file may hold, as JSON Schema for editors: docs/theme.schema.json is this. */
export function themeSchema(): object {
	return {
		$schema: "http://json-schema.org/draft-07/schema#",
		title: "pi theme",
		type: "object",
		additionalProperties: false,
		properties: {
			$schema: { type: "string" },
			name: { type: "string", minLength: 1, description: "What the picker shows beside the file's name" },
			base: { enum: BASE_THEMES, description: "What counts where `colors` is silent; absent: as the terminal is" },
			colors: {
				type: "object",
				additionalProperties: false,
				properties: Object.fromEntries(ROLE_NAMES.map((role) => [role, roleSchema(role)])),
			},
		},
		definitions: {
			color: {
				anyOf: [
					{ type: "string", pattern: HEX_COLOUR.source },
					{ type: "integer", minimum: 0, maximum: 255 },
					{ enum: [DEFAULT_COLOUR, ...COLOUR_NAMES] },
				],
			},
			style: {
				anyOf: [
					{ $ref: "#/definitions/color" },
					{
						type: "object",
						additionalProperties: false,
						properties: {
							color: { $ref: "#/definitions/color" },
							background: { $ref: "#/definitions/color" },
							...Object.fromEntries(STYLE_ATTRIBUTES.map((attribute) => [attribute, { type: "boolean" }])),
						},
					},
				],
			},
		},
	};
}

function roleSchema(role: keyof typeof THEME_ROLES): object {
	return { description: THEME_ROLES[role], allOf: [{ $ref: "#/definitions/style" }] };
}
