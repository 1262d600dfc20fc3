import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { agentDirFor, modesLeftOn, openPi } from "./support.js";

const BAR = "\x1b[6 q";
const USUAL = "\x1b[0 q";

test.each([40, 80])("with the keys of vim, a prompt is edited and sent at %i columns", async (columns) => {
	const provider = await startProvider();
	provider.reply("Seen.");
	const pi = await openPi({
		agentDir: agentDirFor(provider, { settings: { editor: { vim: true } } }),
		columns,
		rows: 30,
	});
	await pi.waitForText("INSERT");
	pi.type("hello brave world");
	await pi.waitForText("hello brave world");
	await pi.press("escape");
	await pi.waitForText("NORMAL");
	pi.type("bbciw");
	await pi.waitForText("INSERT");
	pi.type("new");
	await pi.waitForText("hello new world");
	await pi.press("escape");
	await pi.waitForText("NORMAL");
	pi.type("w.");
	await pi.waitForText("hello new new");
	pi.type("u");
	await pi.waitForText("hello new world");
	pi.type("yyp");
	await pi.waitForText(/hello new world\n.*hello new world/);
	pi.type("dd");
	await pi.waitForGone(/hello new world\n.*hello new world/);
	pi.type("u");
	await pi.waitForText(/hello new world\n.*hello new world/);
	pi.type("dd2d");
	await pi.waitForText("2d NORMAL");
	await pi.press("escape");
	await pi.waitForGone("2d NORMAL");
	pi.type("0/wor");
	await pi.waitForText(/NORMAL ──\n \/wor/);
	await pi.press("enter");
	await pi.waitForGone(/\/wor/);
	pi.type("ve");
	await pi.waitForText("VISUAL");
	pi.type("U");
	await pi.waitForText("hello new WORLD");
	await pi.press("enter");
	await pi.waitForText("Seen.");
	await pi.waitForText("INSERT");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("hello new WORLD");
	await pi.waitForGone("stops");

	await pi.press("escape");
	await pi.waitForText("NORMAL");
	pi.type("k");
	await pi.waitForText(/─\n hello new WORLD/);
	pi.type("dd");
	await pi.waitForGone(/─\n hello new WORLD/);
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	expect(pi.output().lastIndexOf(BAR)).toBeLessThan(pi.output().lastIndexOf(USUAL));
	expect(modesLeftOn(pi.output())).toEqual([25]);
});

test("during a run the first Escape ends insert mode and the next one stops, as the status line says", async () => {
	const provider = await startProvider();
	let end = () => {};
	provider.reply({
		content: [{ type: "text", text: "Working on it" }],
		hold: new Promise<void>((resolve) => {
			end = resolve;
		}),
	});
	const pi = await openPi({
		agentDir: agentDirFor(provider, { settings: { editor: { vim: true } } }),
		columns: 80,
		rows: 30,
	});
	await pi.waitForText("INSERT");
	pi.type("go");
	await pi.press("enter");
	await pi.waitForText("esc esc stops");
	await pi.press("escape");
	await pi.waitForText("NORMAL");
	await pi.waitForGone("esc esc stops");
	await pi.waitForText("esc stops");
	await pi.press("escape");
	await pi.waitForText("stopped");
	end();
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("without the setting, Escape and letters do what they always did", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), columns: 80, rows: 30 });
	await pi.waitForText("0%");
	pi.type("hello");
	await pi.waitForText("hello");
	await pi.press("escape");
	pi.type("dd");
	await pi.waitForText("hellodd");
	expect(pi.output()).not.toContain(BAR);
	expect(await pi.screen()).not.toContain("INSERT");
	await pi.press("ctrl+c", "ctrl+c");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});
