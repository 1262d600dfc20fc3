import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";
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
