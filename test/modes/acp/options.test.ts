import { methods, type SessionConfigOption } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const { session } = methods.agent;

const valuesOf = (options: readonly SessionConfigOption[] | null | undefined) =>
	Object.fromEntries((options ?? []).map(({ id, currentValue }) => [id, currentValue]));

test("models and thinking levels are options of their categories", async () => {
	const { opened } = await serve({ modelOptions: { reasoning: true } });
	expect(opened.modes).toBeUndefined();
	expect(opened.configOptions).toMatchObject([
		{
			...{ id: "model", type: "select", category: "model", currentValue: "loopback/scripted" },
			options: [{ value: "loopback/scripted", name: "Scripted" }, { value: "loopback-anthropic/scripted" }],
		},
		{ id: "thinking", type: "select", category: "thought_level", options: expect.any(Array) },
	]);
});

test("a model that does not think has no thinking option", async () => {
	const { opened } = await serve();
	expect(opened.configOptions?.map(({ id }) => id)).toEqual(["model"]);
});

test("a changed option applies to the next request, and is answered with all options", async () => {
	const { editor, provider, id } = await serve({ modelOptions: { reasoning: true } });
	const change = async (configId: string, value: string) =>
		valuesOf((await editor.agent.request(session.setConfigOption, { sessionId: id, configId, value })).configOptions);
	expect(await change("thinking", "high")).toEqual({ model: "loopback/scripted", thinking: "high" });
	expect(await change("model", "loopback-anthropic/scripted")).toMatchObject({ model: "loopback-anthropic/scripted" });
	provider.reply("ok");
	await editor.prompt(id, "hi");
	expect(provider.requests[0]?.api).toBe("anthropic-messages");
});

test("a model chosen with a command is an update", async () => {
	const { editor, id } = await serve();
	await editor.prompt(id, "/model loopback-anthropic/scripted");
	const { configOptions } = await editor.waitFor("config_option_update");
	expect(valuesOf(configOptions)).toMatchObject({ model: "loopback-anthropic/scripted" });
});

test.each([
	[
		"model",
		"nobody/nothing",
		'Option model has no value "nobody/nothing" · use loopback/scripted, loopback-anthropic/scripted',
	],
	["thinking", "very", 'Option thinking has no value "very" · use off'],
	["speed", "fast", 'The session has no option "speed" · use model'],
	["mode", "plan", "The session has no modes"],
])("option %s with the value %s is refused", async (configId, value, message) => {
	const { editor, id } = await serve();
	const answer = editor.agent.request(session.setConfigOption, { sessionId: id, configId, value });
	await expect(answer).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(message) });
});

test("the hook plan-mode provides modes, which the client can switch", async () => {
	const { editor, provider, opened, id } = await serve({
		bundledHooks: true,
		userSettings: { hooks: ["pi:plan-mode"] },
	});
	expect(opened.modes).toEqual({
		currentModeId: "act",
		availableModes: [
			{ id: "act", name: "Act", description: "the model can use all tools" },
			{ id: "plan", name: "Plan", description: "the model can only read, and ends its answer with a plan" },
		],
	});
	expect(valuesOf(opened.configOptions)).toMatchObject({ mode: "act" });
	await editor.agent.request(session.setMode, { sessionId: id, modeId: "plan" });
	expect(await editor.waitFor("current_mode_update")).toMatchObject({ currentModeId: "plan" });
	provider.reply([toolCall("write", { path: "a", content: "" }, "c1")], "I cannot.");
	await editor.prompt(id, "go");
	expect(editor.call("c1")).toMatchObject({ status: "failed" });
	const back = await editor.agent.request(session.setConfigOption, {
		sessionId: id,
		configId: "mode",
		value: "act",
	});
	expect(valuesOf(back.configOptions)).toMatchObject({ mode: "act" });
	const unknown = editor.agent.request(session.setMode, { sessionId: id, modeId: "turbo" });
	await expect(unknown).rejects.toMatchObject({ message: 'The session has no mode "turbo" · use act, plan' });
});
