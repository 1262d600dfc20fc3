import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { builtInModels } from "../../src/models/built-in-models.js";
import { BEDROCK_ENV, startCapture } from "../helpers/capture-request.js";
import { FAMILIES, type Family, familyFields, LEVELS, valueFor } from "./wire-table.js";

let client: Awaited<ReturnType<typeof startCapture>>;
beforeAll(async () => {
	for (const [name, value] of Object.entries(BEDROCK_ENV)) vi.stubEnv(name, value);
	client = await startCapture();
});
afterAll(() => {
	client.close();
	vi.unstubAllEnvs();
});

function modelOf({ provider, id }: Family) {
	const model = builtInModels().lists.find(provider, id);
	if (!model) throw new Error(`${provider} has no model ${id}`);
	return model;
}

const ROWS = FAMILIES.flatMap((family) => LEVELS.map((level) => [family.provider, family.id, level, family] as const));

test.each(ROWS)("%s/%s at %s gets what its provider documents", async (_provider, _id, level, family) => {
	const { body, headers } = await client.capture(modelOf(family), { level });
	expect(familyFields(body, headers["anthropic-beta"])).toEqual(family.fields(valueFor(family, level)));
	expect(headers).toMatchObject(family.headers ?? {});
});

test("docs/providers.md lists what each provider gets", () => {
	const isFirst = ({ provider, field }: Family, index: number) =>
		FAMILIES.findIndex((other) => other.provider === provider && other.field === field) === index;
	const rows = FAMILIES.filter((family, index) => family.field !== "–" && isFirst(family, index)).map(
		({ provider, id, field, values }) =>
			[`| \`${provider}/${id}\``, field, ...values.map((value) => value ?? "–")].join(" | ").concat(" |"),
	);
	expect(readFileSync(new URL("../../docs/providers.md", import.meta.url), "utf8")).toContain(rows.join("\n"));
});
