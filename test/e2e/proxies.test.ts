import { createServer, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PiOptions } from "../helpers/pi-environment.js";
import { AUTHORITY, listen, startProxy, startSocksProxy, startTlsServer } from "../helpers/proxy.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const APIS = [
	"anthropic-messages",
	"azure-openai-responses",
	"bedrock-converse-stream",
	"google-generative-ai",
	"google-vertex",
	"mistral-conversations",
	"openai-codex-responses",
	"openai-completions",
	"openai-responses",
];
const part = (claims: unknown) => Buffer.from(JSON.stringify(claims)).toString("base64url");
/** A key that all clients accept: Codex reads the account from it. */
const KEY = `e30.${part({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } })}.c2ln`;

/** The build in the checkout, whose packages include the AWS SDK; those of the installed program do not. */
const CHECKOUT = {
	entry: fileURLToPath(new URL("../../bin/pi.cjs", import.meta.url)),
	// The SDK warns about versions of Node that pi supports.
	env: { NODE_OPTIONS: "--no-warnings" },
};

const answer = (response: ServerResponse) =>
	void response
		.writeHead(418, { "content-type": "application/json", "x-amzn-errortype": "ValidationException" })
		.end('{"error":{"message":"it arrived"},"message":"it arrived"}');

/** Sends a prompt in print mode to `<base>/v1`. */
async function ask(base: string, env: Record<string, string>, api = "openai-completions") {
	const lab = { baseUrl: `${base}/v1`, api, apiKey: KEY, models: [{ id: "one" }] };
	const agentDir = tempAgentDir({ models: { providers: { lab } }, settings: { retry: { enabled: false } } });
	const aws = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "us-east-1" };
	const program: Pick<PiOptions, "entry" | "env"> = api.startsWith("bedrock") ? CHECKOUT : {};
	const run = await runPi(["--model", "lab/one", "--no-session", "-p", "hi"], {
		agentDir,
		...program,
		env: { ...aws, ...program.env, ...env },
	});
	return run.stderr.replace(/ · .*\n$/s, "");
}

/** A TLS server behind a proxy. */
async function startSite(options: { refuses?: number } = {}) {
	const port = await startTlsServer((request, response) => void request.resume().on("end", () => answer(response)));
	const proxy = await startProxy({ port, ...options });
	const at = `127.0.0.1:${proxy.port}`;
	return { port, proxy, at, env: { HTTPS_PROXY: `http://${at}`, NODE_EXTRA_CA_CERTS: AUTHORITY } };
}

test.each(APIS)("%s reaches a TLS server with its own authority through a proxy", async (api) => {
	const { proxy, env } = await startSite();
	expect(await ask("https://models.test", env, api)).toMatch(/^lab\/one: .*it arrived$/);
	expect([...new Set(proxy.requests)]).toEqual(["CONNECT models.test:443"]);
});

test.each(["ALL_PROXY", "all_proxy", "https_proxy"])("%s names the proxy, with an account", async (name) => {
	const { proxy, at } = await startSite();
	const env = { [name]: `http://me:p%40ss@${at}`, NODE_EXTRA_CA_CERTS: AUTHORITY };
	expect(await ask("https://models.test:8443", env)).toBe("lab/one: 418 it arrived");
	expect(proxy.requests).toEqual(["CONNECT models.test:8443 as me:p@ss"]);
});

test("plain HTTP is forwarded by the proxy of HTTP_PROXY", async () => {
	const port = await listen(
		createServer((request, response) => void request.resume().on("end", () => answer(response))),
	);
	const proxy = await startProxy({ port });
	expect(await ask("http://models.test", { HTTP_PROXY: `127.0.0.1:${proxy.port}` })).toBe("lab/one: 418 it arrived");
	expect(proxy.requests).toEqual(["POST http://models.test/v1/chat/completions"]);
});

