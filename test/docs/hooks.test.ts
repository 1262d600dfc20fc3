import { expect, test, vi } from "vitest";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { HookPage, membersOf, namesIn } from "./hook-page.js";

const page = new HookPage("hooks.md");

page.testCode({
	async "no-push.ts"() {
		const { session, provider } = await page.startSession("no-push.ts");
		provider.reply([toolCall("bash", { command: "git push" }), toolCall("bash", { command: "echo fine" })], "ok");
		await session.prompt("push");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text.trim());
		expect(results?.[0]).toContain("Only the user pushes. Describe what you would push.");
		expect(results?.[1]).toContain("fine");
	},
	async "ask-first.ts"() {
		const asked: string[] = [];
		const confirm = async (_: string, text: string) => !asked.push(text);
		const { session, provider } = await page.startSession("ask-first.ts", { ui: { confirm } });
		const commands = ["ls -a", "pwd", "ls-all", "ls; echo made", "git status"];
		provider.reply(
			commands.map((command) => toolCall("bash", { command })),
			"ok",
		);
		await session.prompt("go");
		expect(asked).toEqual(commands.slice(2).map((command) => `bash: ${command}`));
	},
	async "rounds.ts"() {
		const { session, provider, sent } = await page.startSession("rounds.ts");
		provider.reply("first", "critique", "better");
		await session.prompt("question");
		expect(await session.prompt("/rounds")).toEqual({ kind: "command", status: "Finished rounds" });
		expect(sent(3).filter((text) => text.startsWith("user"))).toEqual([
			"user: question",
			"user: Criticize your answer.",
			"user: Improve your answer.",
		]);
		expect(session.entries.length).toBe(1);
	},
	async "travel.ts"() {
		const { session, provider } = await page.startSession("travel.ts", { session: { kind: "new" } });
		expect(await session.prompt("/back")).toMatchObject({ status: "Nothing to go back to" });
		provider.reply("one", "two");
		await session.prompt("first");
		await session.prompt("second");
		const { sessionId } = session;
		expect(await session.prompt("/back")).toMatchObject({ status: "Went back before entry 3" });
		expect(session.entries.length).toBe(3);
		expect(await session.prompt(`/open ${sessionId.slice(0, 8)}`)).toMatchObject({ status: "Opened" });
		expect(session.entries.length).toBe(5);
		expect(await session.prompt("/refresh")).toMatchObject({ status: "Loaded all hooks again" });
		expect(await session.prompt("/bye")).toMatchObject({ status: "In sdk mode the caller ends pi" });
	},
	async "clock.ts"() {
		vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
		const t = await page.startTest("clock.ts", {});
		vi.advanceTimersByTime(120_000);
		expect(t.screen.statuses).toEqual({ clock: "2 min" });
		await t.run("/new");
		vi.advanceTimersByTime(60_000);
		expect(t.screen.statuses).toEqual({ clock: "1 min" });
		await t.session.reload();
		expect(vi.getTimerCount()).toBe(1);
		await t.dispose();
		expect(vi.getTimerCount()).toBe(0);
		vi.useRealTimers();
	},
	async "explain.ts"() {
		const { session, provider, sent } = await page.startSession("explain.ts", { files: { "a.ts": "a", "b.ts": "b" } });
		provider.reply("It is short.");
		expect(await session.prompt("/explain")).toEqual({ kind: "command", status: "Specify a file: /explain <file>" });
		await session.prompt("/explain a.ts");
		expect(sent(1)).toEqual(["user: Read a.ts and explain it to someone who is new here. Do not change anything."]);
		expect(await session.completeArguments("explain", "a")).toEqual([{ value: "a.ts" }]);
	},
	async "count.ts"() {
		const { session, provider } = await page.startSession("count.ts");
		provider.reply("a1");
		await session.prompt("u1");
		const [shortcut] = session.shortcuts;
		expect(shortcut).toMatchObject({ id: "hook.count.0", key: "ctrl+q" });
		await session.rebuildContext();
		expect(shortcut && (await session.runShortcut(shortcut))).toMatchObject({ status: "The model sees 2 messages" });
	},
	async "read-only.ts"() {
		const readFlags = () => ({ values: { "read-only": true }, problem: null });
		const { session, provider } = await page.startSession("read-only.ts", { readFlags });
		provider.reply([toolCall("bash", { command: "echo no" }), toolCall("ls", {})], "ok");
		await session.prompt("go");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
		expect(results?.[0]).toContain("This session is read-only.");
		expect(results?.[1]).not.toContain("read-only");
	},
	async "bookmark.ts"() {
		const { session } = await page.startSession("bookmark.ts");
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "No bookmarks yet" });
		expect(await session.prompt("/bookmark before the change")).toMatchObject({ status: "Marked entry 1" });
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "1 before the change" });
		const entry = session.entries[1];
		expect(entry && session.entryRenderer("bookmark")?.(entry, PLAIN_THEME, { expanded: true })).toBe(
			"★ before the change",
		);
	},
	async "ask-user.ts"() {
		const asked: string[] = [];
		const confirm = async (title: string, message: string) => {
			asked.push(`${title}: ${message}`);
			return true;
		};
		const { session, provider } = await page.startSession("ask-user.ts", { ui: { confirm } });
		provider.reply([toolCall("ask_user", { question: "Blue?" })], "ok");
		await session.prompt("paint it");
		expect(asked).toEqual([expect.stringContaining("Blue?")]);
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("yes");
	},
	async "echo.ts"() {
		const { session } = await page.startSession("echo.ts", { model: "echo/parrot" });
		await session.prompt("Polly");
		await session.rebuildContext();
		expect(session.context.messages.at(-1)?.message).toMatchObject({ content: [{ type: "text", text: "Polly" }] });
		const { session: other } = await page.startSession("echo.ts", { model: "lab/small" });
		expect(other.model).toMatchObject({ contextWindow: 64_000, baseUrl: "https://models.lab.example/v1" });
		await expect(other.prompt("hi")).rejects.toMatchObject({
			message: "No key for lab: hook echo reads it from LAB_KEY, which is not set",
		});
	},
	async "earlier.ts"() {
		const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-"), session: { kind: "new" } } as const;
		const before = await startSession(place);
		before.provider.reply("Tabs broke it.");
		await before.session.prompt("why does the parser fail?");
		await before.session.dispose();
		const { session } = await page.startSession("earlier.ts", place);
		expect(await session.prompt("/earlier PARSER")).toMatchObject({
			status: expect.stringMatching(
				/^20\S+: why does the parser fail\?\n\n\[User\]\nwhy does the parser fail\?\n\n\[Assistant\]\nTabs broke it\.$/,
			),
		});
		expect(await session.prompt("/earlier zebra")).toMatchObject({ status: "No earlier session contains this text" });
	},
	"announce.ts": announce,
	"alarm.ts": announce,
});

