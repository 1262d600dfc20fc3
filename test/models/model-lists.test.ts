import { expect, test, vi } from "vitest";
import { Credentials } from "../../src/models/credentials.js";
import { ModelLists } from "../../src/models/model-lists.js";
import { ModelRegistry, modelName } from "../../src/models/models.js";
import { model } from "../helpers/model.js";
import { tempDir } from "../helpers/temp.js";
import { names } from "./load-models.js";

/** Lists of two providers, and how often each was read. */
function lists() {
	const anthropic = vi.fn(() => [model("anthropic", "a"), model("anthropic", "b")]);
	const openrouter = vi.fn(() => [model("openrouter", "anthropic/a"), model("openrouter", "c")]);
	return {
		lists: new ModelLists(
			new Map([
				["anthropic", anthropic],
				["openrouter", openrouter],
			]),
		),
		anthropic,
		openrouter,
	};
}

test("a list is read once, when it is first needed", () => {
	const { lists: all, anthropic, openrouter } = lists();
	expect(all.providers).toEqual(["anthropic", "openrouter"]);
	expect([all.find("anthropic", "b")?.id, all.find("anthropic", "c"), all.of("none")]).toEqual(["b", undefined, []]);
	expect([anthropic.mock.calls.length, openrouter.mock.calls.length]).toEqual([1, 0]);
	expect(names(all.all())).toEqual(["anthropic/a", "anthropic/b", "openrouter/anthropic/a", "openrouter/c"]);
	expect([anthropic.mock.calls.length, openrouter.mock.calls.length]).toEqual([1, 1]);
});

test("added models replace those with the same name, and new providers come last", () => {
	const { lists: all, openrouter } = lists();
	const more = all.with([model("box", "x"), model("anthropic", "a", { name: "other" }), model("anthropic", "d")]);
	expect(openrouter).not.toHaveBeenCalled();
	expect(names(more.all())).toEqual([
		...["anthropic/a", "anthropic/b", "anthropic/d", "openrouter/anthropic/a", "openrouter/c", "box/x"],
	]);
	expect([more.find("anthropic", "a")?.name, all.find("anthropic", "a")?.name]).toEqual(["other", "a"]);
});

test.each([
	["openrouter/c", "openrouter/c", [0, 1]],
	["c", "openrouter/c", [0, 1]],
	["c:high", "openrouter/c", [0, 1]],
	// The full name of a model is preferred to an id, even without a key.
	["anthropic/a", "anthropic/a", [1, 0]],
	["b", "anthropic/b", [1, 1]],
])("with a key for OpenRouter, %s is %s and reads these lists", (spec, name, reads) => {
	const { lists: all, anthropic, openrouter } = lists();
	const env = { OPENROUTER_API_KEY: "sk-or-0123456789" };
	const registry = new ModelRegistry(
		all,
		new Credentials({ authFile: `${tempDir()}/auth.json`, env, home: "/nowhere" }),
	);
	expect(modelName(registry.resolveModelSpec(spec).model)).toBe(name);
	expect([anthropic.mock.calls.length, openrouter.mock.calls.length]).toEqual(reads);
});
