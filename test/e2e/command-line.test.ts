import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor, conversation } from "./support.js";

const QUESTION = 'pi: "session" is not a command. Run "pi sessions list" instead?';

test("words without quotes are one prompt", async () => {
	const provider = await startProvider();
	provider.reply("Fixed.");
	const pi = startPi({ args: ["fix", "the", "tests"], agentDir: agentDirFor(provider) });
	await pi.waitForText("Fixed.");
	expect(conversation(provider, 0)).toEqual(["user: fix the tests"]);
	expect(provider.requests).toHaveLength(1);
});

test("pi help prints the help", async () => {
	const options = { agentDir: agentDirFor(await startProvider()) };
	expect(await runPi(["help"], options)).toEqual(await runPi(["--help"], options));
	expect(await runPi(["help", "sessions"], options)).toEqual(await runPi(["sessions", "--help"], options));
});

test("nearly a subcommand is refused without a terminal", async () => {
	const provider = await startProvider();
	expect(await runPi(["session", "list"], { agentDir: agentDirFor(provider) })).toMatchObject({
		code: 2,
		stdout: "",
		stderr: 'pi: "session" is not a command · did you mean pi sessions list? Quotes make it a prompt\n',
	});
	expect(provider.requests).toEqual([]);
});

test.each([
	["y\r", 0, "no sessions", 0],
	["\r", 2, "did you mean pi sessions list?", 0],
	["p\r", null, "Answered.", 1],
] as const)("nearly a subcommand asks on a terminal: %j", async (answer, code, shown, requests) => {
	const provider = await startProvider();
	provider.reply("Answered.");
	const pi = startPi({ args: ["session", "list"], agentDir: agentDirFor(provider) });
	await pi.waitForText(QUESTION);
	expect(pi.output()).not.toContain("────");
	pi.type(answer);
	if (code !== null) expect(await pi.exited).toMatchObject({ code });
	else await pi.waitForText("Answered.");
	expect((await pi.screen()).toLowerCase()).toContain(shown.toLowerCase());
	expect(provider.requests).toHaveLength(requests);
	if (code !== null) return;
	// The editor reads the keys that follow.
	pi.type("a draft");
	await pi.waitForText("a draft");
});
