import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInModels } from "../../../src/models/built-in-models.js";
import { loadModelList } from "../../../src/models/model-list.js";
import { applyUpdate } from "../../../src/models/update/apply-list.js";
import { describeListAge, formatUpdateAge } from "../../../src/models/update/describe-update.js";
import { catalogDifference, providerDifference } from "../../../src/models/update/difference.js";
import type { ListedFacts, ListedModel, ListedModels } from "../../../src/models/update/listed-model.js";
import {
	type ProviderUpdate,
	readModelList,
	saveModelList,
	type UpdatePart,
} from "../../../src/models/update/model-list-file.js";
import { model } from "../../helpers/model.js";
import { tempDir } from "../../helpers/temp.js";

const DAY_MS = 24 * 3_600_000;
const count = fc.integer({ min: 1, max: 1_000_000_000 });
const price = fc.integer({ min: 0, max: 1000 });
const id = fc.stringMatching(/^[a-z0-9][a-z0-9./:_-]{0,40}$/);
const facts: fc.Arbitrary<ListedFacts> = fc.record(
	{
		name: fc.constantFrom("Opus 6", "Модель"),
		contextWindow: count,
		maxTokens: count,
		reasoning: fc.boolean(),
		tools: fc.boolean(),
		input: fc.constantFrom<("text" | "image")[]>(["text"], ["text", "image"]),
		cost: fc.record({ input: price, output: price, cacheRead: price }, { requiredKeys: ["input", "output"] }),
		released: fc.constantFrom("2026-09-22", "2026-11-23"),
	},
	{ requiredKeys: [] },
);
const part: fc.Arbitrary<UpdatePart> = fc.record({
	updatedAt: fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) }),
	models: fc.dictionary(id, facts, { maxKeys: 5 }).map((models) => new Map(Object.entries(models))),
	retired: fc.uniqueArray(id, { maxLength: 3 }),
});

const failure = fc.option(fc.integer({ min: 1, max: Date.UTC(2027, 0) }));

describe("model-list.json", () => {
	test("contains what was saved", async () => {
		await fc.assert(
			fc.asyncProperty(part, part, failure, async (provider, catalog, failedAt) => {
				const path = join(tempDir(), "model-list.json");
				await saveModelList(path, new Map([["anthropic", { provider, catalog, failedAt }]]));
				expect(readModelList(path).of("anthropic")).toEqual({ provider, catalog, failedAt });
				expect(readModelList(path).of("openai")).toEqual({ provider: null, catalog: null, failedAt: null });
			}),
			{ numRuns: 30 },
		);
	});

	test("keeps the parts that an update does not replace", async () => {
		const path = join(tempDir(), "model-list.json");
		const one: UpdatePart = { updatedAt: 1, models: new Map([["a", { maxTokens: 1 }]]), retired: ["b"] };
		await saveModelList(
			path,
			new Map([
				["anthropic", { provider: one, catalog: one }],
				["openai", { provider: one }],
			]),
		);
		await saveModelList(path, new Map([["anthropic", { catalog: { ...one, updatedAt: 2 } }]]));
		const { of, warning } = readModelList(path);
		expect([of("anthropic"), of("openai"), warning]).toEqual([
			{ provider: one, catalog: { ...one, updatedAt: 2 }, failedAt: null },
			{ provider: one, catalog: null, failedAt: null },
			null,
		]);
	});

	test.each([
		["{", /model-list\.json:1:2: .*; ignored · run pi models update to replace it$/],
		["[]", /model-list\.json:1:1: .*; ignored/],
		['{"version": 2, "providers": {}}', /has an unknown format; ignored/],
		['{"version": 1, "providers": []}', /has an unknown format; ignored/],
	])("that is broken (%s) is named, ignored and replaced", async (text, warning) => {
		const dir = tempDir();
		const path = join(dir, "model-list.json");
		writeFileSync(path, text);
		const list = loadModelList(path);
		expect(list.file.warning).toMatch(warning);
		expect(list.lists.find("anthropic", "claude-opus-5-5")).toBeDefined();
		await saveModelList(path, new Map());
		expect(readModelList(path).warning).toBeNull();
		expect(readdirSync(dir).every((name) => name.startsWith("model-list.json"))).toBe(true);
	});

	test("that is too large to be read is named, ignored and replaced", async () => {
		const path = join(tempDir(), "model-list.json");
		writeFileSync(path, `{"version": 1, "providers": {}, "x": "${"x".repeat(11 * 1024 * 1024)}"}`);
		expect(readModelList(path).warning).toMatch(
			/is more than the limit.*; ignored · run pi models update to replace it$/,
		);
		await saveModelList(path, new Map());
		expect(readModelList(path).warning).toBeNull();
	});

	test("is never written so large that it could not be read", async () => {
		const path = join(tempDir(), "model-list.json");
		const part: UpdatePart = { updatedAt: 1, models: new Map([["a", { maxTokens: 1 }]]), retired: [] };
		await saveModelList(path, new Map([["anthropic", { provider: part }]]));
		const models = new Map(Array.from({ length: 50_000 }, (_, index) => [`${"m".repeat(190)}${index}`, {}]));
		const written = saveModelList(path, new Map([["openai", { provider: { ...part, models } }]]));
		await expect(written).rejects.toThrow(/would be larger than 10 MB/);
		expect(readModelList(path).of("anthropic").provider).toEqual(part);
	});

	test("with hostile content is read without it", () => {
		const path = join(tempDir(), "model-list.json");
		const providers =
			'{"anthropic":{"provider":{"updatedAt":"2099-01-01","models":{"__proto__":{"maxTokens":1},"a\\u0007":{},"ok":{"maxTokens":"1","cost":{"input":-1,"output":2},"name":"a\\u001b[31m"}},"retired":[1,null]}},"openai":7,"__proto__":{"provider":{}}}';
		writeFileSync(path, `{"version":1,"providers":${providers}}`);
		const file = readModelList(path);
		expect(file.of("anthropic").provider?.models).toEqual(new Map([["ok", {}]]));
		expect(file.of("openai")).toEqual({ provider: null, catalog: null, failedAt: null });
		expect(loadModelList(path).lists.all().length).toBeGreaterThan(1000);
	});

	test("is read in less than 2 ms with 300 new models, and only if its provider is needed", async () => {
		const path = join(tempDir(), "model-list.json");
		const models = new Map(
			Array.from({ length: 300 }, (_, index) => [
				`claude-new-${index}`,
				{
					name: `New ${index}`,
					contextWindow: 1_000_000,
					maxTokens: 64_000,
					cost: { input: 1, output: 2 },
					released: "2026-11-23",
				},
			]),
		);
		await saveModelList(path, new Map([["anthropic", { provider: { updatedAt: Date.now(), models, retired: [] } }]]));
		const times = Array.from({ length: 20 }, () => {
			const start = performance.now();
			readModelList(path);
			return performance.now() - start;
		});
		expect(Math.min(...times)).toBeLessThan(2);
		expect(readFileSync(path).length).toBeGreaterThan(30_000);
	});
});

