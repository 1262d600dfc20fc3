import { join } from "node:path";
import { expect, test } from "vitest";
import { saveLastModel } from "../../../src/models/last-models.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { startApp } from "./app.js";

test.each([
	[40, ["lab/the-remembered-model is gone;", "using lab/a"]],
	[80, ["lab/the-remembered-model is gone; using lab/a"]],
	[120, ["lab/the-remembered-model is gone; using lab/a"]],
])("a remembered model that is gone is named with the one used instead, at %i columns", async (columns, expected) => {
	const cwd = tempDir();
	const lab = { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id: "a" }] };
	const agentDir = tempAgentDir({ models: { providers: { lab } } });
	await saveLastModel(join(agentDir, "last-models.json"), cwd, {
		provider: "lab",
		modelId: "the-remembered-model",
		thinkingLevel: "low",
	});
	const app = await startApp({ columns, cwd, agentDir, withoutModel: true });
	await app.terminal.waitFor(" 0%");
	const screen = (await app.terminal.screen()).map((row) => row.replace(/^[▎⚠!\s]+/, "").trimEnd());
	const at = screen.findIndex((row) => row.startsWith("lab/the-remembered"));
	expect(screen.slice(at, at + expected.length)).toEqual(expected);
});