test("loopback and NO_PROXY are reached directly", async () => {
	const { port, proxy, env } = await startSite();
	expect(await ask(`https://127.0.0.1:${port}`, env)).toBe("lab/one: 418 it arrived");
	expect(await ask("https://models.test", { ...env, NO_PROXY: ".test" })).toMatch(
		/^lab\/one: cannot connect to lab at models\.test:443: DNS/,
	);
	expect(proxy.requests).toEqual([]);
});

const CLIENTS = ["openai-completions", "anthropic-messages", "bedrock-converse-stream"];
test.each(CLIENTS)("%s: a failure names the proxy and the step", async (api) => {
	const { env, at } = await startSite();
	const untrusted = { HTTPS_PROXY: env.HTTPS_PROXY };
	expect(await ask("https://models.test", untrusted, api)).toBe(
		`lab/one: cannot connect to lab at models.test:443 through proxy ${at}: TLS failed (unknown certificate authority)`,
	);
	expect(await ask("https://other.test", env, api)).toBe(
		`lab/one: cannot connect to lab at other.test:443 through proxy ${at}: TLS failed (certificate of another host)`,
	);
	const closed = "127.0.0.1:9";
	expect(await ask("https://models.test", { HTTPS_PROXY: `http://${closed}` }, api)).toBe(
		`lab/one: cannot connect to proxy ${closed} for lab at models.test:443: connection refused (ECONNREFUSED)`,
	);
	const unknown = "pi-test.invalid:3128";
	expect(await ask("https://models.test", { HTTPS_PROXY: unknown }, api)).toMatch(
		/cannot connect to proxy pi-test\.invalid:3128 for lab at models\.test:443: DNS/,
	);
});

test.each([
	[407, "requires a user name and password for lab at models.test:443 (407)"],
	[403, "refused to connect to lab at models.test:443 (403)"],
	[502, "cannot connect to lab at models.test:443 (502)"],
])("a proxy that answers %i", async (refuses, words) => {
	const { env, at } = await startSite({ refuses });
	expect(await ask("https://models.test", env)).toBe(`lab/one: proxy ${at} ${words}`);
	if (refuses === 407) {
		expect(await ask("http://models.test", { HTTP_PROXY: env.HTTPS_PROXY })).toBe(
			`lab/one: proxy ${at} ${words.replace("443", "80")}`,
		);
	}
});

describe("a SOCKS proxy", () => {
	async function startSocksSite(options: { account?: string; refuses?: number } = {}) {
		const port = await startTlsServer((request, response) => void request.resume().on("end", () => answer(response)));
		const proxy = await startSocksProxy({ port, ...options });
		return { port, proxy, at: `127.0.0.1:${proxy.port}` };
	}

	test("carries requests to a TLS server", async () => {
		const { proxy, at } = await startSocksSite();
		const env = { ALL_PROXY: `socks5://${at}`, NODE_EXTRA_CA_CERTS: AUTHORITY };
		expect(await ask("https://models.test", env, "openai-completions")).toMatch(/^lab\/one: .*it arrived$/);
		expect([...new Set(proxy.requests)]).toEqual(["models.test:443"]);
	});

	test("is refused for Amazon Bedrock, whose client has none", async () => {
		const { proxy, at } = await startSocksSite();
		const env = { ALL_PROXY: `socks5://${at}`, NODE_EXTRA_CA_CERTS: AUTHORITY };
		expect(await ask("https://models.test", env, "bedrock-converse-stream")).toContain(
			"Amazon Bedrock cannot be reached through a SOCKS proxy",
		);
		expect(proxy.requests).toEqual([]);
	});

	test("gets the account, and plain HTTP requests", async () => {
		const port = await listen(
			createServer((request, response) => void request.resume().on("end", () => answer(response))),
		);
		const proxy = await startSocksProxy({ port, account: "me:p@ss" });
		const env = { ALL_PROXY: `socks5h://me:p%40ss@127.0.0.1:${proxy.port}` };
		expect(await ask("http://models.test", env)).toBe("lab/one: 418 it arrived");
		expect(proxy.requests).toEqual(["models.test:80 as me:p@ss"]);
	});

	test.each([
		[{}, "", "cannot connect to lab at models.test:443 through proxy AT: TLS failed (unknown certificate authority)"],
		[{ account: "me:secret" }, "me:other@", "proxy AT requires a user name and password for lab at models.test:443"],
		[{ account: "me:secret" }, "", "proxy AT requires a user name and password for lab at models.test:443"],
		[{ refuses: 2 }, "", "proxy AT refused to connect to lab at models.test:443 (not allowed by its rules)"],
		[{ refuses: 4 }, "", "proxy AT cannot connect to lab at models.test:443 (host unreachable)"],
	])("%j, account “%s”: %s", async (options, account, words) => {
		const { at } = await startSocksSite(options);
		const env = { ALL_PROXY: `socks5://${account}${at}` };
		expect(await ask("https://models.test", env)).toBe(`lab/one: ${words.replace("AT", at)}`);
	});

	test("that is not running is named", async () => {
		expect(await ask("https://models.test", { ALL_PROXY: "socks5://127.0.0.1:9" })).toBe(
			"lab/one: cannot connect to proxy 127.0.0.1:9 for lab at models.test:443: connection refused (ECONNREFUSED)",
		);
	});
});

