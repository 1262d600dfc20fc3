import { expect, test } from "vitest";
import { fitTable } from "../../src/cli/list-models.js";

const TABLE = [
	["provider", "model", "tools", "price"],
	["lab", "maker/a-very-long-name-of-a-model", "yes", "$1 / $2"],
];
const fitted = (columns?: number) => {
	const { table, left } = fitTable(TABLE, { columns, omitted: ["tools", "price"], cut: "model" });
	return [table[1], left];
};

test("a table fits by omitting columns, then by cutting cells in the middle", () => {
	expect(fitted()).toEqual([TABLE[1], []]);
	expect(fitted(60)).toEqual([TABLE[1], []]);
	expect(fitted(57)).toEqual([["lab", "maker/a-very-long-name-of-a-model", "$1 / $2"], ["tools"]]);
	expect(fitted(45)).toEqual([
		["lab", "maker/a-very-long-name-of-a-model"],
		["tools", "price"],
	]);
	expect(fitted(30)).toEqual([
		["lab", expect.stringMatching(/^mak.*….*model$/)],
		["tools", "price"],
	]);
	expect(fitted(10)).toEqual([
		["lab", expect.stringMatching(/….*l$/)],
		["tools", "price"],
	]);
});
