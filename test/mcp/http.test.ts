import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandShell } from "../../src/commands/command.js";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { startHttpServer } from "./http-server.js";
import { agentDirWith } from "./servers.js";

async function call({ session, provider }: TestSession, ...names: string[]): Promise<string[]> {
	const before = provider.requests.length;
	provider.reply(...names.map((name) => [toolCall(name, {})]), "done");
	await session.prompt("go");
	return provider.requests.slice(before + 1).map(({ messages }) => messages.at(-1)?.text ?? "");
}

async function status({ session }: TestSession, line: string): Promise<string> {
	const result = await session.prompt(line);
	return result.kind === "command" ? (result.status ?? "") : expect.fail();
}

test("a server over HTTP gets its headers, and is connected again when it forgets the session", async () => {
	const server = await startHttpServer();
	const pi = await startSession({
		agentDir: agentDirWith({ web: { url: server.url, headers: { Authorization: "Bearer mine" } } }),
	});
	expect(await status(pi, "/mcp")).toContain("web · ready · 4 tools");
	expect(await call(pi, "web_hello")).toEqual(["hello over http"]);
	expect(new Set(server.authorizations)).toEqual(new Set(["Bearer mine"]));
	server.forget();
	const texts = await call(pi, "web_hello", "web_hello");
	expect(texts[0]).toContain("The MCP server web ended during the call");
	expect(texts[1]).toBe("hello over http");
});

test("progress over HTTP that arrives together with the result is shown", async () => {
	const server = await startHttpServer();
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	expect(await call(pi, "web_burst")).toEqual(["burst"]);
	const updates = pi.events.filter((event) => event.type === "tool_execution_update");
	expect(updates.at(-1)?.partialResult.content).toEqual([{ type: "text", text: "2 of 2" }]);
});

test("an endless answer over HTTP is refused, and the server stays usable", async () => {
	const server = await startHttpServer();
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	const [flood = "", hello] = await call(pi, "web_flood", "web_hello");
	expect(flood).toBe("MCP server web: the answer is larger than 10 MB and was dropped");
	expect(hello).toBe("hello over http");
});

test("a malformed answer over HTTP is one plain line for the model, and the server stays usable", async () => {
	const server = await startHttpServer();
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	expect(await call(pi, "web_malformed", "web_hello")).toEqual([
		"MCP server web: it sent a malformed answer",
		"hello over http",
	]);
});

test("a server that cannot be reached is named with the reason", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: "http://127.0.0.1:9/mcp" } }) });
	expect(await status(pi, "/mcp")).toMatch(/web · failed · fetch failed: .*(ECONNREFUSED|bad port)/);
});

test("with --offline, a server on another machine gets no request", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: "https://example.com/mcp" } }), offline: true });
	expect(await status(pi, "/mcp")).toContain("web · failed · --offline allows no requests to it");
});

/** A screen whose user opens the address in a browser. */
function browser(open: (address: string) => void) {
	const asked: string[] = [];
	const shell: CommandShell = {
		copy: async () => {},
		setEditorText: () => {},
		secret: async () => null,
		quit: () => {},
		hotkeys: () => [],
		show: (_, lines) => {
			open(lines.at(-1) ?? "");
			return () => {};
		},
	};
	const waiting = (_: unknown, __: unknown, options?: { signal?: AbortSignal }) =>
		new Promise<null>((resolve) => options?.signal?.addEventListener("abort", () => resolve(null)));
	const ui: SessionUI = {
		select: waiting as SessionUI["select"],
		confirm: async () => false,
		input: (message, _, options) => {
			asked.push(message);
			return waiting(message, undefined, options);
		},
		notify: () => {},
	};
	return { shell, ui, asked };
}

