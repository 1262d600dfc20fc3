import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fillDefaults } from "../../../src/config/json-schema.js";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SETTINGS_SCHEMA } from "../../../src/config/settings-schema.js";
import { builtInModels } from "../../../src/models/built-in-models.js";
import { loadModelSources } from "../../../src/models/model-sources.js";
import { describeReport, summarizeUpdate } from "../../../src/models/update/describe-update.js";
import { type FindOfferingOptions, findOffering } from "../../../src/models/update/find-offering.js";
import { type UpdateOptions, updateModels } from "../../../src/models/update/update-models.js";
import { networkOf } from "../../../src/network/network.js";
import { type ListAnswer, startListServer } from "../../helpers/list-server.js";
import { startProxy } from "../../helpers/proxy.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";

const KEYS = {
	ANTHROPIC_API_KEY: "key-anthropic",
	OPENAI_API_KEY: "key-openai",
	GEMINI_API_KEY: "key-google",
	OPENROUTER_API_KEY: "key-openrouter",
};
const ANTHROPIC = "/anthropic/v1/models?limit=1000";
const OPENAI = "/openai/models";
const GOOGLE = "/google/models?pageSize=1000";
const OPENROUTER = "/openrouter/models";
const CATALOG = "/api.json";

const shipped = (provider: string) =>
	builtInModels()
		.lists.of(provider)
		.map(({ id }) => id);
const anthropicList = (...more: object[]) => ({
	data: [...shipped("anthropic").map((id) => ({ id, type: "model" })), ...more],
	has_more: false,
});

/** An agent directory whose providers are at a server that gives these answers. */
async function place(answers: Readonly<Record<string, ListAnswer>>, env: Record<string, string> = KEYS) {
	const server = await startListServer(answers);
	const names = ["anthropic", "openai", "google", "openrouter"];
	const providers = Object.fromEntries(names.map((name) => [name, { baseUrl: `${server.origin}/${name}` }]));
	const dir = tempAgentDir({ models: { providers } });
	const paths = findPaths({ PI_CODING_AGENT_DIR: dir }, dir, dir);
	const load = async () => {
		const warnings: string[] = [];
		const sources = await loadModelSources({
			paths,
			env,
			settings: { apiKeys: {} },
			onWarning: (line) => warnings.push(line),
		});
		return { ...sources, warnings };
	};
	const update = async (options: Partial<UpdateOptions> = {}) => {
		const sources = await load();
		return updateModels({
			...sources,
			network: await networkOf(env),
			builtIn: builtInModels(),
			catalog: `${server.origin}${CATALOG}`,
			...options,
		});
	};
	return { server, load, update, file: join(dir, "model-list.json"), dir };
}

const only = (...names: string[]) => ({ only: names });
const today = new Date().toISOString().slice(0, 10);

