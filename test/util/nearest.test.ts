import { expect, test } from "vitest";
import { didYouMean, nearest } from "../../src/util/nearest.js";

const OPTIONS = ["--model", "--models", "--mode", "--no-hooks", "--hook"];

test("nearest returns similar candidates, best first", () => {
	expect(nearest("--modle", OPTIONS)).toEqual(["--model", "--mode", "--models"]);
	expect(nearest("--hok", OPTIONS)).toEqual(["--hook"]);
	expect(nearest("SONNET", ["gpt-5", "claude-sonnet-4-6"])).toEqual(["claude-sonnet-4-6"]);
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
