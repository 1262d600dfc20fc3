import { expect, test } from "vitest";
import { THINKING_LEVELS } from "../../src/log/entry.js";
import { builtInModels } from "../../src/models/built-in-models.js";
import { describeNearest, nearestThinkingLevel, thinkingLevels } from "../../src/models/thinking-levels.js";
import { clampThinkingLevel, getSupportedThinkingLevels } from "../../src/util/pi-ai.js";
import { model } from "../helpers/model.js";

test("the levels of every model of the list are those that pi-ai sends", () => {
	for (const listed of builtInModels().lists.all()) {
		expect(thinkingLevels(listed)).toEqual(getSupportedThinkingLevels(listed));
		for (const level of THINKING_LEVELS) {
			expect(nearestThinkingLevel(listed, level)).toBe(clampThinkingLevel(listed, level));
		}
	}
});

const thinker = model("lab", "a", { name: "A", reasoning: true });

test.each([
	["max", {}, "A has no thinking level max · using high"],
	["max", { thinkingLevelMap: { max: "max" } }, null],
	["off", { thinkingLevelMap: { off: null, minimal: null } }, "A always thinks · using low"],
	["medium", { thinkingLevelMap: { medium: null } }, "A has no thinking level medium · using high"],
	["high", { reasoning: false }, "A does not support thinking"],
	["off", { reasoning: false }, null],
] as const)("level %s of a model with %j: %s", (level, change, expected) => {
	expect(describeNearest({ ...thinker, ...change }, level)).toBe(expected);
});

test("without a model, every level can be chosen", () => {
	expect(thinkingLevels(null)).toEqual(THINKING_LEVELS);
	expect(describeNearest(null, "max")).toBeNull();
});