describe("an update", () => {
	test("finds new and retired models of Anthropic on all pages", async () => {
		const [first, ...others] = shipped("anthropic").filter((id) => id !== "claude-opus-4-8");
		const { update, load, server } = await place({
			[ANTHROPIC]: { data: [{ id: first }], has_more: true, last_id: first },
			[`${ANTHROPIC}&after_id=${first}`]: {
				data: [
					...others.map((id) => ({ id })),
					{
						id: "claude-opus-6",
						display_name: "Claude Opus 6",
						created_at: `${today}T00:00:00Z`,
						max_input_tokens: 2_000_000,
						max_tokens: 256_000,
					},
				],
				has_more: false,
			},
			[CATALOG]: 500,
		});
		const { providers } = await update(only("anthropic"));
		expect(providers.map(describeReport)).toEqual(["1 new (claude-opus-6), 1 retired (claude-opus-4-8)"]);
		expect(server.requests.find(({ path }) => path === ANTHROPIC)?.headers).toMatchObject({
			"x-api-key": "key-anthropic",
			"anthropic-version": "2023-06-01",
		});
		const { registry } = await load();
		expect(registry.findModel("anthropic", "claude-opus-6")).toMatchObject({
			name: "Claude Opus 6",
			contextWindow: 2_000_000,
			maxTokens: 256_000,
			released: today,
			relative: "claude-opus-5-5",
			compat: { forceAdaptiveThinking: true },
		});
		expect(registry.findModel("anthropic", "claude-opus-6")).not.toHaveProperty("assumed");
		expect(registry.findModel("anthropic", "claude-opus-4-8")).toMatchObject({ retired: true });
		// Without a known price, it is not the default yet.
		expect(registry.bestOf("anthropic")?.id).toBe("claude-opus-5-5");
		expect((await update(only("anthropic"))).providers.map(describeReport)).toEqual(["up to date"]);
	});

	test("reads OpenAI: only chat models that came out since the list", async () => {
		const created = Date.now() / 1000;
		const data = [
			...shipped("openai").map((id) => ({ id, created: 1 })),
			{ id: "gpt-7-sol", created, owned_by: "openai" },
			{ id: "gpt-3.5-turbo", created: 1_677_610_602 },
			...["text-embedding-4", "gpt-image-3", "gpt-realtime-3", "whisper-2", "tts-2", "gpt-7-transcribe"].map((id) => ({
				id,
				created,
			})),
		];
		const { update, load, server } = await place({ [OPENAI]: { data }, [CATALOG]: 500 });
		expect((await update(only("openai"))).providers.map(describeReport)).toEqual(["1 new (gpt-7-sol)"]);
		expect(server.requests[0]?.headers.authorization ?? server.requests[1]?.headers.authorization).toBe(
			"Bearer key-openai",
		);
		const { registry } = await load();
		const found = registry.findModel("openai", "gpt-7-sol");
		expect(found).toMatchObject({ relative: "gpt-6-sol", cost: { input: 0, output: 0 } });
		expect(found && registry.isPriced(found)).toBe(false);
	});

	test("reads Google page by page", async () => {
		const models = shipped("google").map((id) => ({
			name: `models/${id}`,
			supportedGenerationMethods: ["generateContent"],
		}));
		const { update, load } = await place({
			[GOOGLE]: { models, nextPageToken: "p/2" },
			[`${GOOGLE}&pageToken=p%2F2`]: {
				models: [
					{
						name: "models/gemini-4-pro",
						displayName: "Gemini 4 Pro",
						inputTokenLimit: 3_000_000,
						outputTokenLimit: 90_000,
						thinking: true,
						supportedGenerationMethods: ["generateContent"],
					},
					{ name: "models/imagen-5", supportedGenerationMethods: ["predict"] },
				],
			},
			[CATALOG]: 500,
		});
		expect((await update(only("google"))).providers.map(describeReport)).toEqual(["1 new (gemini-4-pro)"]);
		expect((await load()).registry.findModel("google", "gemini-4-pro")).toMatchObject({
			contextWindow: 3_000_000,
			maxTokens: 90_000,
			name: "Gemini 4 Pro",
		});
	});

	test("reads windows, prices and dates of OpenRouter", async () => {
		const { update, load } = await place({
			[OPENROUTER]: {
				data: [
					...shipped("openrouter").map((id) => ({ id })),
					{
						id: "anthropic/claude-opus-6",
						name: "Anthropic: Claude Opus 6",
						created: Date.now() / 1000,
						context_length: 2_000_000,
						architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
						top_provider: { max_completion_tokens: 200_000 },
						pricing: { prompt: "0.000005", completion: "0.000025", input_cache_read: "0.0000005" },
						supported_parameters: ["tools", "reasoning"],
					},
					{ id: "maker/painter", architecture: { output_modalities: ["image"] } },
				],
			},
			[CATALOG]: 500,
		});
		await update(only("openrouter"));
		const { registry } = await load();
		const found = registry.findModel("openrouter", "anthropic/claude-opus-6");
		expect(found).toMatchObject({
			contextWindow: 2_000_000,
			maxTokens: 200_000,
			cost: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 0 },
			released: today,
			reasoning: true,
		});
		expect(found && registry.isPriced(found)).toBe(true);
	});

	test("reads windows, prices and dates of the catalog, and new models that the provider offers", async () => {
		const model = (id: string, more: object) => ({
			[id]: { id, tool_call: true, limit: { context: 900_000, output: 5000 }, cost: { input: 4, output: 20 }, ...more },
		});
		const { update, load } = await place({
			[ANTHROPIC]: anthropicList({ id: "claude-opus-6" }),
			[CATALOG]: {
				anthropic: {
					models: {
						...model("claude-opus-5-5", { release_date: "2026-09-22" }),
						...model("claude-opus-6", { release_date: today, reasoning: true, modalities: { input: ["text"] } }),
						...model("claude-rumor-7", { release_date: today }),
					},
				},
			},
		});
		expect((await update(only("anthropic"))).providers).toEqual([
			{
				provider: "anthropic",
				state: "updated",
				added: ["claude-opus-6"],
				retired: [],
				changed: 1,
				dropped: 0,
				omitted: 0,
			},
		]);
		const { registry } = await load();
		expect(registry.findModel("anthropic", "claude-opus-5-5")).toMatchObject({
			contextWindow: 900_000,
			maxTokens: 5000,
			released: "2026-09-22",
			cost: { input: 4, output: 20, cacheRead: 0.2 },
		});
		expect(registry.findModel("anthropic", "claude-opus-6")).toMatchObject({
			released: today,
			cost: { input: 4, output: 20 },
			input: ["text"],
		});
		expect(registry.findModel("anthropic", "claude-rumor-7")).toBeUndefined();
		expect(registry.bestOf("anthropic")?.id).toBe("claude-opus-6");
	});

	test("asks all providers with a key, and names those that fail, which keep their part", async () => {
		const created = Date.now() / 1000;
		const good = {
			[ANTHROPIC]: anthropicList({ id: "claude-opus-6" }),
			[OPENAI]: { data: [{ id: "gpt-7-sol", created }] },
			[CATALOG]: 500,
		};
		const first = await place({ ...good, [GOOGLE]: 401, [OPENROUTER]: 302 });
		const report = await first.update();
		expect(report.providers.map((one) => [one.provider, describeReport(one)])).toEqual([
			["anthropic", "1 new (claude-opus-6)"],
			["google", expect.stringMatching(/^failed: 127\.0\.0\.1:\d+ answered 401: the key is not accepted$/)],
			["openai", "1 new (gpt-7-sol)"],
			["openrouter", expect.stringMatching(/^failed: .* answered 302: a redirect, which pi does not follow$/)],
		]);
		expect(report.catalogFailure).toMatch(/answered 500$/);
		expect(summarizeUpdate(report)).toMatch(
			/^2 new, 0 retired · google, openrouter and 1 more failed · google: .* · openrouter: .* · the catalog: /,
		);
		const before = JSON.parse(readFileSync(first.file, "utf8"));
		writeFileSync(
			join(first.dir, "models.json"),
			JSON.stringify({
				providers: {
					anthropic: { baseUrl: "http://127.0.0.1:9" },
					openai: { baseUrl: `${first.server.origin}/openai` },
				},
			}),
		);
		const again = await first.update(only("anthropic", "openai"));
		expect(again.providers.map(({ state }) => state)).toEqual(["failed", "updated"]);
		const after = JSON.parse(readFileSync(first.file, "utf8"));
		expect(after.providers.anthropic).toEqual({ ...before.providers.anthropic, failedAt: expect.any(String) });
		expect((await first.load()).registry.findModel("anthropic", "claude-opus-6")).toBeDefined();
		expect(statSync(first.file).mode & 0o777).toBe(0o600);
	});

	test("names providers that cannot be asked", async () => {
		const { update } = await place(
			{ [CATALOG]: 500 },
			{ AZURE_OPENAI_API_KEY: "k", CLOUDFLARE_API_KEY: "k", AWS_PROFILE: "x" },
		);
		expect((await update()).providers.map((one) => [one.provider, describeReport(one)])).toEqual([
			["amazon-bedrock", "not asked: its list needs the tools of AWS"],
			["azure-openai-responses", "not asked: its models are the deployments of your account"],
			["cloudflare-ai-gateway", "not asked: its address contains your account"],
			["cloudflare-workers-ai", "not asked: its address contains your account"],
		]);
	});

	test("with an empty list fails, and keeps what is known", async () => {
		const answers: Record<string, ListAnswer> = { [ANTHROPIC]: anthropicList({ id: "claude-opus-6" }), [CATALOG]: 500 };
		const { update, load } = await place(answers);
		await update(only("anthropic"));
		answers[ANTHROPIC] = { data: [] };
		expect((await update(only("anthropic"))).providers.map(describeReport)).toEqual([
			"failed: its list of models is empty",
		]);
		expect((await load()).registry.findModel("anthropic", "claude-opus-6")).toBeDefined();
	});

	test("reports a new model that vanished as retired, and keeps it", async () => {
		const answers: Record<string, ListAnswer> = { [ANTHROPIC]: anthropicList({ id: "claude-opus-6" }), [CATALOG]: 500 };
		const { update, load } = await place(answers);
		await update(only("anthropic"));
		answers[ANTHROPIC] = anthropicList();
		expect((await update(only("anthropic"))).providers.map(describeReport)).toEqual(["1 retired (claude-opus-6)"]);
		expect((await load()).registry.findModel("anthropic", "claude-opus-6")).toMatchObject({ retired: true });
		expect((await update(only("anthropic"))).providers.map(describeReport)).toEqual(["up to date"]);
	});

	test("goes through the proxy of the session", async () => {
		const server = await startListServer({ "/v1/models": anthropicList({ id: "claude-opus-6" }) });
		const proxy = await startProxy({ port: Number(new URL(server.origin).port) });
		const env = { ...KEYS, HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
		const { update, dir } = await place({}, env);
		writeFiles(dir, { "models.json": { providers: { anthropic: { baseUrl: "http://models.test" } } } });
		const { providers } = await update(only("anthropic"));
		expect(providers.map(describeReport)).toEqual(["1 new (claude-opus-6)"]);
		expect(proxy.requests).toContain("GET http://models.test/v1/models?limit=1000");
	});

	test("does not wait longer than its time limit", async () => {
		const { update, file } = await place({ [ANTHROPIC]: "silence", [CATALOG]: "silence" });
		const report = await update({ ...only("anthropic"), timeLimitMs: 50 });
		expect(report.providers.map(describeReport)).toEqual([
			expect.stringMatching(/^failed: 127\.0\.0\.1:\d+ did not answer in time$/),
		]);
		expect(JSON.parse(readFileSync(file, "utf8")).providers).toEqual({ anthropic: { failedAt: expect.any(String) } });
	});

	test("can be canceled", async () => {
		const { update } = await place({ [ANTHROPIC]: "silence", [CATALOG]: "silence" });
		const canceled = new AbortController();
		const running = update({ ...only("anthropic"), signal: canceled.signal });
		canceled.abort();
		await expect(running).rejects.toThrow();
	});
});

