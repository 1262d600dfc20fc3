import type { Api, Model } from "@mariozechner/pi-ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { builtInModels } from "../../src/models/built-in-models.js";
import { BEDROCK_ENV, startCapture } from "../helpers/capture-request.js";
import { judgeThinking } from "../helpers/judge-thinking.js";
import { LEVELS, type Level } from "./wire-table.js";

/** Cloudflare's addresses contain the account. */
const ACCOUNT = { CLOUDFLARE_API_KEY: "key", CLOUDFLARE_ACCOUNT_ID: "account", CLOUDFLARE_GATEWAY_ID: "gateway" };

let client: Awaited<ReturnType<typeof startCapture>>;
beforeAll(async () => {
	for (const [name, value] of Object.entries({ ...BEDROCK_ENV, ...ACCOUNT })) vi.stubEnv(name, value);
	client = await startCapture();
});
afterAll(() => {
	client.close();
	vi.unstubAllEnvs();
});

/** Radius has a format of its own, whose server builds the request to the provider. */
const models = builtInModels()
	.lists.all()
	.filter(({ api }) => api !== "pi-messages");

/** Models of one provider that differ only in facts that no request depends on. */
const groups = new Map<string, Model<Api>[]>();
for (const model of models) groups.set(factsOf(model), [...(groups.get(factsOf(model)) ?? []), model]);

function factsOf({ provider, api, reasoning, thinkingLevelMap, compat }: Model<Api>): string {
	return JSON.stringify({ provider, api, reasoning, thinkingLevelMap, compat });
}

/** Every level of the first model of each group; of the others, one request in 32. All of them take 15 s. */
const requests = [...groups.values()].flatMap((group) =>
	group.flatMap((model, index) =>
		LEVELS.map((level, at) => ({ model, level, isSent: index === 0 || (index * 7 + at) % 32 === 0 })),
	),
);

async function issuesOf(model: Model<Api>, level: Level): Promise<string[]> {
	const { body, headers } = await client.capture(model, { level });
	return judgeThinking(model.api, body, headers, model).map(
		(issue) => `${model.provider}/${model.id} at ${level}: ${issue}`,
	);
}

test("every model of the list gets a legal request at every level, also at those that it lacks", async () => {
	const issues: string[] = [];
	for (const { model, level, isSent } of requests) if (isSent) issues.push(...(await issuesOf(model, level)));
	expect(issues).toEqual([]);
}, 60_000);
