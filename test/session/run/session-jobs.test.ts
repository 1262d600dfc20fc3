import { expect, test } from "vitest";
import { isSystemItemEntry } from "../../../src/log/entry.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";

const background = (command: string) => [toolCall("bash", { command, background: true })];

async function startWith(command: string, options: Parameters<typeof startSession>[0] = {}): Promise<TestSession> {
	const test = await startSession(options);
	test.provider.reply(background(command), "started");
	await test.session.prompt("start it");
	return test;
}

const ends = ({ events }: TestSession) => events.flatMap((event) => (event.type === "job_end" ? [event.job] : []));

test("a command that ends is announced to the user at once, and to the model in the next request", async () => {
	const test = await startWith("echo building; echo failed; exit 3");
	await expect.poll(() => ends(test)).toHaveLength(1);
	expect(ends(test)[0]).toMatchObject({ id: "job-1", isRunning: false, exitCode: 3, lastLine: "failed" });
	expect(test.notices()).toEqual([
		expect.stringMatching(/^job-1: exit code 3 after \d\.\d s: echo building; echo failed; exit 3$/),
	]);
	test.provider.reply("I see");
	await test.session.prompt("and now?");
	const note = test.sent(3).find((text) => text.includes("<notification"));
	expect(note).toMatch(
		/^user: <notification source="jobs">\nBackground command job-1 has ended: exit code 3 after \d\.\d s\nCommand: .*\nLast lines of its output:\nbuilding\nfailed\nOutput: \/.*\.log\n<\/notification>$/,
	);
	expect(test.provider.violations).toEqual([]);
	expect(test.session.entries.filter(isSystemItemEntry)).toHaveLength(1);
});

test("commands survive the end of a run, an abort, a compaction and a reload", async () => {
	const test = await startWith("sleep 1000");
	const { session, provider } = test;
	provider.reply([toolCall("jobs", { action: "wait" })]);
	const run = session.prompt("wait for it");
	await expect.poll(() => session.activity.phase).toBe("tools");
	await session.abort();
	await run;
	provider.reply("a summary");
	await session.compact();
	await session.reload();
	expect(session.jobs.list()).toMatchObject([{ id: "job-1", isRunning: true }]);
	expect(session.jobs.running).toBe(1);
});

test("another session ends the commands, says so, and the old one has a note for its model", async () => {
	const test = await startWith("sleep 1000", { session: { kind: "new" } });
	const { session, provider } = test;
	const path = session.sessionFile ?? expect.fail();
	await session.newSession();
	expect(test.notices()).toEqual(["Ended 1 background command with the session: job-1 (sleep 1000)"]);
	expect(session.jobs.list()).toEqual([]);
	await session.switchSession(path);
	provider.reply("ok");
	await session.prompt("go on");
	expect(test.sent(3).join("\n")).toContain("Background command job-1 has ended: ended with the session after");
});

test("a gate sees background and can block the command", async () => {
	const gate = `export default (pi) => pi.on("tool_call", ({ input }) => input.background ? { block: true, reason: "no servers" } : undefined);`;
	const test = await startWith("sleep 1000", { hooks: { "gate.ts": gate } });
	expect(test.sent(2).at(-1)).toContain("no servers");
	expect(test.session.jobs.list()).toEqual([]);
});

test("disposing a session ends its commands", async () => {
	const test = await startWith("sleep 1000");
	await test.session.dispose();
	expect(ends(test)).toMatchObject([{ id: "job-1", endedBy: "session" }]);
});

test("a command of the user is moved to the background: its entry says so, and its end is announced", async () => {
	const test = await startSession();
	const { session, provider } = test;
	const running = session.runBash("echo one; until [ -e go ]; do sleep 0.02; done; echo two");
	await expect.poll(() => JSON.stringify(test.events)).toContain('"output":"one');
	expect(session.moveToBackground()).toMatchObject([{ id: "job-1" }]);
	await running;
	expect(session.activity.state).toBe("idle");
	const message = { output: "one", exitCode: null, cancelled: false, job: "job-1" };
	expect(session.entries.at(-1)).toMatchObject({ message });
	await session.runBash("touch go");
	await expect.poll(() => ends(test)).toHaveLength(1);
	provider.reply("ok");
	await session.prompt("and now?");
	const sent = test.sent(1).join("\n");
	expect(sent).toContain("The user moved it to the background as job-1, where it still ran.");
	expect(sent).toContain("Last lines of its output:\none\ntwo");
});

test("a command that the model must not know stays where it is", async () => {
	const { session, events } = await startSession();
	const running = session.runBash("until [ -e go ]; do sleep 0.02; done", { excludeFromContext: true });
	await expect.poll(() => events.some(({ type }) => type === "bash_start")).toBe(true);
	expect(session.moveToBackground()).toBeNull();
	await session.abort();
	await running;
});