test("/mcp login logs in through the browser, keeps the tokens in auth.json, and renews them", async () => {
	const server = await startHttpServer({ needsLogin: true });
	const agentDir = agentDirWith({ web: { url: server.url } });
	const pi = await startSession({ agentDir });
	expect(await status(pi, "/mcp")).toContain("web · needs a login");
	expect(pi.notices()).toContain("The MCP server web needs a login · run /mcp login web");
	// Without a login nothing is registered.
	expect(server.oauth).toEqual([]);
	let redirected = "";
	const { shell, ui, asked } = browser(async (address) => {
		const response = await fetch(address);
		redirected = response.url;
	});
	pi.session.attachUI(ui, shell);
	expect(await status(pi, "/mcp login web")).toMatch(/^Logged in to web · web · ready · 4 tools/);
	expect(asked).toEqual(["Log in to web in the browser, or paste the redirect URL"]);
	expect(server.oauth).toEqual(["register", "authorize", "authorization_code"]);
	const auth = join(agentDir, "auth.json");
	expect(JSON.parse(readFileSync(auth, "utf8"))[`mcp:${server.url}`]).toMatchObject({
		type: "mcp",
		tokens: { access_token: "access-token-1" },
		client: { client_id: "pi-client" },
	});
	expect(statSync(auth).mode & 0o777).toBe(0o600);
	// The port of the answer is closed again.
	await expect(fetch(redirected)).rejects.toThrow();
	server.valid?.clear();
	expect(await call(pi, "web_hello")).toEqual(["hello over http"]);
	expect(server.oauth.at(-1)).toBe("refresh_token");
	const other = await startSession({ agentDir });
	expect(await status(other, "/mcp")).toContain("web · ready");
	expect(await status(other, "/mcp logout web")).toBe("Logged out of web");
	expect(JSON.parse(readFileSync(auth, "utf8"))).not.toHaveProperty([`mcp:${server.url}`]);
	expect(await status(other, "/mcp")).toContain("web · needs a login");
});

test("a login that the user cancels ends completely, and an answer for another login is refused", async () => {
	const server = await startHttpServer({ needsLogin: true });
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	const { shell, ui } = browser(() => {});
	let address = "";
	pi.session.attachUI(
		{ ...ui, input: async () => null },
		{
			...shell,
			show: (_, lines) => {
				address = lines.at(-1) ?? "";
				return () => {};
			},
		},
	);
	expect(await status(pi, "/mcp login web")).toBe("The login to web was canceled");
	const port = new URL(new URL(address).searchParams.get("redirect_uri") ?? "").origin;
	await expect(fetch(port)).rejects.toThrow();
	pi.session.attachUI({ ...ui, input: async () => "http://127.0.0.1/callback?code=the-code&state=x" }, shell);
	await expect(pi.session.prompt("/mcp login web")).rejects.toMatchObject({
		message: "The login to web failed: the answer belongs to another login",
	});
	await expect(pi.session.prompt("/mcp login nobody")).rejects.toMatchObject({ code: "bad_arguments" });
});

/** Logs in without a screen, as over RPC: the address is a notice. @returns the notices */
async function logInByNotice(pi: TestSession): Promise<string[]> {
	const { ui } = browser(() => {});
	const shown: string[] = [];
	const notify = (message: string) => {
		shown.push(message);
		const [address] = /http\S+$/.exec(message) ?? [];
		if (address) void fetch(address);
	};
	pi.session.attachUI({ ...ui, notify }, null, false);
	expect(await status(pi, "/mcp login web")).toMatch(/^Logged in to web · web · ready/);
	return shown;
}

test("without a screen, /mcp login shows the address as a notice, and a user who cannot type is refused", async () => {
	const server = await startHttpServer({ needsLogin: true });
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	const refused = { code: "not_a_terminal" };
	await expect(pi.session.prompt("/mcp login web")).rejects.toMatchObject(refused);
	pi.session.attachUI({ ...browser(() => {}).ui, canType: false }, null, false);
	await expect(pi.session.prompt("/mcp login web")).rejects.toMatchObject(refused);
	expect(server.oauth).toEqual([]);
	const [notice] = await logInByNotice(pi);
	expect(notice).toMatch(
		/^Open this address in a browser and allow the access:\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/,
	);
});

