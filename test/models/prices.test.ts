import { expect, test } from "vitest";
import { loadTestModels as load, names } from "./load-models.js";

test("a price of 0 counts as free in models.json; a missing one, and 0 for a built-in model, is unknown", async () => {
	const models = [
		{ id: "free", cost: { input: 0, output: 0 } },
		{ id: "half", cost: { input: 0 } },
		{ id: "absent" },
		{ id: "empty", cost: {} },
		{ id: "cache", cost: { cacheRead: 1 } },
	];
	const { registry } = await load({
		models: { providers: { box: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models } } },
	});
	const priced = registry.all().filter((model) => registry.isPriced(model));
	expect(names(priced.filter(({ provider }) => provider === "box"))).toEqual(["box/free", "box/half"]);
	const free = priced
		.filter(({ cost }) => cost.input === 0 && cost.output === 0)
		.map(({ id, name }) => `${id} ${name}`);
	expect(free.length).toBeGreaterThan(5);
	expect(free.filter((text) => !/free/i.test(text))).toEqual(["half half"]);
	expect(registry.findModel("box", "absent")?.cost).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
});
