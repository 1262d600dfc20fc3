import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

const RED = 1;
const COMMAND = "printf '\\033[31mcherry\\nberry\\033[0m\\033[2J\\nplain\\n'";

test("the output of a ! command keeps its colors, also in the transcript and after a resume; the model receives plain text", async () => {
	const provider = await startProvider();
	const place = { agentDir: agentDirFor(provider), cwd: tempDir() };
	const pi = await openPi(place);
	await submit(pi, `!${COMMAND}`);
	await pi.waitForText("exit 0");
	const colors = async (terminal: typeof pi) =>
		Promise.all(["│ cherry", "cherry", "berry", "plain"].map((text) => terminal.colorOf(text)));
	const [rail, ...lines] = await colors(pi);
	expect(rail).not.toBe(RED);
	expect(lines).toEqual([RED, RED, null]);
	await pi.press("ctrl+o");
	await pi.waitForText("▸ ! printf");
	await pi.press("enter");
	await pi.waitForText("▾ ! printf");
	expect((await colors(pi)).slice(1)).toEqual([RED, RED, null]);
	await pi.press("escape");
	await pi.waitForGone("▾ ! printf");

	provider.reply("You printed fruit.");
	await submit(pi, "what did I print?");
	await pi.waitForText("You printed fruit.");
	expect(conversation(provider, 0)[0]).toBe(`user: Ran \`${COMMAND}\`\n\`\`\`\ncherry\nberry\nplain\n\`\`\``);
	await pi.waitForGone("esc stops");
	await submit(pi, "/quit");
	await pi.exited;

	const resumed = await openPi({ ...place, args: ["-c"] });
	await resumed.waitForText("You printed fruit.");
	expect((await colors(resumed)).slice(1)).toEqual([RED, RED, null]);
});

test("colors are shown while a command runs, and a !! command is dim like everything out of the context", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), cwd: tempDir() });
	// The status line names the command.
	await submit(pi, "!printf '\\033[31mch%s\\n' erry; sleep 60");
	await pi.waitForText("│ cherry");
	expect(await pi.colorOf("cherry")).toBe(RED);
	await pi.press("escape");
	await pi.waitForText("stopped");
	await submit(pi, "!!printf '\\033[31mberry\\n'");
	await pi.waitForText("│ berry");
	expect(await pi.colorOf("berry")).not.toBe(RED);
});

test("with NO_COLOR, the output of a command has no colors", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), cwd: tempDir(), env: { NO_COLOR: "1" } });
	await submit(pi, "!printf '\\033[31mcherry\\n'");
	await pi.waitForText("│ cherry");
	await pi.waitForText("exit 0");
	expect(await pi.colorOf("cherry")).toBeNull();
	expect(pi.output()).not.toContain("\x1b[31m");
});

test("a ! command that ends during a run shows its exit code at once, and escape then stops the run", async () => {
	const provider = await startProvider();
	let answer: (reply: string) => void = () => {};
	provider.reply(() => new Promise<string>((resolve) => (answer = resolve)));
	const pi = await openPi({ agentDir: agentDirFor(provider), cwd: tempDir() });
	await submit(pi, "work on it");
	await provider.request(1);
	await submit(pi, "!echo bang");
	await pi.waitForText("exit 0");
	await pi.waitForText("thinking");
	await submit(pi, "!sleep 60");
	await pi.waitForText("! sleep 60 ·");
	await pi.press("escape");
	await pi.waitForText("thinking");
	answer("Here it is.");
	await pi.waitForText("Here it is.");
});
