import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TuiMainScreen } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test, vi } from "vitest";
import { text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { skipTime } from "../../helpers/skip-time.js";
import { tempDir } from "../../helpers/temp.js";
import { startApp } from "./app.js";

/** A screen with values that differ between runs replaced. */
function stable(screen: string[]): string {
	return `${screen.join("\n").replace(/\/tmp\/pi-agent-\w+/g, "/tmp/pi-agent-xxxxxx")}\n`;
}

test("the first screen shows loaded resources, basic keys and the directory", async () => {
	const app = await startApp({
		hooks: { "a.ts": "export default () => {};", "broken.ts": "export default 7;" },
		files: { "AGENTS.md": "Be brief.", ".git/HEAD": "ref: refs/heads/main\n" },
	});
	await app.terminal.waitFor("Scripted");
	await expect(stable(await app.terminal.screen())).toMatchFileSnapshot("../../screens/start.txt");
});

test("the session starts after the first frame, also when a busy machine delays the frame", async () => {
	const scheduler = TuiMainScreen.prototype as unknown as { scheduleRender(): void };
	const { scheduleRender } = scheduler;
	vi.spyOn(scheduler, "scheduleRender").mockImplementation(function (this: TuiMainScreen) {
		setTimeout(() => scheduleRender.call(this), 50);
	});
	onTestFinished(() => void vi.restoreAllMocks());
	let drawn = "";
	const startSession = async () => {
		drawn = app.terminal.writes.join("");
		throw new Error("no session");
	};
	const app = await startApp({ mode: { startSession } });
	await expect(app.exit).rejects.toThrow("no session");
	expect(drawn).toContain("────");
});

test("a prompt runs, its answer streams in, and quitting shows how to resume", async () => {
	const app = await startApp();
	app.provider.reply("Hello **there**.");
	await app.terminal.waitFor("context");
	await app.submit("hi");
	await app.terminal.waitFor("Hello there.");
	expect(await app.terminal.screen()).toContain("▎ › hi");
	await app.terminal.press("ctrl+d");
	expect(await app.exit).toBe(0);
	expect(app.terminal.running).toBe(false);
	const id = app.session().sessionId.slice(0, 8);
	expect(await app.terminal.text()).toContain(`Resume this session with pi --session ${id}`);
});

test("prompts sent before the session has started are delivered in order", async () => {
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	const app = await startApp({ hold });
	app.provider.reply("First answer.", "Second answer.");
	await app.submit("first");
	await app.submit("second");
	await app.terminal.type("a draft");
	expect(await app.terminal.screen()).toEqual(expect.arrayContaining(["→ next: first", "→ next: second"]));
	release();
	await app.terminal.waitFor("Second answer.");
	expect(app.session().stats().userMessages).toBe(2);
	expect(await app.terminal.text()).toContain(" a draft");
});

test("notices of hooks during startup remain visible, and a failing hook is named", async () => {
	const app = await startApp({
		hooks: {
			"hello.ts": 'export default (pi) => pi.on("session", (e, ctx) => ctx.ui.notify("hello from the hook"));',
			"sad.ts": 'export default (pi) => pi.on("session", () => { throw new Error("no luck"); });',
		},
	});
	await app.terminal.waitFor("no luck");
	const screen = await app.terminal.text();
	expect(screen).toContain("· hello from the hook");
	expect(screen).toContain("✗ Hook sad.ts:1:55 failed on session: no luck");
});

test("prompts and commands from the command line are sent in order, and the suggestion stays", async () => {
	const prompts = [{ text: "/name by hand" }, { text: "one" }, { text: "two" }];
	const app = await startApp({ mode: { prompts, suggestion: "try /context" } });
	app.provider.reply("Answer one.", "Answer two.");
	const screen = await app.terminal.waitFor("Answer two.");
	const order = ["▎ › one", "▎ Answer one.", "▎ › two", "▎ Answer two."].map((line) => screen.indexOf(line));
	expect(order).toEqual([...order].sort((a, b) => a - b));
	expect(order[0]).toBeGreaterThan(0);
	expect(app.session().sessionName).toBe("by hand");
	expect(await app.terminal.text()).toContain(" try /context");
});

test("quitting does not wait for a session that never starts", async () => {
	const app = await startApp({ hold: new Promise(() => {}) });
	await app.terminal.press("ctrl+c", "ctrl+c");
	expect(await app.exit).toBe(0);
});

test("a session that fails to start ends the mode with its error and restores the terminal", async () => {
	const app = await startApp({ session: { kind: "open", target: "no-such-session" } });
	await expect(app.exit).rejects.toMatchObject({ code: "log_not_found" });
	expect(app.terminal.running).toBe(false);
});

test("tools run, their calls are drawn, and escape stops them", async () => {
	const app = await startApp({ rows: 30 });
	app.provider.reply([toolCall("bash", { command: "echo one; sleep 60" })]);
	await app.terminal.waitFor("context");
	await app.submit("run it");
	await app.terminal.waitFor("│ one");
	await app.terminal.press("escape");
	// The screen shows the end immediately; the session is done once the result is logged.
	await app.terminal.waitFor(
		(screen) => !screen.some((line) => line.includes("esc stops")) && !app.session().isRunning,
	);
	expect(await app.terminal.text()).toMatch(/bash {2}echo one; sleep 60/);
});

test("shell lines run, a question mark shows help, and unknown commands are reported", async () => {
	const app = await startApp({ rows: 60 });
	await app.terminal.waitFor("context");
	await app.submit("!echo from the shell");
	await app.terminal.waitFor("│ from the shell");
	await app.terminal.type("?");
	await app.terminal.waitFor("/compact");
	await app.terminal.press("escape");
	await app.submit("/nosuch");
	await app.terminal.waitFor(/Unknown command/i);
});

test("a resumed session shows its last entries, and its prompts are in the history", async () => {
	const first = await startApp();
	first.provider.reply("Remembered.");
	await first.terminal.waitFor("context");
	await first.submit("remember this");
	await first.terminal.waitFor("Remembered.");
	await first.terminal.press("ctrl+d");
	await first.exit;
	const target = first.session().sessionFile ?? "";
	const app = await startApp({ agentDir: first.agentDir, cwd: first.cwd, session: { kind: "open", target } });
	await app.terminal.waitFor("Remembered.");
	await app.terminal.press("up");
	expect((await app.terminal.screen()).filter((line) => line.includes("remember this"))).toHaveLength(2);
});

test("prompts of earlier sessions in the directory are in the history, and ctrl+r searches it", async () => {
	const first = await startApp();
	first.provider.reply("Yes.", "No.");
	await first.terminal.waitFor("context");
	await first.submit("is the sky blue?");
	await first.terminal.waitFor("Yes.");
	await first.submit("is the grass red?");
	await first.terminal.waitFor("No.");
	await first.terminal.press("ctrl+d");
	await first.exit;
	const app = await startApp({ agentDir: first.agentDir, cwd: first.cwd });
	await app.terminal.waitFor("context");
	await app.terminal.press("up");
	await app.terminal.waitFor("is the grass red?");
	await app.terminal.press("ctrl+c", "ctrl+r");
	await app.terminal.waitFor("Search earlier prompts");
	await app.terminal.type("sky");
	await app.terminal.press("enter");
	await app.terminal.waitFor(/^ is the sky blue\? *$/m);
	await app.terminal.press("ctrl+r", "escape");
	expect(await app.terminal.text()).toMatch(/^ is the sky blue\? *$/m);
});

test("the prompt can be written in an external editor", async () => {
	const editor = join(tempDir(), "editor");
	writeFileSync(editor, '#!/bin/sh\nprintf "%s, edited\\n" "$(cat "$2")" > "$2"\n');
	chmodSync(editor, 0o755);
	const app = await startApp({ mode: { findEditor: async () => `${editor} --wait` } });
	await app.terminal.waitFor("context");
	await app.terminal.type("draft");
	await app.terminal.press("ctrl+g");
	await app.terminal.waitFor("draft, edited");
});

test("project code is shown and runs only after the user trusts it", async () => {
	const hook = 'export default (pi) => pi.command("fromproject", { description: "it ran", handler() {} });';
	const app = await startApp({ files: { ".pi/hooks/deploy.ts": hook } });
	await app.terminal.waitFor("Run it?");
	await expect(stable(await app.terminal.screen())).toMatchFileSnapshot("../../screens/trust.txt");
	skipTime(1);
	await app.terminal.type("y");
	await app.terminal.waitFor("1 hook");
	await app.terminal.type("/fromp");
	await app.terminal.waitFor("it ran");
});

test("prompts sent during a run are listed, and a key moves them back to the editor, the last one first", async () => {
	const app = await startApp();
	let finish = () => {};
	const hold = new Promise<void>((resolve) => {
		finish = resolve;
	});
	app.provider.reply({ content: [text("Working on it.")], hold });
	await app.terminal.waitFor("context");
	await app.submit("begin");
	await app.terminal.waitFor("Working on it.");
	await app.submit("also fix the tests");
	await app.terminal.type("then commit");
	await app.terminal.press("alt+enter");
	expect(await app.terminal.screen()).toEqual(
		expect.arrayContaining(["→ next: also fix the tests", "⇥ after: then commit", "  alt+↑ edits"]),
	);
	await app.terminal.press("alt+up");
	const screen = (await app.terminal.screen()).map((line) => line.trimEnd());
	expect(screen).toEqual(expect.arrayContaining(["→ next: also fix the tests", " then commit"]));
	expect(screen.join("\n")).not.toContain("⇥ after");
	expect(screen.join("\n")).toContain("alt+enter sends it after the run again");
	await app.terminal.press("alt+enter");
	expect(await app.terminal.text()).toContain("⇥ after: then commit");
	await app.terminal.press("alt+up", "alt+up");
	const both = (await app.terminal.screen()).map((line) => line.trimEnd());
	expect(both).toEqual(expect.arrayContaining([" also fix the tests", " then commit"]));
	finish();
	await app.terminal.waitFor((lines) => !lines.some((line) => line.includes("esc stops")));
});

test("ctrl+t unfolds thinking and folds it again", async () => {
	const app = await startApp({ rows: 50 });
	app.provider.reply(
		[thinking("First line.\nSecond line."), toolCall("bash", { command: "seq 20" })],
		"Counted to twenty.",
	);
	await app.terminal.waitFor("context");
	await app.submit("count");
	await app.terminal.waitFor("Counted to twenty.");
	const folded = await app.terminal.text();
	await app.terminal.press("ctrl+t");
	expect(await app.terminal.text()).toContain("▎ Second line.");
	await app.terminal.press("ctrl+t");
	expect(await app.terminal.text()).toBe(folded);
});

test("files of the project complete after @", async () => {
	const app = await startApp({ files: { "src/price.ts": "", "node_modules/x.js": "", ".gitignore": "node_modules" } });
	await app.terminal.waitFor("context");
	await app.terminal.type("@pri");
	await app.terminal.waitFor("src/price.ts");
});

test("a new session clears the transcript and keeps the header", async () => {
	const app = await startApp();
	app.provider.reply("Something to forget.");
	await app.terminal.waitFor("context");
	await app.submit("hi");
	await app.terminal.waitFor("Something to forget.");
	await app.submit("/new");
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("Something to forget.")));
	expect((await app.terminal.scrollback())[0]).toMatch(/^pi 0\.1/);
});

