import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { serve as serveAcp } from "./acp/serve.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

/** A model that always thinks, and has no level above high but max. */
const ALWAYS = { reasoning: true, thinkingLevelMap: { off: null, minimal: null, xhigh: null, max: "max" } } as const;
const OFF = "Scripted always thinks · using low";

test.each([80, 120])(
	"at %i columns the footer shows the level that requests use, and alt+t skips the others",
	async (columns) => {
		const app = await startApp({ columns, modelOptions: ALWAYS });
		await app.terminal.waitFor("medium");
		await app.terminal.press("alt+t");
		await app.terminal.waitFor("high");
		await app.terminal.press("alt+t");
		await app.terminal.waitFor("max");
		await app.terminal.press("alt+t");
		await app.terminal.waitFor("low");
		await app.submit("/thinking off");
		await app.terminal.waitFor("always thinks");
		await app.terminal.waitFor("· low");
		expect(app.session().thinkingLevel).toBe("off");
	},
);

test("/thinking offers and completes only the levels of the model", async () => {
	const app = await startApp({ modelOptions: ALWAYS });
	await app.terminal.waitFor("medium");
	await app.terminal.type("/thinking m");
	const list = await app.terminal.waitFor(/medium\s+max/);
	expect(list.join("\n")).not.toContain("minimal");
	await app.terminal.press("escape", "ctrl+c");
	await app.submit("/thinking");
	const picker = await app.terminal.waitFor("Which thinking level?");
	expect(picker.join("\n")).toContain("max");
	expect(picker.join("\n")).not.toContain("xhigh");
});

test("/model completes and uses the suffix :max", async () => {
	const app = await startApp({ modelOptions: ALWAYS });
	await app.terminal.waitFor("medium");
	await app.terminal.type("/model loopback/scripted:m");
	await app.terminal.waitFor("thinking: max");
	await app.terminal.press("escape", "ctrl+c");
	await app.submit("/model loopback/scripted:max");
	await app.terminal.waitFor("thinking: max");
	expect(app.session().thinkingLevel).toBe("max");
});

test("RPC sets max, cycles over it, and reports the level that is used instead of another", async () => {
	const { client, lines } = await serveRpc({ modelOptions: ALWAYS });
	await client.call("set_thinking_level", { level: "max" });
	expect(await client.call("get_state")).toMatchObject({ thinkingLevel: "max" });
	expect(await client.call("cycle_thinking_level")).toEqual({ level: "low" });
	await client.call("set_thinking_level", { level: "off" });
	expect(lines).toContainEqual({ type: "notice", level: "warning", message: OFF });
});

test("ACP offers max, and only levels of the model", async () => {
	const { editor, opened, id } = await serveAcp({ modelOptions: ALWAYS });
	const values = JSON.stringify(opened.configOptions?.find((option) => option.id === "thinking"));
	expect(values).toMatch(/low.*medium.*high.*max/);
	expect(values).not.toMatch(/off|minimal|xhigh/);
	const { configOptions } = await editor.agent.request(methods.agent.session.setConfigOption, {
		...{ sessionId: id, configId: "thinking", value: "max" },
	});
	expect(configOptions).toContainEqual(expect.objectContaining({ id: "thinking", currentValue: "max" }));
});

test("the plain mode says which level is used", async () => {
	const { provider, session, enter, until } = await startPlain();
	provider.reply("Hello.");
	enter("hi");
	await until("Hello.");
	const { model } = session();
	if (!model) throw new Error("the session has no model");
	await session().setModel({ ...model, ...ALWAYS, id: "thinker", name: "Scripted" });
	enter("/thinking off");
	await until(OFF);
	expect(session().thinkingLevel).toBe("off");
});
