import { expect, test } from "vitest";
import { startApp } from "../modes/interactive/app.js";
import { tryExample } from "./example.js";

test("the title says if the agent works, and /quiet restores everything", async () => {
	const titles: (string | null)[] = [];
	const working: (string | null)[] = [];
	const t = await tryExample("quiet-screen.ts", {
		replies: [
			() => {
				titles.push(t.screen.title);
				working.push(t.screen.workingMessage);
				return "ok";
			},
		],
	});
	await t.run("go");
	expect(titles).toEqual(["● pi · project"]);
	expect(working).toEqual(["working"]);
	expect(t.screen).toMatchObject({ title: "pi · project", header: ["pi · project"] });
	expect(t.screen.editor).toEqual([""]);
	const look = { indicator: { frames: ["·"] }, thinkingLabel: "thought about it" };
	expect(t.screen.look).toEqual(look);
	await t.run("/quiet");
	expect(t.screen).toMatchObject({
		title: null,
		header: null,
		footer: null,
		workingMessage: null,
		editor: null,
		look: {},
	});
	await t.run("/quiet plain");
	expect(t.screen).toMatchObject({ header: ["pi · project"], look: { ...look, theme: "plain" } });
	await t.run("/quiet");
	expect(t.screen.look).toEqual({});
	expect(t.errors).toEqual([]);
});

test.each([40, 120])("at %i columns header and footer have one line each", async (columns) => {
	const app = await startApp({ columns, agentSettings: { hooks: ["pi:quiet-screen"] } });
	app.provider.reply("Hello.");
	await app.terminal.waitFor("pi · shop");
	await app.submit("hi");
	await app.terminal.waitFor("Hello.");
	const lines = (await app.terminal.screen()).map((line) => line.trim()).filter(Boolean);
	expect(lines[0]).toBe("pi · shop");
	expect(lines.at(-1)).toBe("scripted · 0 %");
});