test("a registered client logs in with its secret, which is kept nowhere", async () => {
	const server = await startHttpServer({ needsLogin: true, authMethods: ["client_secret_basic"] });
	const oauth = { clientId: "mine", clientSecret: ["$", "{MCP_SECRET}"].join("") };
	const agentDir = agentDirWith({ web: { url: server.url, oauth } });
	const pi = await startSession({ agentDir, env: { MCP_SECRET: "a-registered-secret" } });
	await pi.session.prompt("/mcp");
	await logInByNotice(pi);
	expect(server.oauth).toEqual(["authorize", "authorization_code"]);
	expect(server.clientAuth).toBe(`Basic ${Buffer.from("mine:a-registered-secret").toString("base64")}`);
	server.valid?.clear();
	expect(await call(pi, "web_hello")).toEqual(["hello over http"]);
	expect(server.oauth.at(-1)).toBe("refresh_token");
	const saved = readFileSync(join(agentDir, "auth.json"), "utf8");
	expect(saved).toContain('"mine"');
	expect(saved).not.toContain("a-registered-secret");
});

test.each([
	["none", "pi-client"],
	["client_secret_basic", `Basic ${Buffer.from("pi-client:issued-secret").toString("base64")}`],
	["client_secret_post", "issued-secret"],
])("pi registers for the authentication %s if the server has no other", async (method, expected) => {
	const server = await startHttpServer({ needsLogin: true, authMethods: [method] });
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	await logInByNotice(pi);
	expect(server.clientAuth).toBe(expected);
});

test("a server that reads documents of clients gets the address of one, and nothing is registered", async () => {
	const server = await startHttpServer({ needsLogin: true, readsDocuments: true });
	const clientMetadataUrl = "https://example.com/pi.json";
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url, oauth: { clientMetadataUrl } } }) });
	await pi.session.prompt("/mcp");
	await logInByNotice(pi);
	expect(server.oauth).toEqual(["authorize", "authorization_code"]);
	expect(server.asked.get("client_id")).toBe(clientMetadataUrl);
});

test("a call that needs more rights says so, the others work, and a login asks for all rights together", async () => {
	const server = await startHttpServer({ needsLogin: true });
	const agentDir = agentDirWith({ web: { url: server.url } });
	const pi = await startSession({ agentDir });
	await pi.session.prompt("/mcp");
	server.wanted = "files:read";
	await logInByNotice(pi);
	const needed = (scope: string) => `MCP server web: it needs a login with more rights (${scope}) · run /mcp login web`;
	expect(await call(pi, "web_hello", "web_burst")).toEqual([needed("files:read"), "burst"]);
	await logInByNotice(pi);
	expect(server.asked.get("scope")).toBe("files:read");
	server.wanted = "files:write";
	expect(await call(pi, "web_hello")).toEqual([needed("files:read files:write")]);
	expect(pi.notices()).toContain(needed("files:read files:write"));
	await logInByNotice(pi);
	expect(server.asked.get("scope")).toBe("files:read files:write");
	server.wanted = null;
	expect(await call(pi, "web_hello")).toEqual(["hello over http"]);
});

test("a login that the user cancels leaves the earlier one", async () => {
	const server = await startHttpServer({ needsLogin: true });
	const pi = await startSession({ agentDir: agentDirWith({ web: { url: server.url } }) });
	await pi.session.prompt("/mcp");
	await logInByNotice(pi);
	pi.session.attachUI({ ...browser(() => {}).ui, input: async () => null }, null, false);
	expect(await status(pi, "/mcp login web")).toBe("The login to web was canceled");
	expect(await call(pi, "web_hello")).toEqual(["hello over http"]);
});

test("tokens of servers are redacted", async () => {
	const agentDir = agentDirWith({});
	const login = { type: "mcp", tokens: { access_token: "a-very-secret-token", token_type: "Bearer" } };
	writeFileSync(join(agentDir, "auth.json"), JSON.stringify({ "mcp:http://x/": login }), { mode: 0o600 });
	const pi = await startSession({ agentDir });
	pi.provider.reply(httpError(400, {}, "bad a-very-secret-token"));
	await pi.session.prompt("hello");
	expect(JSON.stringify(pi.session.entries)).not.toContain("a-very-secret-token");
	expect(pi.notices().filter((line) => line.includes("auth.json"))).toEqual([]);
});
