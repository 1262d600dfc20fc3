import { getProviders } from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { providerName } from "../../src/models/provider-names.js";

test("every provider of pi-ai has a name of its own", () => {
	const names = getProviders().map(providerName);
	expect(names.filter((name) => /^[a-z]/.test(name))).toEqual(["xAI"]);
	expect(new Set(names).size).toBe(names.length);
});

test.each(["lab", "toString", "my-company"])("the user's own provider %s keeps its id", (id) => {
	expect(providerName(id)).toBe(id);
});
