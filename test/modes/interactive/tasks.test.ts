import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { skipTime } from "../../helpers/skip-time.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { type App, type AppOptions, startApp } from "./app.js";

const start = (options: AppOptions = {}) => startApp({ agentSettings: { features: { tasks: true } }, ...options });
const list = (...tasks: [text: string, status: string][]) =>
	toolCall("tasks", { tasks: tasks.map(([text, status]) => ({ text, status })) });

/** The rows between the last line of the transcript and the editor. */
async function aboveEditor({ terminal }: App): Promise<string[]> {
	const rows = await terminal.screen();
	const end = rows.findIndex((row) => row.startsWith("────"));
	return rows.slice(rows.slice(0, end).lastIndexOf("") + 1, end);
}

test.each([40, 120])("open tasks stand above the editor until all are done, at %d columns", async (columns) => {
	const app = await start({ columns });
	app.provider.reply(
		[list(["find the rounding", "done"], ["change it", "in_progress"], [`run ${"all ".repeat(40)}tests`, "pending"])],
		"Working.",
	);
	await app.submit("go");
	await app.terminal.waitFor("▎ Working.");
	await app.terminal.waitFor("▸ change it");
	expect(await aboveEditor(app)).toEqual([
		"Tasks 1/3 · 1 in progress",
		"▸ change it",
		expect.stringMatching(/^☐ run (?:all )+.*…$/),
	]);
	expect((await app.terminal.screen()).filter((row) => row.startsWith("▎ tasks"))).toEqual([
		expect.stringMatching(/^▎ tasks {2}change it +1 of 3 done$/),
	]);
	app.provider.reply([list(["find the rounding", "done"], ["change it", "done"])], "All done.");
	await app.submit("go on");
	await app.terminal.waitFor("▎ All done.");
	await app.terminal.waitFor((rows) => !rows.includes("Tasks 1/3"));
	expect(await aboveEditor(app)).toEqual([]);
});

test("a long list shows its first open tasks and how many more there are", async () => {
	const app = await start();
	const open = Array.from({ length: 8 }, (_, at): [string, string] => [`part ${at}`, "pending"]);
	app.provider.reply([list(["look", "done"], ...open)], "Working.");
	await app.submit("go");
	await app.terminal.waitFor("☐ part 0");
	await app.terminal.waitFor("▎ Working.");
	expect(await aboveEditor(app)).toEqual([
		"Tasks 1/9",
		...[0, 1, 2, 3, 4].map((at) => `☐ part ${at}`),
		"… 3 more · /tasks shows all",
	]);
});

test("the tasks are shown again when the session is resumed, and not in a new one", async () => {
	const [agentDir, cwd] = [tempAgentDir(), tempDir()];
	const first = await start({ agentDir, cwd, session: { kind: "new" } });
	first.provider.reply([list(["one", "pending"])], "Working.");
	await first.submit("go");
	await first.terminal.waitFor("▎ Working.");
	await first.session().dispose();
	const second = await start({ agentDir, cwd, session: { kind: "continue" } });
	await second.terminal.waitFor("☐ one");
	await second.submit("/new");
	await second.terminal.waitFor((rows) => !rows.includes("☐ one"));
});

test("the tasks are still shown after a compaction, a reload and a resume", async () => {
	const [agentDir, cwd] = [tempAgentDir(), tempDir()];
	const agentSettings = { features: { tasks: true }, compaction: { keepRecentTokens: 10 } };
	const first = await start({ agentDir, cwd, agentSettings, session: { kind: "new" } });
	first.provider.reply([list(["one", "pending"])], "Working. ".repeat(200), "More.", "The summary.");
	await first.submit("go");
	await first.terminal.waitFor("☐ one");
	await first.submit("go on");
	await first.terminal.waitFor("▎ More.");
	await first.submit("/compact");
	await first.terminal.waitFor("The summary.");
	skipTime(1);
	await first.terminal.press("enter");
	await first.terminal.waitFor("◆ The summary.");
	expect(JSON.stringify(first.session().context.messages)).not.toContain("pending");
	await first.submit("/reload");
	await first.terminal.waitFor("only pi's own hooks loaded");
	expect(await aboveEditor(first)).toContain("☐ one");
	await first.session().dispose();
	const second = await start({ agentDir, cwd, session: { kind: "continue" } });
	await second.terminal.waitFor("☐ one");
});
