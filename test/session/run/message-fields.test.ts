import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isObject, objects, parseJson } from "../../helpers/json.js";
import { startProvider, text, thinking } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

/** The efforts that a request names between its messages, and the roles of the others. */
const efforts = (body: Record<string, unknown>) =>
	objects(body.messages).map(({ role, output_config: config }) => (isObject(config) ? config.effort : role));

test("the effort of each reply is saved, and sent again after the session is opened again", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	const open = async (session: "new" | "continue") => {
		const started = await startSession({ provider, agentDir, cwd, session: { kind: session } });
		const anthropic = { baseUrl: provider.baseUrl("anthropic-messages"), apiKey: "key" };
		writeFiles(agentDir, { "models.json": { providers: { anthropic } } });
		await started.session.prompt("/reload");
		await started.session.setModel("anthropic/claude-opus-5-5");
		return started.session;
	};
	const session = await open("new");
	session.setThinkingLevel("high");
	provider.reply([thinking("hm", "c2ln"), text("one")], "two", "three");
	await session.prompt("first");
	session.setThinkingLevel("low");
	await session.prompt("second");
	await session.dispose();

	const [reply] = readFileSync(session.sessionFile ?? "", "utf8")
		.split("\n")
		.map(parseJson)
		.filter((entry) => isObject(entry) && isObject(entry.message) && entry.message.role === "assistant");
	expect(reply).toMatchObject({ message: { providerThinkingLevel: "high", rawStopReason: "end_turn" } });

	const again = await open("continue");
	again.setThinkingLevel("max");
	await again.prompt("third");
	expect(provider.requests.map(({ body }) => efforts(body))).toEqual([
		["user", "high"],
		["user", "high", "assistant", "user", "low"],
		["user", "high", "assistant", "user", "low", "assistant", "user", "max"],
	]);
});
