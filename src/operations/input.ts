/** Parts of the schemas of RPC commands. JSON Schema, so that TypeBox is loaded only where input is checked. */
export const TEXT = { type: "string" } as const;
export const FLAG = { type: "boolean" } as const;
export const NO_INPUT = { type: "object", required: [], properties: {} } as const;

export const THINKING_LEVEL = {
	anyOf: [
		{ const: "off" },
		{ const: "minimal" },
		{ const: "low" },
		{ const: "medium" },
		{ const: "high" },
		{ const: "xhigh" },
		{ const: "max" },
	],
} as const;