test("quitting a session without new entries prints no resume hint", async () => {
	const app = await startApp();
	await app.terminal.waitFor("context");
	await app.terminal.press("ctrl+d");
	await app.exit;
	expect(await app.terminal.text()).not.toContain("--session");
});

test("quitting a session that could not be saved says so, with the reason and no resume hint", async () => {
	const app = await startApp();
	app.provider.reply("Hello.");
	await app.terminal.waitFor("context");
	const dir = dirname(app.session().sessionFile ?? "");
	rmSync(dirname(dir), { recursive: true, force: true });
	writeFileSync(dirname(dir), "not a directory");
	await app.submit("hi");
	await app.terminal.waitFor("Hello.");
	await app.terminal.press("ctrl+d");
	await app.terminal.waitFor("Quit pi?");
	skipTime(1);
	await app.terminal.type("y");
	expect(await app.exit).toBe(1);
	const text = (await app.terminal.text()).replaceAll("\n", "");
	expect(text).toMatch(/This session was not saved: \S+sessions is a regular file, .* or choose another directory/);
	expect(text).not.toContain("Resume this session");
});

test("quitting saves what could not be saved before", async () => {
	const app = await startApp();
	app.provider.reply("Hello.");
	await app.terminal.waitFor("context");
	const sessions = dirname(dirname(app.session().sessionFile ?? ""));
	rmSync(sessions, { recursive: true, force: true });
	writeFileSync(sessions, "not a directory");
	await app.submit("hi");
	await app.terminal.waitFor("Hello.");
	rmSync(sessions);
	await app.terminal.press("ctrl+d");
	expect(await app.exit).toBe(0);
	expect(readFileSync(app.session().sessionFile ?? "", "utf8")).toContain("Hello.");
	const text = await app.terminal.text();
	expect(text).toContain("Resume this session with pi --session");
	expect(text).not.toContain("was not saved");
});
