import { expect, test } from "vitest";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";

test("requests list the built-in tools in a fixed order; those that change nothing are marked read-only", () => {
	expect(BUILTIN_TOOLS.map((tool) => tool.name)).toEqual([
		...["read", "bash", "edit", "write", "grep", "find", "ls", "jobs"],
	]);
	expect(BUILTIN_TOOLS.filter((tool) => tool.readOnly).map((tool) => tool.name)).toEqual([
		"read",
		"grep",
		"find",
		"ls",
	]);
});

test.each(BUILTIN_TOOLS.map((tool) => [tool.name, tool] as const))(
	"%s has a prompt line, and all its parameters are described",
	(_name, tool) => {
		expect(tool.promptLine).toBeTruthy();
		expect(JSON.parse(JSON.stringify(tool.parameters))).toMatchObject({
			type: "object",
			properties: expect.any(Object),
		});
		expect(undescribed(tool.parameters)).toEqual([]);
	},
);

/** Names of parameters without a description. */
function undescribed(schema: object): string[] {
	if (!("properties" in schema) || typeof schema.properties !== "object" || schema.properties === null) return ["all"];
	const properties: [string, unknown][] = Object.entries(schema.properties);
	return properties.flatMap(([name, property]) => {
		const isDescribed = typeof property === "object" && property !== null && "description" in property;
		return isDescribed ? [] : [name];
	});
}
