import { BASE_THEMES } from "./built-in.js";
import { COLOR_NAMES, DEFAULT_COLOR, HEX_COLOR } from "./color.js";
import { ROLE_NAMES, STYLE_ATTRIBUTES, THEME_ROLES } from "./roles.js";

/** The JSON Schema of theme files for editors, published as schemas/theme.json. */
export function themeSchema(): object {
	return {
		$schema: "http://json-schema.org/draft-07/schema#",
		title: "pi theme",
		type: "object",
		additionalProperties: false,
		properties: {
			$schema: { type: "string" },
			name: { type: "string", minLength: 1, description: "Title in the picker, next to the file name" },
			base: {
				enum: BASE_THEMES,
				description: "Theme for roles that `colors` omits; default: light or dark, depending on the terminal",
			},
			colors: {
				type: "object",
				additionalProperties: false,
				properties: Object.fromEntries(ROLE_NAMES.map((role) => [role, roleSchema(role)])),
			},
		},
		definitions: {
			color: {
				anyOf: [
					{ type: "string", pattern: HEX_COLOR.source },
					{ type: "integer", minimum: 0, maximum: 255 },
					{ enum: [DEFAULT_COLOR, ...COLOR_NAMES] },
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
