import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSession } from "../../helpers/session.js";

test("/settings prints each setting with its value, source and description", async () => {
	const { session } = await startSession({
		userSettings: { theme: "light", retry: { maxRetries: 5 }, apiKeys: { openai: "sk-very-secret" } },
		files: { ".pi/settings.json": { theme: "dark" } },
	});
	const outcome = await session.prompt("/settings");
	const lines = outcome.kind === "command" ? (outcome.status ?? "").split("\n") : [];
	expect(lines.slice(0, 2)).toEqual(["Settings", "Model:"]);
	expect(lines).toContainEqual("Cost and privacy:");
	expect(lines).toContainEqual(expect.stringMatching(/^theme +dark +project +name of a theme that/));
	expect(lines).toContainEqual(expect.stringMatching(/^retry\.maxRetries +5 +user +maximum number of retries$/));
	expect(lines).toContainEqual(expect.stringMatching(/^retry\.enabled +true +default +retry requests/));
	expect(lines).toContainEqual(expect.stringMatching(/^apiKeys +1 entry +user +/));
	expect(lines.join("\n")).not.toContain("sk-very-secret");
});

test("/settings name value keeps the rest of the file and takes effect immediately", async () => {
	const { session, agentDir } = await startSession({ userSettings: { retry: { baseDelayMs: 5 }, mine: [1] } });
	const say = (line: string) => session.prompt(line);
	expect(await say("/settings retry.maxRetries 7")).toMatchObject({
		status: "retry.maxRetries: 7 · saved, applies now",
	});
	expect(await say("/settings queueMode all")).toMatchObject({ status: "queueMode: all · saved, applies now" });
	expect(await say("/settings compaction.enabled off")).toMatchObject({
		status: "compaction.enabled: false · saved, applies now",
	});
	expect(await say("/settings defaultThinkingLevel high")).toMatchObject({
		status: "defaultThinkingLevel: high · saved, applies now",
	});
	expect(await say("/settings skills.enabled false")).toMatchObject({
		status: "skills.enabled: false · saved, applies at the next start",
	});
	expect(session.settings.retry).toEqual({ enabled: true, maxRetries: 7, baseDelayMs: 5 });
	expect([session.controls.queueMode, session.autoCompaction, session.thinkingLevel]).toEqual(["all", false, "high"]);
	expect(JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"))).toEqual({
		retry: { baseDelayMs: 5, maxRetries: 7 },
		mine: [1],
		queueMode: "all",
		compaction: { enabled: false },
		defaultThinkingLevel: "high",
		skills: { enabled: false },
	});
});

test("/settings explains invalid values, suggests names and reports overrides of the project", async () => {
	const { session } = await startSession({ files: { ".pi/settings.json": { queueMode: "all" } } });
	await expect(session.prompt("/settings retry.maxRetries many")).rejects.toThrow(
		'retry.maxRetries must be a whole number from 0 to 100, not "many"',
	);
	await expect(session.prompt("/settings hooks a.ts")).rejects.toMatchObject({
		hint: "edit settings.json to change it",
	});
	await expect(session.prompt("/settings quemode all")).rejects.toMatchObject({ hint: "did you mean queueMode?" });
	expect(await session.prompt("/settings queueMode one-at-a-time")).toMatchObject({
		status: "queueMode: saved, but .pi/settings.json of this project overrides it",
	});
	expect(session.controls.queueMode).toBe("all");
	expect(await session.prompt("/settings retry.maxRetries")).toMatchObject({
		status: "retry.maxRetries: 10 · maximum number of retries",
	});
});

test("/settings completes names and values", async () => {
	const { session } = await startSession();
	const complete = async (prefix: string) =>
		(await session.completeArguments("settings", prefix)).map(({ value }) => value);
	expect(await complete("retry")).toEqual(["retry.enabled", "retry.maxRetries", "retry.baseDelayMs"]);
	expect(await complete("queueMode a")).toEqual(["queueMode all"]);
	expect(await complete("apiKeys")).toEqual([]);
	expect(await complete("defaultModel loopback/")).toContain("defaultModel loopback/scripted");
});

test.each([
	["shellPath /no/such/shell", "/no/such/shell does not exist", "use the absolute path of a shell, such as /bin/bash"],
	["defaultModel loopback/scriptd", 'No model "loopback/scriptd"', "did you mean loopback/scripted?"],
	["defaultProvider antropic", 'No provider "antropic"', "did you mean anthropic?"],
])("/settings %s is refused before it is saved", async (line, message, hint) => {
	const { session, agentDir } = await startSession();
	await expect(session.prompt(`/settings ${line}`)).rejects.toMatchObject({ message, hint });
	expect(existsSync(join(agentDir, "settings.json"))).toBe(false);
});
