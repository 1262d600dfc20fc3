import { readFileSync } from "node:fs";
import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { createTextPager } from "../../../../src/modes/interactive/dialogs/pager.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { startApp } from "../app.js";
import { HOSTILE_TEXT } from "../hostile.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
const LIST = Array.from({ length: 30 }, (_, index) => `- change number ${index + 1} with a few words`).join("\n");

function open(text: string) {
	const closed: string[] = [];
	const panel = createTextPager(look, { title: "Changes", text }, () => closed.push("closed"));
	return { panel, closed, screen: (width: number) => `${panel.render(width).join("\n")}\n` };
}

test.each([80, 40])("a long text scrolls, at %d columns", async (width) => {
	const { panel, screen, closed } = open(`## 0.2.0\n\n### Added\n\n${LIST}`);
	screen(width);
	panel.handleInput("\x1b[6~");
	await expect(screen(width)).toMatchFileSnapshot(`../../../screens/text-panel-${width}.txt`);
	panel.handleInput("\x1b[F");
	expect(screen(width)).toMatch(/number 30/);
	panel.handleInput("x");
	panel.handleInput("\x1b");
	expect(closed).toEqual(["closed"]);
});

test("no line is wider than the screen or moves the cursor, whatever the text contains", () => {
	const { panel } = open(HOSTILE_TEXT);
	for (const width of [1, 7, 40, 120]) {
		for (const line of panel.render(width)) {
			expect(visibleWidth(line)).toBeLessThanOrEqual(width);
			expect(line.replace(/\x1b\[[\d;]*m/g, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
		}
	}
});

test("/changelog shows pi's changelog and does not change the transcript", async () => {
	const { terminal, submit } = await startApp({ rows: 30 });
	await terminal.waitFor("0%");
	const before = await terminal.text();
	await submit("/changelog");
	await terminal.waitFor(/Changes · this is pi \d/);
	const changelog = readFileSync(new URL("../../../../CHANGELOG.md", import.meta.url), "utf8");
	await terminal.waitFor(/^### (.*)$/m.exec(changelog)?.[1] ?? "no section");
	await terminal.press("escape");
	await terminal.waitFor((screen) => !screen.join("").includes("Changes"));
	expect(await terminal.text()).toBe(before);
});

test.each([
	[{ version: "0.2.0", lines: [] }, "· updated to 0.2.0 · /changelog"],
	[{ version: "0.2.0", lines: ["- faster"] }, "Updated to 0.2.0 · /changelog shows all"],
])("the first screen after an update mentions it: %j", async (news, wanted) => {
	const { terminal } = await startApp({ mode: { news: async () => news } });
	await terminal.waitFor(wanted);
	if (news.lines[0]) await terminal.waitFor(news.lines[0]);
});

test("/debug shows the path of a report with the screen and the terminal's name", async () => {
	const { terminal, submit, agentDir } = await startApp({
		columns: 100,
		mode: { terminalFacts: { TERM: "xterm-test" } },
	});
	await terminal.waitFor("0%");
	await submit("/debug");
	await terminal.waitFor("Wrote");
	const { readFileSync, readdirSync } = await import("node:fs");
	const [name = ""] = readdirSync(`${agentDir}/debug`);
	const report = readFileSync(`${agentDir}/debug/${name}`, "utf8");
	expect(report).toMatch(/^100×24\nTERM=xterm-test$/m);
	expect(report).toMatch(/^\| pi 0\.1 .*commands/m);
	expect(report).not.toMatch(/\x1b|_pi:c/);
});
