import { expect, test } from "vitest";
import { builtInModels, correctList } from "../../src/models/built-in-models.js";
import { getSupportedThinkingLevels } from "../../src/util/pi-ai.js";
import { model } from "../helpers/model.js";

const levelsOf = (provider: string, id: string) => {
	const found = builtInModels().lists.find(provider, id);
	return found ? getSupportedThinkingLevels(found).join(" ") : null;
};

test.each([
	["azure-openai-responses", "o3", "low medium high"],
	["azure-openai-responses", "gpt-5.4", "low medium high xhigh"],
	["azure-openai-responses", "gpt-5-pro", "high"],
	["openai-codex", "gpt-5.3-codex-spark", "minimal low medium high xhigh"],
	["google", "gemini-2.5-pro", "minimal low medium high"],
	["google-vertex", "gemini-2.5-pro", "minimal low medium high"],
	["google-vertex", "gemini-2.5-flash-lite", "off low medium high"],
])("%s/%s has the levels that its provider documents", (provider, id, levels) => {
	expect(levelsOf(provider, id)).toBe(levels);
});

test("what a provider's own list says is kept", () => {
	const own = model("openai-codex", "a", { thinkingLevelMap: { off: "none", minimal: "low" } });
	const other = model("openai", "a", { thinkingLevelMap: { off: null, minimal: null, max: null } });
	expect(correctList("openai-codex", [own], () => [other])[0]?.thinkingLevelMap).toEqual({
		off: "none",
		minimal: "low",
		max: null,
	});
	expect(correctList("lab", [own], () => [other])).toEqual([own]);
});
