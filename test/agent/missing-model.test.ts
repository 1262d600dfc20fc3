import { expect, test } from "vitest";
import { describeMissingModel } from "../../src/agent/send.js";
import type { KnownModel } from "../../src/models/model-facts.js";
import { model } from "../helpers/model.js";

const assumed: KnownModel = { ...model("anthropic", "claude-opus-6"), relative: "claude-opus-5-5", assumed: true };
const listed = model("anthropic", "claude-opus-4-8");
const own: KnownModel = model("lab", "one");
const anthropicBody = (id: string) =>
	JSON.stringify({ type: "error", error: { type: "not_found_error", message: `model: ${id}` } });
const openaiBody = (code: string, message: string) => JSON.stringify({ error: { message, code } });
const ACCESS = "The model `claude-opus-6` does not exist or you do not have access to it.";
const VERIFY = "Your organization must be verified to use the model `claude-opus-4-8`.";
const POLICY = "No endpoints found matching your data policy. Configure: https://openrouter.ai/settings/privacy";

const unknown = (reply: string) =>
	expect.stringContaining(`anthropic does not know claude-opus-6 (${reply}) · did you mean claude-opus-5-5, `);
const retired = (reply: string) => `claude-opus-4-8 is no longer offered by anthropic (${reply})`;

test.each<[string, string | null, KnownModel, unknown]>([
	["404 model: claude-opus-6", anthropicBody("claude-opus-6"), assumed, unknown("404 model: claude-opus-6")],
	[`404 ${ACCESS}`, openaiBody("model_not_found", ACCESS), assumed, unknown(`404 ${ACCESS}`)],
	["404 404 status code (no body)", null, assumed, "404 404 status code (no body)"],
	["404 page not found", null, assumed, "404 page not found"],
	["404 Not Found", '{"detail":"Not Found"}', assumed, "404 Not Found"],
	["404 model: claude-opus-4-8", anthropicBody("claude-opus-4-8"), listed, retired("404 model: claude-opus-4-8")],
	[
		"404 The model claude-opus-4-8 has been deprecated",
		null,
		listed,
		retired("404 The model claude-opus-4-8 has been deprecated"),
	],
	["404 gone", null, { ...listed, retired: true }, retired("404 gone")],
	["404 page not found", null, listed, "404 page not found"],
	[`404 ${POLICY}`, openaiBody("404", POLICY), listed, `404 ${POLICY}`],
	[`404 ${VERIFY}`, openaiBody("model_not_found", VERIFY), listed, `404 ${VERIFY}`],
	[
		"403 your account has no access to the model claude-opus-4-8",
		null,
		listed,
		"403 your account has no access to the model claude-opus-4-8",
	],
	["429 slow down", null, assumed, "429 slow down"],
	["404 model one not found", null, own, "404 model one not found"],
	[
		"404 no such model",
		null,
		{ ...own, relative: "zero", assumed: true },
		"lab does not know one (404 no such model) · did you mean zero?",
	],
])("%s with the body %s", (failure, body, of, words) => {
	expect(describeMissingModel(failure, of, { body })).toEqual(words);
});
