import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { listen, startProxy } from "../helpers/proxy.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

/** Longer than any buffer between pi and the server, with characters of all lengths. */
const PROMPT = `${'"ünï" 😀 \\n'.repeat(600_000)}.`;

const startServer = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
	listen(createServer(answer));

function agentDirFor(baseUrl: string, api: string) {
	const models = [{ id: "one", contextWindow: 100_000_000 }];
	return tempAgentDir({
		models: { providers: { lab: { baseUrl, api, apiKey: "k", models } } },
		settings: { retry: { enabled: false } },
	});
}

const ARGS = ["--model", "lab/one", "--no-session", "-p"];

const reject = (response: ServerResponse, message: string) =>
	void response.writeHead(418, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));

/** Says whether the prompt arrived, in a body of the announced length. */
async function check(request: IncomingMessage, response: ServerResponse) {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk);
	const body = Buffer.concat(chunks);
	const { content } = JSON.parse(body.toString()).messages.at(-1);
	const text = typeof content === "string" ? content : content[0].text;
	const isComplete = text === PROMPT && Number(request.headers["content-length"]) === body.length;
	reject(response, isComplete ? "it arrived" : "it is not complete");
}

test.each(["openai-completions", "anthropic-messages"])("%s: a request of 9 MB arrives complete", async (api) => {
	const port = await startServer(check);
	const { stderr } = await runPi(ARGS, { agentDir: agentDirFor(`http://127.0.0.1:${port}`, api), stdin: PROMPT });
	expect(stderr).toContain("418 it arrived");
});

test("it arrives after a redirect", async () => {
	const port = await startServer((request, response) => {
		if (request.url?.startsWith("/new/")) return void check(request, response);
		request.resume().on("end", () => response.writeHead(307, { location: `/new${request.url}` }).end());
	});
	const agentDir = agentDirFor(`http://127.0.0.1:${port}`, "openai-completions");
	expect((await runPi(ARGS, { agentDir, stdin: PROMPT })).stderr).toContain("418 it arrived");
});

test("it arrives through a proxy", async () => {
	const proxy = await startProxy({ port: await startServer(check) });
	const agentDir = agentDirFor("http://models.test", "openai-completions");
	const env = { HTTP_PROXY: `127.0.0.1:${proxy.port}` };
	expect((await runPi(ARGS, { agentDir, env, stdin: PROMPT })).stderr).toContain("418 it arrived");
	expect(proxy.requests).toEqual(["POST http://models.test/chat/completions"]);
});

test("a server that answers without reading the request is heard", async () => {
	const port = await startServer((_, response) => reject(response, "too much"));
	const agentDir = agentDirFor(`http://127.0.0.1:${port}`, "openai-completions");
	expect((await runPi(ARGS, { agentDir, stdin: PROMPT })).stderr).toContain("418 too much");
});

test("an abort ends a request that the server does not read", async () => {
	let arrived = () => {};
	const arrival = new Promise<void>((resolve) => {
		arrived = resolve;
	});
	const port = await startServer(() => arrived());
	const pi = spawnPi(ARGS, { agentDir: agentDirFor(`http://127.0.0.1:${port}`, "openai-completions") });
	pi.write(PROMPT);
	pi.end();
	await arrival;
	pi.kill("SIGINT");
	expect((await pi.exited).code).toBe(130);
});
