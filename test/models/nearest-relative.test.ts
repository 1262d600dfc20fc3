import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInModels } from "../../src/models/built-in-models.js";
import { chooseDefault } from "../../src/models/default-model.js";
import { compareVersions, isAlias, readIdWords } from "../../src/models/id-words.js";
import { assumeModel, nearestRelative } from "../../src/models/nearest-relative.js";
import { model } from "../helpers/model.js";

const { lists } = builtInModels();

describe("the words of an id", () => {
	test.each([
		["claude-opus-5-5", ["claude", "opus"], [5, 5], false],
		["anthropic/claude-opus-5.5", ["anthropic", "claude", "opus"], [5, 5], false],
		["claude-opus-4-5-20251101", ["claude", "opus"], [4, 5], true],
		["global.anthropic.claude-opus-4-6-v1:0", ["global", "anthropic", "claude", "opus"], [4, 6], false],
		["accounts/fireworks/models/kimi-k2p6", ["accounts", "fireworks", "models", "kimi", "k"], [2, 6], false],
		["gpt-4o-2024-08-06", ["gpt", "4o"], [], true],
		["openai/gpt-oss-120b", ["openai", "gpt", "oss", "120b"], [], false],
		["gemini-2.5-computer-use-preview-10-2025", ["gemini", "computer", "use", "preview"], [2, 5], true],
		["gemini-2.0-flash-001", ["gemini", "flash"], [2, 0], true],
		["deepseek-v4-pro-0813", ["deepseek", "pro"], [4], true],
		["qwen3.8-27b", ["qwen", "27b"], [3, 8], false],
		["grok-4.20-0309-reasoning", ["grok", "reasoning"], [4, 20], true],
		["", [], [], false],
	])("%s", (id, words, version, isDated) => {
		expect(readIdWords(id)).toEqual({ words, version, isDated });
	});

	test("an alias moves to the newest model", () => {
		expect(["gemini-flash-latest", "claude-opus-5-5"].map((id) => isAlias(readIdWords(id)))).toEqual([true, false]);
	});

	test("versions are ordered", () => {
		fc.assert(
			fc.property(fc.array(fc.nat(30), { maxLength: 3 }), fc.array(fc.nat(30), { maxLength: 3 }), (a, b) => {
				expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
				expect(compareVersions([...a, 0], a)).toBeGreaterThan(0);
			}),
		);
	});
});

describe("the nearest relative", () => {
	test.each([
		["anthropic", "claude-opus-6", "claude-opus-5-5"],
		["anthropic", "claude-opus-5-1", "claude-opus-5"],
		["anthropic", "claude-opus-3", "claude-opus-4-5"],
		["anthropic", "claude-fable-6", "claude-fable-5-1"],
		["anthropic", "claude-opus-6-20270101", "claude-opus-5-5"],
		["openai", "gpt-7-sol", "gpt-6-sol"],
		["openai", "gpt-7", "gpt-6-sol"],
		["google", "gemini-4-pro", "gemini-3.1-pro-preview"],
		["openrouter", "anthropic/claude-opus-6", "anthropic/claude-opus-5.5"],
		["amazon-bedrock", "global.anthropic.claude-opus-6", "global.anthropic.claude-opus-5-5"],
		["anthropic", "zebra", "claude-opus-5-5"],
	])("of %s %s is %s", (provider, id, relative) => {
		expect(nearestRelative(id, lists.of(provider))?.id).toBe(relative);
	});

	test("does not exist without models", () => {
		expect(nearestRelative("claude-opus-6", [])).toBeUndefined();
	});

	const word = fc.constantFrom(
		"claude",
		"opus",
		"gpt",
		"pro",
		"mini",
		"5",
		"5.5",
		"6",
		"120b",
		"20261101",
		"latest",
		"ü",
	);
	const id = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join("-"));
	const list = fc.uniqueArray(id, { minLength: 1, maxLength: 12 }).map((ids) => ids.map((name) => model("lab", name)));

	test("is one of the models, whatever their order", () => {
		fc.assert(
			fc.property(id, list, (wanted, models) => {
				const found = nearestRelative(wanted, models);
				expect(models).toContain(found);
				expect(nearestRelative(wanted, models.toReversed())).toBe(found);
			}),
		);
	});

	test("shares as many words as any other, or is the default model if no word is shared", () => {
		fc.assert(
			fc.property(id, list, (wanted, models) => {
				const words = new Set(readIdWords(wanted).words);
				const shares = models.filter((candidate) => readIdWords(candidate.id).words.some((part) => words.has(part)));
				const found = nearestRelative(wanted, models);
				if (shares.length > 0) expect(shares).toContain(found);
				else expect(found).toBe(chooseDefault(models));
			}),
		);
	});

	test("of a newer version is the newest one with the same words", () => {
		fc.assert(
			fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 900 }), { minLength: 1 }), (versions) => {
				const models = versions.map((version) => model("lab", `some-model-${version}`));
				expect(nearestRelative("some-model-999", models)?.id).toBe(`some-model-${Math.max(...versions)}`);
			}),
		);
	});
});

test("an assumed model has the facts of its relative, but neither its price, its date nor its name", () => {
	const relative = {
		...model("lab", "a-1", { cost: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 } }),
		released: "2026-01-01",
	};
	const { released: _, ...facts } = relative;
	expect(assumeModel("a-2", relative)).toEqual({
		...facts,
		id: "a-2",
		name: "a-2",
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		relative: "a-1",
		assumed: true,
	});
});
