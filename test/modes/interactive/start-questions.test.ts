import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAUSE_MS } from "../../../src/util/clock.js";
import { skipTime } from "../../helpers/skip-time.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";
import { startApp } from "./app.js";

describe("the question about code", () => {
	const HOOK = 'export default (pi) => pi.command("fromproject", { description: "it ran", handler() {} });';

	test("replaces the editor; y runs the code, and pi does not ask again until it changes", async () => {
		const agentDir = tempAgentDir();
		const app = await startApp({ agentDir, files: { ".pi/hooks/deploy.ts": HOOK } });
		await app.terminal.waitFor("Run it?");
		expect((await app.terminal.screen()).join("\n")).toMatch(/\.pi\/hooks\/deploy\.ts +90 B +[0-9a-f]{12} +new/);
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("1 hook");
		await app.terminal.type("/fromp");
		await app.terminal.waitFor("it ran");
		await app.session().dispose();

		const again = await startApp({ agentDir, cwd: app.cwd });
		await again.terminal.waitFor("1 hook");
		writeFiles(app.cwd, { ".pi/hooks/deploy.ts": `${HOOK}\nconst more = 1;\n` });
		await again.submit("/reload");
		await again.terminal.waitFor(/changed since \d+ \w+ +\+2 −1/);
		// Keys that directly follow the Enter of the command are not meant for the question.
		skipTime(Math.ceil(PAUSE_MS / 1000));
		await again.terminal.type("v");
		await again.terminal.waitFor("const more = 1;");
		await again.terminal.press("escape");
		await again.terminal.waitFor("Run it?");
		skipTime(1);
		await again.terminal.type("n");
		await again.terminal.waitFor("was not run");
		expect(again.session().loaded.hooks.filter(({ scope }) => scope !== "bundled")).toEqual([]);
	});

	test("/trust shows the state and revokes trust", async () => {
		const app = await startApp({ files: { ".pi/hooks/deploy.ts": HOOK } });
		await app.terminal.waitFor("Run it?");
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("1 hook");
		await app.submit("/trust");
		await app.terminal.waitFor("forget");
		expect((await app.terminal.screen()).join("\n")).toMatch(/deploy\.ts +\d+ bytes +[0-9a-f]{12} +trusted/);
		await app.terminal.press("down", "enter");
		await app.terminal.waitFor("no longer trusted");
		const again = await startApp({ agentDir: app.agentDir, cwd: app.cwd });
		await again.terminal.waitFor("Run it?");
		expect(join(again.cwd)).toBe(app.cwd);
	});
});

describe("the question about a handle", () => {
	const HOOK = `export default (pi) => {
		pi.requires("systemItems");
		pi.command("say", { description: "it loaded", handler: (ctx) => ({ status: typeof ctx.systemItems }) });
	};`;
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
