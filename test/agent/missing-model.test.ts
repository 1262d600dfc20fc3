import { expect, test } from "vitest";
import { describeMissingModel } from "../../src/agent/missing-model.js";
import type { KnownModel } from "../../src/models/model-facts.js";
import { model } from "../helpers/model.js";

const assumed: KnownModel = { ...model("anthropic", "claude-opus-6"), relative: "claude-opus-5-5", assumed: true };
const listed = model("anthropic", "claude-opus-4-8");
const own: KnownModel = model("lab", "one");
const unknown = expect.stringMatching(/^anthropic does not know claude-opus-6 · did you mean claude-opus-5-5, .*\?$/);
const retired = "claude-opus-4-8 is no longer offered by anthropic";

test.each<[string, KnownModel, unknown]>([
	["404 model: claude-opus-6", assumed, unknown],
	["404 404 status code (no body)", assumed, unknown],
	["400 The model `claude-opus-6` does not exist", assumed, unknown],
	["404 model: claude-opus-4-8", listed, retired],
	["404 The model claude-opus-4-8 has been deprecated", listed, retired],
	["404 page not found", listed, "404 page not found"],
	[
		"403 your account has no access to the model claude-opus-4-8",
		listed,
		"403 your account has no access to the model claude-opus-4-8",
	],
	["429 slow down", assumed, "429 slow down"],
	["404 model one not found", own, "404 model one not found"],
	["404 no such model", { ...own, relative: "zero", assumed: true }, "lab does not know one · did you mean zero?"],
])("%s", (failure, of, words) => {
	expect(describeMissingModel(failure, of)).toEqual(words);
});
