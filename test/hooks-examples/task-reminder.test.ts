import { expect, test } from "vitest";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";
import { example } from "./example.js";

const HOOK = example("task-reminder.ts");
const GRANTED = { hookGrants: { "task-reminder.ts": ["systemItems"] } };
const REMINDER = 'user: <task_reminder source="task-reminder">\nThe task is still: keep the API\n</task_reminder>';

/** A session whose model lists files `steps` times for each prompt. */
async function working(steps: number) {
	const test = await startSession({ hookFiles: [HOOK], userSettings: GRANTED });
	let left = steps;
	test.provider.on(() => {
		if (left-- > 0) return [toolCall("ls", {})];
		left = steps;
		return "done";
	});
	return { ...test, reminders: (number: number) => test.sent(number).filter((line) => line === REMINDER).length };
}

test("reminds the model of the task after every ten requests, in the next request", async () => {
	const { session, reminders, sent } = await working(21);
	await session.prompt("/task keep the API");
	await session.prompt("go");
	expect([10, 11, 20, 21].map(reminders)).toEqual([0, 1, 1, 2]);
	expect(sent(11).at(-1)).toBe(REMINDER);
	expect(session.entries.filter(({ type }) => type === "system_item").length).toBe(2);
});

test("adds nothing without a task or after it is done, and shows the task", async () => {
	const { session, provider, reminders } = await working(11);
	expect(await session.prompt("/task")).toMatchObject({ status: "There is no task" });
	await session.prompt("go");
	await session.prompt("/task keep the API");
	expect(await session.prompt("/task")).toMatchObject({ status: "keep the API" });
	await session.prompt("/task done");
	await session.prompt("go on");
	expect(provider.requests.length).toBe(24);
	expect(reminders(24)).toBe(0);
	const entry = session.entries.find(({ type }) => type === "task_reminder_task");
	expect(entry && session.entryRenderer("task_reminder_task")?.(entry, PLAIN_THEME, { expanded: true })).toBe(
		"task: keep the API",
	);
});

test("does not load without a grant, and the message shows how to grant it", async () => {
	const { session } = await startSession({ hookFiles: [HOOK] });
	expect(session.loaded.hooks).toEqual([]);
	expect(session.loaded.warnings).toEqual([
		expect.stringContaining('"hookGrants": {"task-reminder.ts": ["systemItems"]}'),
	]);
});

test("the task stands above the editor until it is done, also after a resume", async () => {
	const agentDir = tempAgentDir();
	const agentSettings = { hooks: ["pi:task-reminder"], hookGrants: { "pi:task-reminder": ["systemItems"] } };
	const first = await startApp({ agentDir, agentSettings });
	await first.terminal.waitFor("0%");
	first.provider.reply("Kept.");
	await first.submit("/task keep the API");
	await first.terminal.waitFor(/^task: keep the API\n─+$/m);
	await first.submit("go");
	await first.terminal.waitFor("Kept.");
	const target = first.session().sessionFile ?? "";
	await first.submit("/quit");
	await first.exit;
	const again = await startApp({ agentDir, cwd: first.cwd, agentSettings, session: { kind: "open", target } });
	await again.terminal.waitFor(/^task: keep the API\n─+$/m);
	await again.submit("/task done");
	await again.terminal.waitFor((rows) => !/^task: keep the API\n─+$/m.test(rows.join("\n")));
});