test.each([40, 80, 120])("the screen names the proxy, the step and what to do at %i columns", async (columns) => {
	const { proxy, env, at } = await startSite({ refuses: 407 });
	const lab = { baseUrl: "https://models.test/v1", api: "openai-completions", apiKey: KEY, models: [{ id: "one" }] };
	const agentDir = tempAgentDir({ models: { providers: { lab } }, settings: { retry: { enabled: false } } });
	const pi = await openPi({ agentDir, env, args: ["--model", "lab/one", "--no-session"], columns, rows: 30 });
	await submit(pi, "hi");
	const words = async () => (await pi.screen()).replace(/[\s▎]+/g, "");
	await expect.poll(words).toContain("host:port");
	expect(await words()).toContain(`proxy${at}requiresausernameandpasswordforlabatmodels.test:443(407)`);
	expect(await words()).toContain("addthemtotheproxy'saddress,asinHTTPS_PROXY=http://user:password@host:port");
	expect(proxy.requests).toEqual(["CONNECT models.test:443"]);
});

test("the browser's answer to a login is exchanged for a token through the proxy", async () => {
	const { proxy, env } = await startSite({ refuses: 403 });
	const agentDir = agentDirFor(await startProvider());
	const pi = await openPi({ agentDir, env, columns: 1000, rows: 30 });
	await pi.waitForText("0%");
	await submit(pi, "/login anthropic");
	await pi.waitForText("Log in to Anthropic");
	await pi.press("enter");
	await pi.waitForText(/[?&]state=[\w-]+/);
	const [, state = ""] = /[?&]state=([\w-]+)/.exec(await pi.screen()) ?? [];
	pi.paste(`http://localhost:53692/callback?code=a&state=${state}`);
	await pi.waitForText("callback?code=a");
	await pi.press("enter");
	await expect.poll(() => proxy.requests).toEqual(["CONNECT platform.claude.com:443"]);
});

test("a login is renewed through the proxy", async () => {
	const { proxy, env } = await startSite({ refuses: 403 });
	const login = { type: "oauth", access: "sk-ant-oat-a", refresh: "b", expires: 1 };
	const agentDir = tempAgentDir({ auth: { anthropic: login } });
	const { code } = await runPi(["--provider", "anthropic", "--no-session", "-p", "hi"], { agentDir, env });
	expect([code, proxy.requests[0]]).toEqual([1, "CONNECT platform.claude.com:443"]);
});

test("an address that is not a proxy ends the program before anything is sent", async () => {
	const { code, stderr } = await runPi(["-p", "hi"], { env: { HTTPS_PROXY: "ftp://me:secret@a" } });
	expect([code, stderr]).toEqual([
		1,
		"pi: HTTPS_PROXY is not the address of a proxy · use a URL such as HTTPS_PROXY=http://proxy.example:3128, or unset it\n",
	]);
});