describe("a hostile answer", () => {
	const bell = "claude\u0007";
	test("with 60,000 models adds the first 5,000 and counts the others", async () => {
		const news = Array.from({ length: 60_000 }, (_, index) => ({
			id: `claude-new-${index}`,
			display_name: "x".repeat(150),
			created_at: today,
		}));
		const { update, load, file } = await place({ [ANTHROPIC]: anthropicList(...news), [CATALOG]: 500 });
		const report = await update(only("anthropic"));
		const known = shipped("anthropic").length;
		expect(report.providers.map(describeReport)).toEqual([
			expect.stringMatching(
				new RegExp(`^${5000 - known} new \\(.*\\), ${55_000 + known} models beyond the first 5000 ignored$`),
			),
		]);
		expect(statSync(file).size).toBeLessThan(3_000_000);
		const { warnings, registry } = await load();
		expect(warnings).toEqual([]);
		expect(registry.ofProvider("anthropic")).toHaveLength(5000);
	});

	test.each<[string, ListAnswer, string]>([
		["no model", { data: [], has_more: false }, "its list of models is empty"],
		["no JSON", "<html>", "is not JSON"],
		["an array", "[]", "is not a JSON object"],
		["no list", { data: { id: "x" } }, "the answer contains no list of models"],
		["nothing", "", "is not JSON"],
		["21 MB", Buffer.alloc(21 * 1024 * 1024, 0x20), "is larger than 20 MB"],
	])("with %s is a failure that is named", async (_, answer, reason) => {
		const { update, file } = await place({ [ANTHROPIC]: answer, [CATALOG]: answer });
		const report = await update(only("anthropic"));
		expect(report.providers.map(describeReport)).toEqual([expect.stringContaining(reason)]);
		expect(JSON.parse(readFileSync(file, "utf8")).providers).toEqual({ anthropic: { failedAt: expect.any(String) } });
	});

	test("with ids that no model can have adds none of them, and counts them", async () => {
		const text = JSON.stringify(anthropicList({ id: "claude-opus-6" })).replace(
			'"has_more"',
			`"__proto__": {"polluted": 1}, "constructor": 1, "has_more"`,
		);
		const ids = [bell, "a b", "x".repeat(201), "__proto__", "constructor", "", 7, null, ["a"], "a\u202eb"];
		const bad = ids.map((id) => JSON.stringify({ id })).join(",");
		const { update, load } = await place({
			[ANTHROPIC]: text.replace('"data":[', `"data":[7,null,[],${bad},`),
			[CATALOG]: 500,
		});
		const report = await update(only("anthropic"));
		expect(report.providers).toEqual([
			{
				provider: "anthropic",
				state: "updated",
				added: ["claude-opus-6"],
				retired: [],
				changed: 0,
				dropped: ids.length + 3,
				omitted: 0,
			},
		]);
		expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
		const { registry, warnings } = await load();
		expect(registry.ofProvider("anthropic")).toHaveLength(shipped("anthropic").length + 1);
		expect(warnings).toEqual([]);
	});

	test("with facts of the wrong type changes nothing", async () => {
		const wrong = {
			tool_call: "yes",
			reasoning: 1,
			name: bell,
			release_date: "9999-99-99",
			limit: { context: "1000", output: -5 },
			cost: { input: -1, output: "3", cache_read: 1e300 },
			modalities: [],
		};
		const { update, load } = await place({
			[ANTHROPIC]: {
				data: shipped("anthropic").map((id) => ({
					id,
					max_input_tokens: -1,
					max_tokens: "9",
					created_at: "soon",
					display_name: {},
				})),
			},
			[CATALOG]: { anthropic: { models: { "claude-opus-5-5": wrong, __proto__: wrong, [bell]: wrong } } },
		});
		await update(only("anthropic"));
		expect((await load()).registry.findModel("anthropic", "claude-opus-5-5")).toEqual({
			...builtInModels().lists.find("anthropic", "claude-opus-5-5"),
			baseUrl: expect.any(String),
		});
	});

	test("that never ends its pages is cut off", async () => {
		const { update, server } = await place({
			[ANTHROPIC]: { data: [{ id: "a" }], has_more: true, last_id: "a" },
			[`${ANTHROPIC}&after_id=a`]: { data: [{ id: "b" }], has_more: true, last_id: "a" },
			[CATALOG]: 500,
		});
		await update(only("anthropic"));
		expect(server.requests.length).toBeLessThan(5);
	});
});

