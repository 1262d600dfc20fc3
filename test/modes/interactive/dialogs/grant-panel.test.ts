import { readFileSync } from "node:fs";
import { join } from "node:path";
import { visibleWidth } from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import type { GrantAnswer } from "../../../../src/hooks/handles.js";
import { GrantPanel } from "../../../../src/modes/interactive/dialogs/grant-panel.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { PAUSE_MS } from "../../../../src/util/clock.js";
import { FakeTiming } from "../../../helpers/fake-timing.js";
import { skipTime } from "../../../helpers/skip-time.js";
import { tempAgentDir } from "../../../helpers/temp.js";
import { startApp } from "../app.js";

const HOOK = `export default (pi) => {
	pi.requires("systemItems");
	pi.command("say", { description: "it loaded", handler: (ctx) => ({ status: typeof ctx.systemItems }) });
};`;

function open({ lastKeyAgoMs = PAUSE_MS } = {}) {
	const timing = new FakeTiming();
	const lastKeyAt = timing.now() - lastKeyAgoMs;
	const guard = { timing, lastKeyAt: () => lastKeyAt };
	const answers: GrantAnswer[] = [];
	const path = "/home/ada/shop/.pi/hooks/task-reminder.ts";
	const file = { path, realPath: path, scope: "project", name: "task-reminder" } as const;
	const panel = new GrantPanel(
		{ theme: createTheme("plain"), keymap: createKeymap() },
		{ request: { file, handle: "systemItems" }, paths: { cwd: "/home/ada/shop", home: "/home/ada" }, guard },
		(answer) => answers.push(answer),
	);
	const press = (...keys: string[]) => {
		for (const key of keys) {
			panel.render(80);
			timing.pass(PAUSE_MS);
			panel.handleInput(key);
			timing.pass(PAUSE_MS);
		}
	};
	return { panel, answers, timing, press };
}

describe("the question", () => {
	test.each([80, 40])("at %d columns names the hook, the handle, its meaning and the keys", async (width) => {
		const lines = open().panel.render(width);
		expect(lines.filter((line) => visibleWidth(line) > width)).toEqual([]);
		const text = `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
		await expect(text).toMatchFileSnapshot(`../../../screens/grant-${width}.txt`);
	});

	test.each([
		["y", "grant"],
		["o", "once"],
		["n", "no"],
		["\x1b", "no"],
	])("%j answers %s; other keys do nothing", (key, answer) => {
		const { press, answers } = open();
		press("\r", "x", " ", key);
		expect(answers).toEqual([answer]);
	});

	test("ignores keys that were meant for the editor", () => {
		const { panel, press, timing, answers } = open({ lastKeyAgoMs: 0 });
		panel.render(80);
		timing.pass(PAUSE_MS - 1);
		panel.handleInput("y");
		timing.pass(PAUSE_MS);
		expect(answers).toEqual([]);
		press("o");
		expect(answers).toEqual(["once"]);
	});

	test("ignores a letter of a word, and one that is pressed when the question has just appeared", () => {
		const { panel, timing, answers } = open();
		panel.handleInput("y");
		timing.pass(PAUSE_MS);
		panel.render(80);
		timing.pass(1);
		panel.handleInput("y");
		timing.pass(PAUSE_MS);
		for (const key of "yes") {
			panel.handleInput(key);
			timing.pass(100);
		}
		timing.pass(PAUSE_MS);
		expect(answers).toEqual([]);
	});
});

describe("in the shell", () => {
	const settingsOf = (agentDir: string) => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));

	test("y loads the hook, is saved next to other settings, and is not asked again", async () => {
		const kept = { mystery: 1, hookGrants: { "other.ts": ["systemItems"] } };
		const agentDir = tempAgentDir({ hooks: { "asks.ts": HOOK }, settings: kept });
		const app = await startApp({ agentDir });
		await app.terminal.waitFor("asks for systemItems");
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("1 hook");
		expect(await app.session().prompt("/say")).toMatchObject({ status: "object" });
		const path = join(agentDir, "hooks", "asks.ts");
		expect(settingsOf(agentDir)).toEqual({ ...kept, hookGrants: { ...kept.hookGrants, [path]: ["systemItems"] } });
		await app.submit("/reload");
		await app.terminal.waitFor("1 hook loaded");
	});

	test("o applies to this run, including reloads, and is not saved", async () => {
		const agentDir = tempAgentDir({ hooks: { "asks.ts": HOOK }, settings: { mystery: 1 } });
		const app = await startApp({ agentDir });
		await app.terminal.waitFor("asks for systemItems");
		skipTime(1);
		await app.terminal.type("o");
		await app.terminal.waitFor("1 hook");
		await app.submit("/reload");
		await app.terminal.waitFor("1 hook loaded");
		expect(settingsOf(agentDir)).toEqual({ mystery: 1 });
	});

	test("n skips the hook and prints how to grant it; for a project's hook the question comes after that about its code", async () => {
		const app = await startApp({ files: { ".pi/hooks/asks.ts": HOOK } });
		await app.terminal.waitFor("Run it?");
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("asks for systemItems");
		skipTime(1);
		await app.terminal.type("n");
		await app.terminal.waitFor("did not load: it requires");
		expect(app.session().loaded.hooks.filter(({ scope }) => scope !== "bundled")).toEqual([]);
	});
});
