import { expect, test } from "vitest";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { submit } from "./support.js";

/** A provider that imports pi-ai, as hooks do. */
const CORP = `import { createAssistantMessageEventStream } from "@mariozechner/pi-ai";
export default function (pi) {
	pi.provider("corp", {
		models: [{ id: "m", name: "Corp M", cost: { input: 1, output: 1 } }],
		stream(model, context) {
			const events = createAssistantMessageEventStream();
			const text = "echo " + context.messages.at(-1).content;
			const message = {
				role: "assistant", content: [{ type: "text", text }], api: model.api, provider: model.provider, model: model.id,
				usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
				stopReason: "stop", timestamp: Date.now(),
			};
			events.push({ type: "done", reason: "stop", message });
			return events;
		},
	});
	pi.shortcut("ctrl+q", { description: "Name the model", handler: (ctx) => ({ status: "model " + ctx.model.id }) });
}
`;

test("pi -p sends a prompt to a model of a hook", async () => {
	const agentDir = tempAgentDir({ hooks: { "corp.ts": CORP } });
	const run = await runPi(["-p", "--model", "corp/m", "hi"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "echo hi\n", stderr: "" });
	const unknown = await runPi(["-p", "--model", "corp/x9", "hi"], { agentDir });
	expect(unknown).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining('No model "corp/x9"') });
});

test("a hook and the bundled fold reach a model of another hook with complete", async () => {
	const ask = `import { complete } from "@mariozechner/pi-ai";
		export default (pi) => pi.command("ask", { async handler(ctx) {
			const reply = await complete(ctx.model, { messages: [{ role: "user", content: "why", timestamp: 0 }] }, {});
			return { status: "asked: " + reply.content[0].text };
		} });`;
	const agentDir = tempAgentDir({ hooks: { "ask.ts": ask, "corp.ts": CORP } });
	const cwd = tempDir();
	const options = { agentDir, cwd };
	expect(await runPi(["-p", "--model", "corp/m", "/ask"], options)).toMatchObject({
		code: 0,
		stdout: "asked: echo why\n",
		stderr: "",
	});
	for (const prompt of ["one", "two"]) {
		expect(await runPi(["-p", "--continue", "--model", "corp/m", prompt], options)).toMatchObject({ code: 0 });
	}
	const folded = await runPi(["-p", "--continue", "--model", "corp/m", "/fold 1 1"], options);
	expect(folded).toMatchObject({ code: 0, stderr: "" });
	expect(folded.stdout).toMatch(/[Ff]olded/);
});

test("over RPC, a model of a hook can be listed and used", async () => {
	const agentDir = tempAgentDir({ hooks: { "corp.ts": CORP } });
	const pi = spawnPi(["--mode", "rpc", "--model", "corp/m"], { agentDir });
	pi.write('{"type":"get_available_models"}\n{"type":"prompt","message":"hi"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('"id":"m"') && stdout.includes("echo hi"));
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0 });
});

test("in a terminal, a session with a model of a hook is resumed with it, and its shortcut works", async () => {
	const agentDir = tempAgentDir({ hooks: { "corp.ts": CORP } });
	const cwd = tempDir();
	const pi = startPi({ agentDir, cwd, args: ["--model", "corp/m"] });
	await pi.waitForText("Corp M");
	await submit(pi, "hello");
	await pi.waitForText("echo hello");
	await pi.press("ctrl+q");
	await pi.waitForText("model m");
	await pi.press("ctrl+d");
	await pi.exited;
	const again = startPi({ agentDir, cwd, args: ["--continue"] });
	await again.waitForText("Corp M");
	expect(await again.screen()).not.toContain("is gone");
	await submit(again, "once more");
	await again.waitForText("echo once more");
});

test.each([
	["a stream that yields nothing", "async *stream() { await new Promise(() => {}); }"],
	["a stream that never begins", "stream() { return new Promise(() => {}); }"],
])("%s fails after the time limit for silence, and is named", async (_, stream) => {
	const agentDir = tempAgentDir({
		hooks: { "mine.ts": `export default (pi) => pi.provider("mine", { models: [{ id: "m" }], ${stream} });` },
		settings: { streamIdleTimeoutMs: 1000, retry: { maxRetries: 1, baseDelayMs: 10 } },
	});
	const { code, stdout, stderr } = await runPi(["-p", "--no-session", "--model", "mine/m", "hi"], { agentDir });
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toMatch(/^retry 1\/1 .*sent no content for 1 s.*\nmine\/m: .*no content for 1 s/);
});
