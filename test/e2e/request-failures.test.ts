import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { httpError, startProvider, text } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { openPi, submit } from "./support.js";

/** A provider behind a proxy that answers with a web page. */
async function startProxy() {
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(502, { "content-type": "text/html" }).end("<html><title>502 Bad Gateway</title></html>");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	const lab = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", models: [{ id: "one" }] };
	const agentDir = tempAgentDir({ models: { providers: { lab } }, settings: { retry: { enabled: false } } });
	return { agentDir, words: `the server 127.0.0.1:${port} answered 502 with a web page (502 Bad Gateway)` };
}

test("print, JSON, RPC, plain mode and the screen describe a failed request in the same words", async () => {
	const { agentDir, words } = await startProxy();
	const args = ["--model", "lab/one", "--no-session"];
	const print = await runPi([...args, "-p", "hi"], { agentDir });
	expect(print).toMatchObject({ code: 1, stdout: "" });
	expect(print.stderr).toMatch(/^lab\/one: .* · the provider has problems: [^\n]*\n$/);
	expect(print.stderr).toContain(words);
	expect((await runPi([...args, "--mode", "json", "hi"], { agentDir })).stdout).toContain(JSON.stringify(words));
	const rpc = spawnPi([...args, "--mode", "rpc"], { agentDir });
	rpc.write('{"type":"prompt","message":"hi"}\n');
	await rpc.waitFor(({ stdout }) => stdout.includes(`"errorMessage":${JSON.stringify(words)}`));
	rpc.end();
	const shell = await openPi({ agentDir, args, columns: 120 });
	await submit(shell, "hi");
	await shell.waitForText(words);
	const plain = startPi({ agentDir, args: [...args, "--plain"], columns: 200 });
	await plain.waitForText(/^>/m);
	await submit(plain, "hi");
	await plain.waitForText(`Error: ${words}`);
});

/** A provider whose first reply breaks off, and that asks to wait for `waitMs` first. */
async function startBreaking(waitMs: number) {
	const provider = await startProvider();
	provider.reply({ content: [text("half of an answer that breaks off")], fault: { kind: "cut", at: 3 } });
	if (waitMs > 0) provider.reply(httpError(429, { "retry-after-ms": String(waitMs) }, "slow down"));
	provider.reply("a complete answer", "another answer");
	const retry = { baseDelayMs: 1 };
	return { provider, agentDir: tempAgentDir({ models: provider.modelsJson(), settings: { retry } }) };
}

test("a reply that breaks off is an event and an entry, and is shown when the session is resumed", async () => {
	const { provider, agentDir } = await startBreaking(0);
	const cwd = tempDir();
	const model = ["--model", "loopback/scripted"];
	const json = await runPi([...model, "--mode", "json", "hi"], { agentDir, cwd });
	const names = json.stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line))
		.filter(({ type, message }) => /retry/.test(type) || (type === "message_end" && message.role === "assistant"))
		.map(({ type, isRetried }) => (isRetried ? `${type} (retried)` : type));
	expect(names).toEqual(["message_end (retried)", "auto_retry_start", "auto_retry_end", "message_end"]);
	expect(JSON.stringify(provider.requests[1]?.body)).toBe(JSON.stringify(provider.requests[0]?.body));
	const shell = await openPi({ agentDir, cwd, args: [...model, "--continue"], columns: 120 });
	await shell.waitForText(/^ {2}half of an/m);
	await shell.waitForText(/^ {2}✗ the connection to .* was lost during the reply · retried/m);
	await submit(shell, "next");
	await shell.waitForText("another answer");
	expect(provider.requests[2]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
});

test.each([40, 80, 120])("a wait of minutes that the server asks for counts down at %i columns", async (columns) => {
	const { agentDir } = await startBreaking(240_000);
	const args = ["--model", "loopback/scripted", "--no-session"];
	const shell = await openPi({ agentDir, args, columns });
	await submit(shell, "hi");
	await shell.waitForText(/retry 2\/10 in (?:4 min 00|3 min 5\d) s/);
});

test("print mode names the time at which a long wait ends", async () => {
	const { agentDir } = await startBreaking(240_000);
	const run = spawnPi(["--model", "loopback/scripted", "--no-session", "-p", "hi"], { agentDir });
	await run.waitFor(({ stderr }) =>
		/retry 2\/10 (?:on \d{4}-\d\d-\d\d )?at \d\d:\d\d \(in 4 min\): 429 slow down/.test(stderr),
	);
});
