import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor, answer, conversation, openPi, submit } from "./support.js";

const GATE = `export default function (pi) {
	pi.on("prompt", ({ text }) => {
		if (text === "secret") return { stop: "it is a secret" };
		if (text === "ping") return { handled: true };
		return { text: text + " please" };
	});
	pi.command("where", { handler: (ctx) => ({ status: ctx.mode + " " + ctx.quit() }) });
	pi.on("tool_call", ({ input }) => {
		if (input.command === "echo asked") return { ask: "Run this?" };
		if (input.command === "rm x") return { blocked: true };
	});
}
`;

test("on the screen hooks change a prompt, ask about a call, and block one by a malformed answer", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "gate.ts": GATE } });
	provider.reply([toolCall("bash", { command: "echo asked" }), toolCall("bash", { command: "rm x" })], "Finished.");
	const pi = await openPi({ agentDir });
	await pi.waitForText("1 hook");
	await submit(pi, "ping");
	await submit(pi, "secret");
	await pi.waitForText("Hook gate refused the prompt: it is a secret");
	await pi.waitForText(/^.{0,3}secret/m);
	// The refused text is in the editor again.
	for (let at = 0; at < "secret".length; at++) await pi.press("backspace");
	await submit(pi, "go");
	const dialog = await pi.waitForText("gate asks: Run this?");
	expect(dialog).toContain("bash: echo asked");
	await answer(pi, "y");
	await pi.waitForText("Finished.");
	const shown = await pi.scrollback();
	expect(shown).toMatch(/go please/);
	expect(shown).toMatch(/bash {2}rm x +blocked by gate ✗/);
	expect(conversation(provider, 1).slice(-2)).toEqual([
		"tool: asked",
		expect.stringMatching(/^tool: Blocked: the answer of hook gate is malformed: unknown field "blocked"/),
	]);
	await submit(pi, "/where");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("print mode names the hook that blocked a call, and exits with 0 for a handled prompt and 1 for a refused one", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "gate.ts": GATE } });
	provider.reply([toolCall("bash", { command: "echo asked" })], "Finished.");
	const run = await runPi(["-p", "go"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Finished.\n" });
	expect(run.stderr).toBe(
		"bash echo asked\nbash echo asked · blocked by gate: Blocked: hook gate asks the user before this call, and nobody can answer: Run this?\n",
	);
	expect(await runPi(["-p", "ping"], { agentDir })).toMatchObject({ code: 0, stdout: "", stderr: "" });
	expect(await runPi(["-p", "secret"], { agentDir })).toMatchObject({
		code: 1,
		stdout: "",
		stderr: "Hook gate refused the prompt: it is a secret\n",
	});
	expect(await runPi(["-p", "/where"], { agentDir })).toMatchObject({ code: 0, stdout: "print false\n" });
	expect(provider.requests.length).toBe(2);
});

test("JSON mode reports who blocked a call", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "gate.ts": GATE } });
	provider.reply([toolCall("bash", { command: "rm x" })], "Finished.");
	const run = await runPi(["--mode", "json", "-p", "go"], { agentDir });
	const events: { type: string; blockedBy?: string }[] = run.stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(events.find(({ type }) => type === "tool_execution_end")).toMatchObject({ isError: true, blockedBy: "gate" });
});
