import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server that speaks streamable HTTP, and its authorization server, on this machine. */
export interface HttpServer {
	url: string;
	/** The `Authorization` headers of the requests to the MCP endpoint. */
	authorizations: (string | undefined)[];
	/** Names of the requests to the authorization server. */
	oauth: string[];
	/** What the browser opened last. */
	asked: URLSearchParams;
	/** How the client authenticated at the token endpoint last. */
	clientAuth: string | undefined;
	/** Scope without which the tool `hello` is refused. */
	wanted: string | null;
	/** Tokens that are valid now; null: none are needed. */
	valid: Set<string> | null;
	/** Forgets the sessions, as a restart does. */
	forget(): void;
}

/** Starts the server. `needsLogin`: only tokens that it issued are accepted. `readsDocuments`: it reads the documents of clients. */
export async function startHttpServer({
	needsLogin = false,
	authMethods = ["none"],
	readsDocuments = false,
} = {}): Promise<HttpServer> {
	let sessions = 0;
	let current = "";
	let issued = 0;
	const server = createServer((request, response) => {
		void handle(request, response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const state: HttpServer = {
		url: `${origin}/mcp`,
		authorizations: [],
		oauth: [],
		asked: new URLSearchParams(),
		clientAuth: undefined,
		wanted: null,
		valid: needsLogin ? new Set() : null,
		forget: () => {
			current = "";
		},
	};
	const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) => {
		response.writeHead(status, { "content-type": "application/json", ...headers });
		response.end(JSON.stringify(body));
	};
	const tokens = () => {
		issued++;
		state.valid?.add(`access-token-${issued}`);
		return {
			access_token: `access-token-${issued}`,
			refresh_token: `refresh-token-${issued}`,
			token_type: "Bearer",
			expires_in: 3600,
		};
	};

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { pathname, searchParams } = new URL(request.url ?? "/", origin);
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(Buffer.from(chunk));
		const body = Buffer.concat(chunks).toString("utf8");
		if (pathname === "/.well-known/oauth-protected-resource/mcp") {
			return json(response, { resource: state.url, authorization_servers: [origin] });
		}
		if (pathname === "/.well-known/oauth-authorization-server") {
			return json(response, {
				issuer: origin,
				authorization_endpoint: `${origin}/authorize`,
				token_endpoint: `${origin}/token`,
				registration_endpoint: `${origin}/register`,
				response_types_supported: ["code"],
				code_challenge_methods_supported: ["S256"],
				token_endpoint_auth_methods_supported: authMethods,
				client_id_metadata_document_supported: readsDocuments,
				grant_types_supported: ["authorization_code", "refresh_token"],
			});
		}
		if (pathname === "/register") {
			state.oauth.push("register");
			const { token_endpoint_auth_method: method, ...client } = JSON.parse(body);
			if (!authMethods.includes(method)) return json(response, { error: "invalid_client_metadata" }, 400);
			const secret = method === "none" ? {} : { client_secret: "issued-secret" };
			const registered = { ...client, token_endpoint_auth_method: method, client_id: "pi-client", ...secret };
			return json(response, registered, 201);
		}
		if (pathname === "/authorize") {
			state.oauth.push("authorize");
			state.asked = searchParams;
			const back = new URL(searchParams.get("redirect_uri") ?? "");
			back.searchParams.set("code", "the-code");
			back.searchParams.set("state", searchParams.get("state") ?? "");
			response.writeHead(302, { location: back.href });
			return void response.end();
		}
		if (pathname === "/token") {
			const form = new URLSearchParams(body);
			state.oauth.push(form.get("grant_type") ?? "");
			state.clientAuth =
				request.headers.authorization ?? form.get("client_secret") ?? form.get("client_id") ?? undefined;
			const isValid = form.get("code") === "the-code" || form.get("refresh_token") === `refresh-token-${issued}`;
			return isValid ? json(response, tokens()) : json(response, { error: "invalid_grant" }, 400);
		}
		if (pathname !== "/mcp") return json(response, {}, 404);
		const { authorization } = request.headers;
		state.authorizations.push(authorization);
		if (state.valid && !state.valid.has((authorization ?? "").replace("Bearer ", ""))) {
			const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
			return json(response, {}, 401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
		}
		if (request.method !== "POST") return json(response, {}, 405);
		const message = JSON.parse(body);
		if (message.method !== "initialize" && request.headers["mcp-session-id"] !== current)
			return json(response, {}, 404);
		if (message.id === undefined) return void response.writeHead(202).end();
		const result = (value: object, headers = {}) =>
			json(response, { jsonrpc: "2.0", id: message.id, result: value }, 200, headers);
		if (message.method === "initialize") {
			current = `session-${++sessions}`;
			const { protocolVersion } = message.params;
			const serverInfo = { name: "http", version: "1" };
			return result({ protocolVersion, capabilities: { tools: {} }, serverInfo }, { "mcp-session-id": current });
		}
		const tool = (name: string) => ({ name, description: name, inputSchema: { type: "object" } });
		if (message.method === "tools/list") {
			return result({ tools: [tool("hello"), tool("flood"), tool("malformed"), tool("burst")] });
		}
		if (message.params?.name === "hello" && state.wanted !== null) {
			const challenge = `Bearer error="insufficient_scope", scope="${state.wanted}"`;
			return json(response, {}, 403, { "www-authenticate": challenge });
		}
		if (message.params?.name === "burst") {
			const note = (progress: number) => {
				const params = { progressToken: message.params._meta?.progressToken, progress, total: 2 };
				return { jsonrpc: "2.0", method: "notifications/progress", params };
			};
			const answer = { jsonrpc: "2.0", id: message.id, result: { content: [{ type: "text", text: "burst" }] } };
			response.writeHead(200, { "content-type": "text/event-stream" });
			return void response.end([note(1), note(2), answer].map((line) => `data: ${JSON.stringify(line)}\n\n`).join(""));
		}
		if (message.params?.name === "malformed") {
			return json(response, { jsonrpc: "2.0", id: message.id, result: "text" });
		}
		if (message.params?.name !== "flood") return result({ content: [{ type: "text", text: "hello over http" }] });
		response.writeHead(200, { "content-type": "text/event-stream" });
		const part = "x".repeat(1024 * 1024);
		for (let sent = 0; sent < 20 && !response.destroyed; sent++) {
			if (!response.write(`${sent === 0 ? "data: " : ""}${part}`)) {
				await new Promise((resolve) => response.once("drain", resolve));
			}
		}
		response.end("\n\n");
	}
	return state;
}
