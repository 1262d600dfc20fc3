import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

test("runs of pi -p do not get between a person and their sessions", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider), cwd: tempDir() };
	provider.reply("Hello.", "Committed.", "Again.", "Yes.");
	const first = await openPi(at);
	await submit(first, "my own question");
	await first.waitForText("Hello.");
	await submit(first, "/quit");
	await first.exited;
	// As a git hook would.
	expect(await runPi(["-p", "write a commit message"], at)).toMatchObject({ code: 0, stdout: "Committed.\n" });
	const pi = await openPi({ ...at, args: ["-c"] });
	await pi.waitForText("my own question");
	await pi.press("ctrl+r");
	expect(await pi.waitForText("my own question")).not.toContain("commit message");
	await pi.press("escape");
	await submit(pi, "/resume");
	expect(await pi.waitForText("ctrl+t show pi -p")).not.toContain("commit message");
	pi.type("\x14");
	await pi.waitForText(/write a commit message +2 messages/);
	await pi.press("escape");
	await submit(pi, "/quit");
	await pi.exited;
	// A script continues what it began.
	expect(await runPi(["-p", "-c", "shorter"], at)).toMatchObject({ code: 0, stdout: "Again.\n" });
	expect(conversation(provider, 2)[0]).toBe("user: write a commit message");
	const again = await openPi({ ...at, args: ["-c"] });
	await again.waitForText("my own question");
	await submit(again, "still there?");
	await again.waitForText("Yes.");
});

test("a session that was only opened is not the one to continue", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider), cwd: tempDir() };
	provider.reply("One.", "Two.");
	const quit = async (args: string[], prompt: string, answer: string) => {
		const pi = await openPi({ ...at, args });
		await submit(pi, prompt);
		await pi.waitForText(answer);
		await submit(pi, "/quit");
		await pi.exited;
		return /--session (\S+)/.exec(await pi.scrollback())?.[1] ?? "";
	};
	const older = await quit([], "the older one", "One.");
	await quit([], "the newer one", "Two.");
	await quit(["--session", older], "/name looked at again", "looked at again");
	const pi = await openPi({ ...at, args: ["-c"] });
	await pi.waitForText("the newer one");
});