describe("the difference to the list that ships", () => {
	const madeAt = Date.UTC(2026, 8, 22);
	const now = Date.UTC(2026, 10, 24);
	const list = (models: ListedModel[], ids = models.map((each) => each.id)): ListedModels => ({
		...{ models, ids, dropped: 0, omitted: 0, isComplete: true },
	});
	const listed = (...ids: string[]) => list(ids.map((name) => ({ id: name, facts: {} })));
	const shipped = (...ids: string[]) => ({ models: ids.map((name) => model("lab", name)), madeAt });

	test.each([
		["an id that is missing is retired", ["a-1", "a-2"], ["a-1"], ["a-2"]],
		["an alias of a listed snapshot is offered", ["a-1", "b-2"], ["a-1", "b-2-20261001"], []],
		["a name that moves is offered", ["a-1", "a-latest"], ["a-1"], []],
		["a variant of a listed model is offered", ["a-1", "a-1:free"], ["a-1"], []],
		["a snapshot that is missing is retired", ["a-1", "a-1-20260101"], ["a-1"], ["a-1-20260101"]],
		["nothing is retired by the list of another server", ["a-1"], ["z-1"], []],
	])("%s", (_, known, offered, retired) => {
		expect(providerDifference(listed(...offered), shipped(...known), null, now).retired).toEqual(retired);
	});

	test("nothing is retired by a list that was not read completely", () => {
		const cut = { ...listed("a-1"), isComplete: false };
		expect(providerDifference(cut, shipped("a-1", "a-2"), null, now).retired).toEqual([]);
	});

	test("a model that an earlier list has added is retired, keeps its facts, and can come back", () => {
		const known = shipped("a-1");
		const news = { id: "a-2", facts: { contextWindow: 7 } };
		const added = providerDifference(list([{ id: "a-1", facts: {} }, news]), known, null, now);
		const gone = providerDifference(listed("a-1"), known, added, now);
		const stillGone = providerDifference(listed("a-1"), known, gone, now);
		for (const part of [gone, stillGone]) {
			expect(applyUpdate(known.models, madeAt, { provider: part, catalog: null, failedAt: null })[1]).toMatchObject({
				id: "a-2",
				contextWindow: 7,
				retired: true,
			});
		}
		const back = providerDifference(list([{ id: "a-1", facts: {} }, news]), known, stillGone, now);
		expect(back).toEqual(added);
	});

	test("older models that the list lacks are missing on purpose", () => {
		const at = (id: string, ms: number) => ({ id, facts: { released: new Date(ms).toISOString().slice(0, 10) } });
		const models = [at("old", madeAt - 100 * DAY_MS), at("new", madeAt - 10 * DAY_MS), { id: "undated", facts: {} }];
		const part = providerDifference(list(models, []), shipped("a-1"), null, now);
		expect([...part.models.keys()]).toEqual(["new", "undated"]);
	});

	test("a new model of the catalog can call tools and is offered", () => {
		const cataloged = [
			{ id: "a-2", facts: { tools: true } },
			{ id: "a-3", facts: { tools: false } },
			{ id: "a-4", facts: {} },
		];
		const names = (offered: string[] | null) => [
			...catalogDifference(cataloged, shipped("a-1"), offered, now).models.keys(),
		];
		expect(names(null)).toEqual(["a-2", "a-4"]);
		expect(names(["a-4"])).toEqual(["a-4"]);
	});

	test("applied to the list, gives what was listed", () => {
		fc.assert(
			fc.property(
				fc.dictionary(id, facts, { minKeys: 1, maxKeys: 6 }),
				fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
				(found, ids) => {
					const models = Object.entries(found).map(([name, known]) => ({ id: name, facts: known }));
					const known = { models: ids.map((name) => model("lab", name)), madeAt: 0 };
					const update = providerDifference(list(models), known, null, now);
					const after = applyUpdate(known.models, 0, { provider: update, catalog: null, failedAt: null });
					for (const { id: name, facts: told } of models) {
						const result = after.find((candidate) => candidate.id === name);
						for (const fact of ["contextWindow", "maxTokens", "released"] as const) {
							if (told[fact] !== undefined) expect(result).toHaveProperty(fact, told[fact]);
						}
						if (told.cost) expect(result?.cost).toMatchObject(told.cost);
					}
					expect(after.map((candidate) => candidate.id)).toEqual(expect.arrayContaining(ids));
				},
			),
		);
	});

	test("about a list that was made later says only which models are new", () => {
		const models = new Map<string, ListedFacts>([
			["a-1", { maxTokens: 1 }],
			["a-2", { maxTokens: 1 }],
		]);
		const update = { provider: { updatedAt: 5, models, retired: ["a-1"] }, catalog: null, failedAt: null };
		const [first, second] = applyUpdate([model("lab", "a-1")], 6, update);
		expect(first).toEqual(model("lab", "a-1"));
		expect(second).toMatchObject({ id: "a-2", maxTokens: 1, relative: "a-1" });
	});
});

