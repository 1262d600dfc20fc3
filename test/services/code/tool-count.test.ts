import { expect, test } from "vitest";
import { builtInModels } from "../../../src/models/built-in-models.js";
import { isObject } from "../../helpers/json.js";
import { type LoopbackApi, startProvider } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

const HOOK = `export default (pi) =>
	pi.tool({ name: "shout", description: "shouts", parameters: { type: "object", properties: {} }, run: async () => ({ content: "" }) });`;

test.each<[string, string, LoopbackApi]>([
	["anthropic", "claude-opus-5-5", "anthropic-messages"],
	["openai", "gpt-6-sol", "openai-responses"],
	["moonshotai", "kimi-k3", "openai-completions"],
])("a request to %s/%s has the tools that /context counts, and no others", async (maker, id, api) => {
	const provider = await startProvider();
	const { session } = await startSession({ provider, hooks: { "shout.ts": HOOK } });
	const known = builtInModels().lists.find(maker, id);
	if (!known) throw new Error("not listed");
	await session.setModel({ ...known, provider: "loopback", baseUrl: provider.baseUrl(api) });
	provider.reply("Hello.");
	await session.prompt("hi");
	const { tools } = provider.requests[0]?.body ?? {};
	const names = (Array.isArray(tools) ? tools : []).map((tool) =>
		isObject(tool.function) ? tool.function.name : tool.name,
	);
	const inspection = await session.inspector.inspectContext();
	expect(names).toEqual(inspection.ledger.tools.map(({ name }) => name));
	expect(names).toContain("shout");
});
