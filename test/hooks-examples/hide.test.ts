import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const [HIDE, STACKING] = [example("hide.ts"), example("stacking.ts")];

test("the work of a turn is hidden and its prompt stays; /unhide brings it back, and every request can be computed again", async () => {
	const { session, provider, sent, agentDir, cwd } = await startSession({
		hookFiles: [HIDE],
		session: { kind: "new" },
		files: { "a.txt": "alpha" },
	});
	provider.reply([toolCall("read", { path: "a.txt" })], "seen", "two", "three", "four");
	await session.prompt("look");
	await session.prompt("and then");
	expect(await session.prompt("/hide 1")).toMatchObject({ status: "The model no longer sees the work of turn 1" });
	await session.prompt("go on");
	expect(sent(4)).toEqual(["user: look", "user: and then", "assistant: two", "user: go on"]);
	expect(await session.prompt("/unhide")).toMatchObject({ status: "The model sees turn 1 again" });
	await session.prompt("once more");
	expect(sent(5).slice(0, 5)).toEqual([...sent(2), "assistant: seen", "user: and then"]);
	expect(await session.prompt("/unhide")).toMatchObject({ status: "Nothing is hidden" });
	const path = session.sessionFile ?? "";
	await session.dispose();
	const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: path, hooks: [HIDE] });
	expect(verified.stdout).toBe("All 5 requests match the recorded ones\n");
});

test("hides several turns; what a pop put in place of a prompt stays, like the prompt", async () => {
	const { session, provider, sent } = await startSession({ hookFiles: [STACKING, HIDE] });
	provider.reply("one", "two", "looked around", "three");
	for (const prompt of ["first", "second"]) await session.prompt(prompt);
	await session.prompt("/pop 2");
	expect(await session.prompt("/hide 1 2")).toMatchObject({
		status: "The model no longer sees the work of turns 1 to 2",
	});
	await session.prompt("third");
	expect(sent(4)).toEqual(["user: first", "user: [Summary]\n\nlooked around", "user: third"]);
});

test.each([
	["/hide 3", "No turns 3 to 3 · there are 1"],
	["/hide 1 0", "No turns 1 to 0 · there are 1"],
	["/hide", "Specify a turn: /hide <from> [to]"],
])("%s: %s", async (command, status) => {
	const { session, provider } = await startSession({ hookFiles: [HIDE] });
	provider.reply("one");
	await session.prompt("first");
	expect(await session.prompt(command)).toMatchObject({ status });
});
