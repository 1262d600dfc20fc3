import { expect, test } from "vitest";
import { describeError } from "../../src/errors.js";
import { clientStep } from "../../src/modes/acp/acp-errors.js";
import { nextStep, requestError } from "../../src/modes/request-error.js";
import { assistantMessage } from "../helpers/entries.js";

test.each([
	["403 no permission", /login/],
	["No API key for provider: openai", /login/],
	["429 You exceeded your current quota, see plan and billing", /account/],
	["403 Country, region, or territory not supported", /your region or account/],
	["400 User location is not supported for the API use.", /your region or account/],
	["403 Request not allowed", /region has no access/],
	["429 slow down: try again at 14:05 (in 1 h)", /^wait until then/],
	["429 slow down: try again on 2026-01-02 at 14:05 (in 30 h)", /^wait until then/],
	["the server lab:80 answered 502 with a web page (Bad Gateway)", /problems/],
	["cannot connect to lab at box:80: connection refused (ECONNREFUSED)", /start the server/],
	["cannot connect to lab at box:80: DNS knows no such host (ENOTFOUND)", /network/],
	["cannot connect to lab at box:80: TLS failed (expired certificate)", /certificate/],
	["lab at box:80 answered with a web page instead of a reply", /baseUrl/],
	["429 too many requests", /wait/],
	["400 maximum context length is 8192 tokens", /larger model with \/model, or fewer tools/],
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
	const error = requestError(message, true);
	expect([error.code, describeError(error)]).toEqual(["request_failed", `lab/qwen: ${text}`]);
});

test.each([
	[true, "choose a larger model with --model, or fewer tools with --tools"],
	[false, "shorten the prompt"],
])("the hint after a context overflow does not suggest to compact another session (saved: %s)", (isSaved, hint) => {
	const errorMessage = "400 maximum context length is 8192 tokens";
	expect(requestError({ ...assistantMessage("", [], "error"), errorMessage }, isSaved).hint).toBe(hint);
});

test("a client of the protocol is not sent to commands that it does not have", () => {
	expect(clientStep("401 no")).toContain("set an API key with /login in pi · ");
	expect(clientStep("400 maximum context length is 8192 tokens")).toBe(
		"choose a larger model with /model, or fewer tools with /tools · start a new session",
	);
});
