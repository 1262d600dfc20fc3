import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

async function startWith(...commands: string[]) {
	const test = await startSession();
	test.provider.reply(...commands.map((command) => [toolCall("bash", { command, background: true })]), "started");
	await test.session.prompt("start");
	return test;
}

test("/jobs lists the background commands without a screen, and says when there are none", async () => {
	const { session } = await startSession();
	expect(await session.prompt("/jobs")).toMatchObject({ status: "There are no background commands" });
	const { session: other } = await startWith("sleep 1000");
	expect(await other.prompt("/jobs")).toMatchObject({
		status: expect.stringMatching(/^Background commands\njob-1 · running for \d\.\d s · sleep 1000$/),
	});
});

test("/jobs stop ends a command, and /jobs show prints the end of its output", async () => {
	const { session, events } = await startWith("echo hello; sleep 1000", "sleep 2000");
	await expect.poll(() => session.jobs.list()[0]?.lastLine).toBe("hello");
	expect(await session.prompt("/jobs show 1")).toMatchObject({
		status: expect.stringMatching(/^job-1 · running for .*\nhello\nOutput: \/.*\.log$/),
	});
	expect(await session.prompt("/jobs stop job-1")).toMatchObject({
		status: expect.stringMatching(/^job-1 · stopped by the user after .* · echo hello; sleep 1000$/),
	});
	expect(await session.prompt("/jobs stop")).toMatchObject({ status: expect.stringMatching(/^job-2 · stopped/) });
	expect(session.jobs.running).toBe(0);
	// The user knows that it has ended: there is no warning.
	expect(events.filter((event) => event.type === "notice" && event.level !== "info")).toEqual([]);
});

test("/jobs explains its usage, and names the commands that exist", async () => {
	const { session } = await startWith("sleep 1000");
	await expect(session.prompt("/jobs kill 1")).rejects.toMatchObject({
		code: "bad_arguments",
		hint: "for example /jobs stop job-1",
	});
	await expect(session.prompt("/jobs stop 7")).rejects.toMatchObject({
		message: 'There is no background command "7"',
		hint: "the background commands are job-1",
	});
	const complete = async (prefix: string) =>
		(await session.completeArguments("jobs", prefix)).map(({ value }) => value);
	expect(await complete("s")).toEqual(["show", "stop"]);
	expect(await complete("stop ")).toEqual(["stop job-1"]);
});
