import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../src/util/package-root.js";
import { PACKAGE_ROOT } from "../helpers/installed-package.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

/** A server that refuses every request and keeps its headers. */
async function startServer() {
	const requests: IncomingHttpHeaders[] = [];
	const server = createServer((request, response) => {
		requests.push(request.headers);
		request.resume();
		response.writeHead(400, { "content-type": "application/json" });
		response.end(JSON.stringify({ error: { message: `rejected ${String(request.headers["x-secret-token"])}` } }));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	return { requests, origin: `http://127.0.0.1:${port}` };
}

/** A token as the Codex login issues it. */
const CODEX_TOKEN = `e30.${Buffer.from(
	JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "account" } }),
).toString("base64url")}.x`;

const APIS: [api: string, key: string, env?: Record<string, string>][] = [
	["openai-completions", "k"],
	["openai-responses", "k"],
	["azure-openai-responses", "k"],
	["openai-codex-responses", CODEX_TOKEN],
	["anthropic-messages", "k"],
	["google-generative-ai", "k"],
	["google-vertex", "k"],
	["mistral-conversations", "k"],
	[
		"bedrock-converse-stream",
		"k",
		{ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "us-east-1", AWS_BEDROCK_FORCE_HTTP1: "1" },
	],
];

test.each(APIS)("%s: requests name pi and carry the headers of provider and model", async (api, apiKey, env = {}) => {
	const { requests, origin } = await startServer();
	const lab = {
		baseUrl: origin,
		api,
		apiKey,
		headers: { "X-Team": "red", "X-Kept": "yes" },
		models: [{ id: "one", headers: { "x-team": "blue", "X-Secret-Token": "LAB_SECRET" } }, { id: "two" }],
	};
	const agentDir = tempAgentDir({ models: { providers: { lab } } });
	const run = await runPi(["-p", "--model", "lab/one", "--no-session", "hi"], {
		agentDir,
		// The AWS client is optional, so the tarball does not install it.
		...(api === "bedrock-converse-stream" && { entry: join(PACKAGE_ROOT, "bin/pi.cjs") }),
		env: { LAB_SECRET: "tell-no-one-about-this", ...env },
	});
	expect(requests.at(-1), run.stderr).toMatchObject({
		"user-agent": `pi/${packageVersion()}`,
		"x-team": "blue",
		"x-kept": "yes",
		"x-secret-token": "tell-no-one-about-this",
	});
	expect(run.code).toBe(1);
	expect(run.stderr).not.toContain("tell-no-one");
});

test("the other models of the provider do not get a model's headers, and a user agent of models.json is kept", async () => {
	const { requests, origin } = await startServer();
	const lab = {
		baseUrl: origin,
		api: "openai-completions",
		apiKey: "k",
		models: [
			{ id: "one", headers: { "x-team": "blue" } },
			{ id: "two", headers: { "user-agent": "mine/1" } },
		],
	};
	const agentDir = tempAgentDir({ models: { providers: { lab } } });
	await runPi(["-p", "--model", "lab/two", "--no-session", "hi"], { agentDir });
	expect(requests.at(-1)).toMatchObject({ "user-agent": "mine/1" });
	expect(requests.at(-1)).not.toHaveProperty("x-team");
});

test("a Claude login names the client that it was made for", async () => {
	const { requests, origin } = await startServer();
	const lab = { baseUrl: origin, api: "anthropic-messages", apiKey: "sk-ant-oat-0123456789", models: [{ id: "one" }] };
	await runPi(["-p", "--model", "lab/one", "--no-session", "hi"], {
		agentDir: tempAgentDir({ models: { providers: { lab } } }),
	});
	expect(requests.at(-1)?.["user-agent"]).toMatch(/^claude-cli\//);
});