describe("the age of the list", () => {
	const { madeAt } = builtInModels();
	const now = madeAt + 30 * DAY_MS;
	const empty = (updatedAt: number): UpdatePart => ({ updatedAt, models: new Map(), retired: [] });

	test("is that of the latest answer", async () => {
		const path = join(tempDir(), "model-list.json");
		expect(describeListAge(loadModelList(path), now)).toBe("list of 22 Sep");
		expect(describeListAge(loadModelList(path), now + 365 * DAY_MS)).toBe("list of 22 Sep 2026");
		const updated = async (updatedAt: number) => {
			await saveModelList(path, new Map([["openai", { provider: empty(updatedAt) }]]));
			return describeListAge(loadModelList(path), now);
		};
		expect(await updated(now - 3 * DAY_MS)).toBe("updated 3 days ago");
		expect(await updated(now)).toBe("updated now");
		expect(await updated(madeAt - 1)).toBe("list of 22 Sep");
		expect([now, now - 3 * DAY_MS].map((at) => formatUpdateAge(at, now))).toEqual(["today", "3 days ago"]);
	});

	test("does not change by failures, which are named until the provider answers", async () => {
		const path = join(tempDir(), "model-list.json");
		const age = (isUsed?: (provider: string) => boolean) => describeListAge(loadModelList(path), now, isUsed);
		await saveModelList(path, new Map([["anthropic", { provider: empty(now - 16 * DAY_MS) }]]));
		await saveModelList(path, new Map([["anthropic", { catalog: empty(now), failedAt: now }]]));
		expect(age()).toBe("updated 16 days ago · anthropic failed");
		expect(age((provider) => provider !== "anthropic")).toBe("updated 16 days ago");
		const failed = ["google", "openai", "xai"].map((name) => [name, { failedAt: now }] as const);
		await saveModelList(path, new Map(failed));
		expect(age()).toBe("updated 16 days ago · anthropic, google and 2 more failed");
		await saveModelList(path, new Map(["anthropic", "google", "xai"].map((name) => [name, { provider: empty(now) }])));
		expect(age()).toBe("updated now · openai failed");
	});

	test("says when to ask a provider again: a week after its answer, a day after a failure", async () => {
		const path = join(tempDir(), "model-list.json");
		const due = (provider: string) => loadModelList(path).dueAt(provider);
		expect(due("anthropic")).toBe(madeAt + 7 * DAY_MS);
		await saveModelList(
			path,
			new Map<string, Partial<ProviderUpdate>>([
				["anthropic", { provider: empty(now) }],
				["openai", { provider: empty(now - 1), failedAt: now }],
				["amazon-bedrock", { catalog: empty(now) }],
			]),
		);
		expect(["anthropic", "openai", "amazon-bedrock"].map((provider) => due(provider) - now)).toEqual([
			7 * DAY_MS,
			DAY_MS,
			7 * DAY_MS,
		]);
	});
});
