import { expect, test } from "vitest";
import { didYouMean, nearest } from "../../src/util/nearest.js";

const OPTIONS = ["--model", "--models", "--mode", "--no-hooks", "--hook"];

test("nearest returns similar candidates, best first", () => {
	expect(nearest("--modle", OPTIONS)).toEqual(["--model", "--mode", "--models"]);
	expect(nearest("--hok", OPTIONS)).toEqual(["--hook"]);
	expect(nearest("SONNET", ["gpt-5", "claude-sonnet-4-6"])).toEqual(["claude-sonnet-4-6"]);
});

test("nearest prefers the same prefix, then names that contain the word, then few typing errors; similar lengths first", () => {
	const models = ["sonet", "claude-sonnet-4-6", "my-sonnet", "sonnets-large", "sonnets"];
	expect(nearest("sonnet", models, 5)).toEqual(["sonnets", "sonnets-large", "my-sonnet", "claude-sonnet-4-6", "sonet"]);
	expect(nearest("ask", ["bask", "asks", "as"])).toEqual(["asks", "bask", "as"]);
	// Without the part that fits, one typing error is better than two.
	expect(nearest("sonnet", ["xonnex", "sonnex"])).toEqual(["sonnex", "xonnex"]);
});

test("nearest returns nothing for a word without similar candidates", () => {
	expect(nearest("zzzzzz", OPTIONS)).toEqual([]);
	expect(nearest("", OPTIONS)).toEqual([]);
	expect(didYouMean("zzzzzz", OPTIONS)).toBeUndefined();
});

test("didYouMean lists the candidates in one sentence", () => {
	expect(didYouMean("--hok", OPTIONS)).toBe("did you mean --hook?");
	expect(didYouMean("--modle", OPTIONS)).toBe("did you mean --model, --mode or --models?");
});
