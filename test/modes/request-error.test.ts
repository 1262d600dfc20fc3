import { expect, test } from "vitest";
import { describeError } from "../../src/errors.js";
import { nextStep, readableError, requestError } from "../../src/modes/request-error.js";
import { assistantMessage } from "../helpers/entries.js";

test.each([
	[
		'401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
		"401 invalid x-api-key",
	],
	['{"error":"model is loading"}', "model is loading"],
	['500 {"message":"internal"}', "500 internal"],
	['400 {"error":{"code":7}}', '400 {"error":{"code":7}}'],
	["400 {broken", "400 {broken"],
	["529 over\u001b[2Jloaded\nnow", "529 over␛[2Jloaded ↵ now"],
	["Connection error.", "cannot connect to the provider"],
	["connect ECONNREFUSED 127.0.0.1:11434", "connect ECONNREFUSED 127.0.0.1:11434"],
	["terminated", "the connection was lost during the reply"],
	["Anthropic stream ended before message_stop", "the reply ended unexpectedly"],
	["The stream ended before the reply was finished", "the reply ended unexpectedly"],
	["Request timed out.", "the provider did not answer in time"],
	["", "the request failed"],
	[undefined, "the request failed"],
])("%j is shown as %j", (message, text) => expect(readableError(message)).toBe(text));

test.each([
	["403 no permission", /login/],
	["No API key for provider: openai", /login/],
	["429 You exceeded your current quota, see plan and billing", /account/],
	["429 too many requests", /wait/],
	["400 maximum context length is 8192 tokens", /compact/],
	["404 no such model", /model/],
	["503 overloaded", /problems/],
	["422 odd", /context/],
	["the provider did not answer in time", /connection/],
	["something else", /again/],
])("%j has a next step", (text, step) => expect(nextStep(text)).toMatch(step));

test.each([
	["fetch failed", "cannot connect to the provider · check the connection and the provider's address, then try again"],
	["529 overloaded", "529 overloaded · the provider has problems: try again later · choose another model with --model"],
	["401 no", "401 no · set the provider's API key, or run /login in pi · choose another model with --model"],
	["odd", "odd · try again · choose another model with --model"],
])("the hint for %j on the command line names the model, but no interactive command", (errorMessage, text) => {
	const message = { ...assistantMessage("", [], "error"), provider: "lab", model: "qwen", errorMessage };
	const error = requestError(message);
	expect([error.code, describeError(error)]).toEqual(["request_failed", `lab/qwen: ${text}`]);
});
