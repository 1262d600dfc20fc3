import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { agentDirFor, conversation, modesLeftOn, openPi, submit } from "./support.js";

/** A hook that loads when the test allows it; the session is not ready until then. */
const SLOW_HOOK = `
import { existsSync } from "node:fs";
export default async function slow() {
	while (!existsSync(process.env.GO_FILE)) await new Promise((resolve) => setTimeout(resolve, 20));
}
`;

test("text typed before the session is ready is kept and sent afterwards", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "slow.ts": SLOW_HOOK } });
	const pi = await openPi({ agentDir, env: { GO_FILE: `${agentDir}/go` } });
	await pi.waitForText("/ commands");
	await submit(pi, "typed early");
	pi.type("a draft");
	await pi.waitForText("a draft");
	expect(provider.requests).toEqual([]);
	provider.reply("On time.");
	writeFileSync(`${agentDir}/go`, "");
	await pi.waitForText("On time.");
	expect(conversation(provider, 0)).toEqual(["user: typed early"]);
	await pi.waitForText(/^ a draft/m);
});

/** A command whose completions never arrive. */
const SLOW_COMPLETION = `
export default function (pi) {
	pi.command("echo", {
		complete: () => new Promise(() => {}),
		handler: ({ argsRaw }) => ({ status: "echoed <" + argsRaw + ">" }),
	});
}
`;

test("arguments typed before their completions arrive are kept", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider, { hooks: { "echo.ts": SLOW_COMPLETION } }) });
	await pi.waitForText("1 hook");
	await submit(pi, "/echo 1 2");
	await pi.waitForText("echoed <1 2>");
});

test("a prompt typed before pi has set up the terminal is sent", async () => {
	const provider = await startProvider();
	provider.reply("On time.");
	const pi = startPi({ agentDir: agentDirFor(provider) });
	await submit(pi, "typed very early");
	await pi.waitForText("On time.");
	expect(conversation(provider, 0)).toEqual(["user: typed very early"]);
});

test("a draft typed before pi has set up the terminal is kept, and the screen is intact", async () => {
	const provider = await startProvider();
	const pi = startPi({ agentDir: agentDirFor(provider) });
	pi.type("typed early");
	await pi.waitForText(/^ typed early *$/m);
	const screen = await pi.waitForText(/Scripted$/m);
	expect(screen.split("\n").filter((line) => /^─+$/.test(line))).toEqual(["─".repeat(80), "─".repeat(80)]);
	const lines = screen.match(/^ ?typed early|^pi \d/gm) ?? [];
	// The terminal echoes the keys, unless pi was quick to set it up.
	expect(lines.slice(-2)).toEqual([expect.stringMatching(/^pi/), " typed early"]);
	expect(["typed early", undefined]).toContain(lines.at(-3));
});

test("the picker of thinking levels starts at the current level, and the screen is still while it is open", async () => {
	const provider = await startProvider();
	const models = provider.modelsJson({ reasoning: true });
	const pi = await openPi({ agentDir: agentDirFor(provider, { models }) });
	await submit(pi, "/thinking high");
	await pi.waitForText("Thinking: high");
	await submit(pi, "/thinking");
	expect(await pi.waitForText("→ high")).not.toContain("esc cancels");
	const written = pi.output().length;
	await pi.press("up");
	await pi.waitForText("→ medium");
	expect(pi.output().slice(written).split("\x1b[?2026h")).toHaveLength(2);
});

test("escape stops the stream, and queued prompts return in front of the draft", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	provider.reply({ content: [{ type: "text", text: "The beginning" }], hold: new Promise(() => {}) });
	await submit(pi, "tell me");
	await pi.waitForText("The beginning");
	await submit(pi, "first of all");
	await pi.waitForText("→ next: first of all");
	pi.type("then that");
	await pi.press("alt+enter");
	await pi.waitForText("⇥ after: then that");
	pi.type("half a draft");
	await pi.press("escape");
	expect(await provider.requests[0]?.closed).toBe(false);
	await pi.waitForScreen((screen) => editorText(screen).length > 1, "the queue to come back");
	expect(editorText(await pi.screen())).toEqual(["first of all", "", "then that", "", "half a draft"]);

	provider.reply("Gladly.");
	await pi.press("enter");
	await pi.waitForText("Gladly.");
	expect(conversation(provider, 1)).toEqual([
		"user: tell me",
		"assistant: The beginning",
		"user: first of all\n\nthen that\n\nhalf a draft",
	]);
});

test("ctrl+c twice quits, restores the terminal and shows how to resume", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	provider.reply("Hello.");
	await submit(pi, "hi");
	await pi.waitForText("Hello.");
	await pi.waitForGone("esc stops");
	pi.type("never sent");
	await pi.press("ctrl+c");
	await pi.waitForText("press ctrl+c again to quit");
	await pi.waitForGone("never sent");
	await pi.press("ctrl+c");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	expect(await pi.screen()).toMatch(/\nResume this session with pi --session [0-9a-f]{8}$/);
	expect(modesLeftOn(pi.output())).toEqual([25]);
	expect(pi.output()).not.toContain("\x1b[?1049h");
});

test("the screen follows a resize while the model streams", async () => {
	const provider = await startProvider();
	let finish = () => {};
	const hold = new Promise<void>((resolve) => {
		finish = resolve;
	});
	const words = "the quick brown fox jumps over the lazy dog and runs on through the wood";
	provider.reply({ content: [{ type: "text", text: words }], hold });
	const pi = await openPi({ agentDir: agentDirFor(provider), columns: 100, rows: 30 });
	await submit(pi, "a story");
	await pi.waitForText(words);
	for (const [columns, rows] of [
		[38, 20],
		[20, 10],
		[1, 1],
		[60, 24],
	] as const)
		pi.resize(columns, rows);
	await pi.waitForText("▎ the quick brown fox jumps over the lazy dog and runs on");
	finish();
	await pi.waitForGone("esc stops");
	const lines = (await pi.screen()).split("\n");
	expect(lines.filter((line) => line.startsWith("──")).map((line) => line.length)).toEqual([60, 60]);
	expect(lines.filter((line) => line.includes("quick brown fox"))).toHaveLength(1);
});

/** The lines of the editor, between its two rules. */
function editorText(screen: string): string[] {
	const lines = screen.split("\n");
	const rules = lines.flatMap((line, row) => (line.startsWith("──") ? [row] : []));
	const text = lines.slice((rules.at(-2) ?? 0) + 1, rules.at(-1)).map((line) => line.trim());
	return text.join("").trim() === "" ? [] : text;
}