/** The hook that announces, with the one that listens. */
async function announce(): Promise<void> {
	const notes: string[] = [];
	const { session, provider } = await startSession({
		hooks: { "alarm.ts": page.code("alarm.ts"), "announce.ts": page.code("announce.ts") },
		ui: { notify: (message) => void notes.push(message) },
	});
	provider.reply([toolCall("bash", { command: "exit 3" }), toolCall("bash", { command: "exit 4" })], "ok");
	await session.prompt("fail");
	expect(notes).toEqual([expect.stringContaining("This failed: exit 3")]);
}

test("the tables list every member of pi, ctx and the ctx of commands", () => {
	const listed = (table: string) =>
		page
			.tableAfter(table)
			.flatMap(([cell]) => namesIn(cell))
			.sort();
	expect(listed("## Registrations")).toEqual(membersOf("HookAPI").sort());
	expect(listed("## The context object")).toEqual(membersOf("HookEventContext").sort());
	expect(listed("The `ctx` of commands and shortcuts also has:")).toEqual(membersOf("CommandContext").sort());
});

test("the table of recipes lists every example and no other file", () => {
	const rows = page.tableAfter("## Recipes");
	expect(rows.map(([file]) => file).sort()).toEqual(BUNDLED_HOOKS.map(({ name }) => `\`${name}.ts\``).sort());
	for (const { name, commands } of BUNDLED_HOOKS) {
		const [, purpose = ""] = rows.find(([file]) => file === `\`${name}.ts\``) ?? [];
		expect(commands.filter((command) => !purpose.includes(`/${command}`))).toEqual([]);
	}
});