describe("a model without a provider", () => {
	/** Asks for an id at a server with these answers. */
	async function search(answers: Readonly<Record<string, ListAnswer>>, options: Partial<FindOfferingOptions> = {}) {
		const { load, server } = await place(answers);
		const found = findOffering("new-1", { ...(await load()), network: await networkOf(KEYS), ...options });
		return { found, server };
	}

	test("is searched at the providers with keys, in the usual order", async () => {
		const { found, server } = await search({
			[OPENAI]: { data: [{ id: "new-1" }] },
			[OPENROUTER]: { data: [{ id: "new-1" }] },
			[ANTHROPIC]: 500,
		});
		expect((await found).model).toMatchObject({ provider: "openai", id: "new-1", assumed: true });
		expect(new Set(server.requests.map(({ path }) => path))).toContain(ANTHROPIC);
	});

	test("is used as soon as one provider has it, without waiting for those that do not answer", async () => {
		const lines: string[] = [];
		const { found } = await search(
			{ [ANTHROPIC]: "silence", [OPENAI]: { data: [{ id: "new-1" }] }, [GOOGLE]: "silence", [OPENROUTER]: 500 },
			{ graceMs: 50, patienceMs: 1, timeLimitMs: 600_000, onWait: (line) => lines.push(line) },
		);
		expect((await found).model).toMatchObject({ provider: "openai" });
		expect(lines).toEqual([expect.stringMatching(/^Waiting for anthropic, .*which pi asked for new-1$/)]);
	});

	test("of a provider that counts more is used if it answers within the time of grace", async () => {
		const { found } = await search(
			{ [ANTHROPIC]: { data: [{ id: "new-1" }] }, [OPENAI]: { data: [{ id: "new-1" }] } },
			{ graceMs: 600_000 },
		);
		expect((await found).model).toMatchObject({ provider: "anthropic" });
	});

	test("does not exist if all providers answer and none lists it", async () => {
		const { found } = await search({
			[ANTHROPIC]: anthropicList(),
			[OPENAI]: { data: [{ id: "old-1" }] },
			[GOOGLE]: { models: [{ name: "models/old-1" }] },
			[OPENROUTER]: { data: [{ id: "old-1" }] },
		});
		expect(await found).toEqual({ model: null, unasked: null });
	});

	test("may exist if providers could not be asked, which are named with the reason", async () => {
		const { found } = await search(
			{ [ANTHROPIC]: anthropicList(), [OPENAI]: 401, [GOOGLE]: "silence", [OPENROUTER]: 401 },
			{ timeLimitMs: 300 },
		);
		expect(await found).toEqual({
			model: null,
			unasked: expect.stringMatching(
				/^not offered by anthropic · openai, openrouter could not be asked \(127\.0\.0\.1:\d+ answered 401: the key is not accepted\) · google could not be asked \(127\.0\.0\.1:\d+ did not answer in time\) · openai\/new-1 would be used as given$/,
			),
		});
	});

	test("is not searched any further, and not added, when the search is canceled", async () => {
		const canceled = new AbortController();
		const { load } = await place({ [ANTHROPIC]: "silence", [OPENAI]: { data: [{ id: "new-1" }] } });
		const sources = await load();
		const options = { ...sources, network: await networkOf(KEYS), signal: canceled.signal, graceMs: 600_000 };
		const found = findOffering("new-1", { ...options, patienceMs: 1, onWait: () => canceled.abort("stopped") });
		await expect(found).rejects.toBe("stopped");
		expect(sources.registry.findModel("openai", "new-1")).toBeUndefined();
	});
});

test("the catalog is at models.dev unless the settings name another address", () => {
	expect(fillDefaults(SETTINGS_SCHEMA, {}).models).toEqual({ update: "never", catalog: "https://models.dev/api.json" });
});
