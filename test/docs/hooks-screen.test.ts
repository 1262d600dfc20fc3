import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { THEME_STYLES } from "../../src/hooks/plain-theme.js";
import { startApp } from "../modes/interactive/app.js";
import { HookPage, membersOf, namesIn } from "./hook-page.js";

const page = new HookPage("hooks-screen.md");

page.testCode({
	async "commit.ts"() {
		const t = await page.startTest("commit.ts", {
			files: { "a.ts": "a", "b.ts": "b" },
			dialogs: [["a.ts"], "Add a\n\nIt is new.", true, null],
		});
		const git = (...args: string[]) => execFileSync("git", ["-C", t.cwd, ...args], { encoding: "utf8" });
		git("init", "--quiet");
		git("config", "user.email", "ada@example.com");
		git("config", "user.name", "Ada");
		await t.run("/commit");
		expect(t.notices).toEqual(["Committed 1 files"]);
		expect(git("log", "--format=%B", "--name-only").trim()).toBe("Add a\n\nIt is new.\n\n\na.ts");
		expect(await t.run("/commit")).toMatchObject({ status: "Nothing committed" });
		expect(t.asked.map(({ kind, initial }) => [kind, initial])).toContainEqual(["editor", "Change a.ts"]);
	},
	async "todos.ts"() {
		const t = await page.startTest("todos.ts", { replies: ["ok"] });
		await t.run("/todo write the test");
		await t.run("/todo fix the bug");
		await t.run("hello");
		expect(t.screen).toMatchObject({
			statuses: { count: "2 todos" },
			widgets: { list: ["○ write the test", "○ fix the bug"] },
			workingMessage: "working on: write the test",
			title: "pi · 1 prompts",
		});
		await t.run("/todo");
		expect(t.screen).toMatchObject({ statuses: {}, widgets: {}, workingMessage: null });
	},
	async "roll.ts"() {
		const t = await page.startTest("roll.ts", { dialogs: [["space", "space", "enter"], null] });
		expect(t.screen).toMatchObject({ header: ["dice"], footer: ["─".repeat(80)] });
		expect(await t.run("/roll")).toMatchObject({ status: "The result is 3" });
		expect(await t.run("/roll")).toMatchObject({ status: "No result" });
		expect(t.asked[0]?.lines).toEqual(["You rolled 1", "space rolls · enter accepts · esc closes"]);
	},
	async "modal.ts"() {
		const { terminal } = await startApp({ hooks: { "modal.ts": page.code("modal.ts") } });
		await terminal.waitFor("0%");
		await terminal.type("abc");
		const pressF2 = async () => {
			terminal.send("\x1bOQ");
			return terminal.text();
		};
		// What draws components of hooks is loaded with the first one.
		await expect.poll(pressF2, { timeout: 10_000 }).toContain("x deletes · i inserts");
		await terminal.type("xx");
		await terminal.waitFor(/^ a $/m);
		await terminal.type("id");
		await terminal.waitFor(/^ ad $/m);
	},
	async "calm.ts"() {
		const t = await page.startTest("calm.ts", {});
		await t.run("/calm");
		expect(t.screen.look).toEqual({ indicator: { frames: ["·"] }, thinkingLabel: "thinking" });
	},
	async "issues.ts"() {
		const { terminal, submit } = await startApp({ hooks: { "issues.ts": page.code("issues.ts") } });
		await terminal.waitFor("0%");
		await submit("/fix");
		await terminal.waitFor("issues asks: Number of the issue");
		await terminal.type("12");
		await terminal.press("enter");
		await terminal.waitFor("Fix #12");
		await terminal.press("ctrl+c");
		await terminal.type("see #coup");
		await terminal.waitFor("13 coupons expire too early");
		await terminal.press("enter");
		await terminal.waitFor("see #13");
	},
});

test("the table of styles matches the theme", () => {
	const styles = Object.entries(THEME_STYLES).map(([name, use]) => [`\`${name}\``, use]);
	expect(page.tableAfter("## Theme")).toEqual(styles);
	const others = [...page.text.matchAll(/`theme\.(\w+)`/g)].map(([, name = ""]) => name);
	expect([...Object.keys(THEME_STYLES), ...others].sort()).toEqual(membersOf("EntryTheme").sort());
});

test("every member of ctx.ui is listed and has an example", () => {
	const members = membersOf("HookUI").sort();
	expect(
		page
			.tableAfter("## Members of ctx.ui")
			.flatMap(([cell]) => namesIn(cell))
			.sort(),
	).toEqual(members);
	const code = page.hooks.map((hook) => hook.code).join("\n");
	expect(members.filter((name) => !new RegExp(`ctx\\.ui(\\.${name}\\b|;)`).test(code))).toEqual([]);
});
