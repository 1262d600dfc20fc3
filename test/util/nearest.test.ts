import { expect, test } from "vitest";
import { didYouMean, nearest } from "../../src/util/nearest.js";

const OPTIONS = ["--model", "--models", "--mode", "--no-hooks", "--hook"];

test("finds what was meant, best first", () => {
	expect(nearest("--modle", OPTIONS)).toEqual(["--model", "--mode", "--models"]);
	expect(nearest("--hok", OPTIONS)).toEqual(["--hook"]);
	expect(nearest("SONNET", ["gpt-5", "claude-sonnet-4-6"])).toEqual(["claude-sonnet-4-6"]);
});

test("gives nothing for a word that is near to none", () => {
	expect(nearest("zzzzzz", OPTIONS)).toEqual([]);
	expect(nearest("", OPTIONS)).toEqual([]);
	expect(didYouMean("zzzzzz", OPTIONS)).toBeUndefined();
});

test("asks in one sentence", () => {
	expect(didYouMean("--hok", OPTIONS)).toBe("did you mean --hook?");
	expect(didYouMean("--modle", OPTIONS)).toBe("did you mean --model, --mode or --models?");
});
