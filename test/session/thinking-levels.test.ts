import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";

/** A model that always thinks, and has no level above high but max. */
const ALWAYS = { reasoning: true, thinkingLevelMap: { off: null, minimal: null, xhigh: null, max: "max" } } as const;
const OFF = "scripted always thinks · using low";

test("a level of the options that the model lacks is a warning, and the request gets the nearest one", async () => {
	const { session, provider } = await startSession({
		...{ modelOptions: { ...ALWAYS, apis: ["openai-responses"] }, model: "loopback-responses/scripted" },
		thinkingLevel: "off",
	});
	expect(session.loaded.warnings).toEqual([OFF.replace("scripted", "Scripted")]);
	provider.reply("ok");
	await session.prompt("hi");
	expect(provider.requests[0]?.body.reasoning).toEqual({ effort: "low", summary: "auto" });
});

test("a level that nobody chose is no warning", async () => {
	const { session, notices } = await startSession({
		modelOptions: { reasoning: true, thinkingLevelMap: { medium: null } },
	});
	expect([session.loaded.warnings, notices()]).toEqual([[], []]);
});

test("cycling skips the levels that the model lacks", async () => {
	const { session } = await startSession({ modelOptions: ALWAYS, thinkingLevel: "high" });
	const cycle = () => session.cycleThinkingLevel();
	expect([cycle(), cycle(), cycle(), cycle()]).toEqual(["max", "low", "medium", "high"]);
	session.setThinkingLevel("xhigh");
	// The model thinks at max.
	expect(cycle()).toBe("low");
});

test("a chosen level is kept for the next model, and one notice names the level that is used instead", async () => {
	const { session, provider, notices } = await startSession({ modelOptions: ALWAYS });
	session.setThinkingLevel("max");
	expect(notices()).toEqual([]);
	await session.setModel(provider.model({ id: "small", reasoning: true }));
	expect(notices()).toEqual(["small has no thinking level max · using high"]);
	await session.setModel(provider.model({ id: "blunt" }));
	expect(notices().slice(1)).toEqual(["blunt does not support thinking"]);
	await session.setModel(provider.model({ id: "large", ...ALWAYS }));
	expect([session.thinkingLevel, notices().length]).toEqual(["max", 2]);
});

test.each(["/thinking max", "/model loopback/scripted:max"])("%s says which level is used", async (command) => {
	const { session, notices } = await startSession({ modelOptions: { reasoning: true } });
	const result = await session.prompt(command);
	expect(notices()).toContain("Scripted has no thinking level max · using high");
	expect(JSON.stringify([result, notices()])).toMatch(/[Tt]hinking: high/);
	expect(session.thinkingLevel).toBe("max");
});

test("an unknown level of /thinking names those that the model has", async () => {
	const { session } = await startSession({ modelOptions: ALWAYS });
	await expect(session.prompt("/thinking hgih")).rejects.toMatchObject({
		message: 'Unknown thinking level "hgih"',
		hint: "use low, medium, high, max",
	});
});

test("a hook chooses a level, and the notice is the same", async () => {
	const hook = `export default (pi) => pi.command("hard", { description: "d", handler: (ctx) => ctx.setThinkingLevel("max") })`;
	const { session, notices } = await startSession({ modelOptions: { reasoning: true }, hooks: { "hard.ts": hook } });
	await session.prompt("/hard");
	expect(notices()).toEqual(["Scripted has no thinking level max · using high"]);
});

test("max is saved, and a continued session uses it", async () => {
	const { session, provider, cwd, agentDir } = await startSession({ modelOptions: ALWAYS, session: { kind: "new" } });
	session.setThinkingLevel("max");
	provider.reply("ok");
	await session.prompt("hi");
	await session.dispose();
	const again = await startSession({ provider, agentDir, cwd, modelOptions: ALWAYS, session: { kind: "continue" } });
	expect([again.session.thinkingLevel, again.notices()]).toEqual(["max", []]);
});
