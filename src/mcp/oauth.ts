import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { ProviderAuthInteraction } from "@mariozechner/pi-ai";
import {
	auth,
	discoverOAuthServerInfo,
	type OAuthClientInformationContext,
	type OAuthClientMetadata,
	type OAuthClientProvider,
	type OAuthDiscoveryState,
	type StoredOAuthClientInformation,
	type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpOAuthClient } from "./config.js";

/** How to log in to a server, as its last refusal said. */
export interface LoginHints {
	resourceMetadataUrl?: URL;
	scope?: string;
}

/** What a login to a server leaves: tokens, and the registration of pi with the server. */
export interface StoredLogin {
	tokens?: StoredOAuthTokens;
	client?: StoredOAuthClientInformation;
}

/** Keeps the login of one server. */
export interface LoginStore {
	read(): StoredLogin;
	/** Merges fields; undefined removes one. @throws PiError `config_write_failed` */
	write(change: StoredLogin): Promise<void>;
	/** Runs an action while no other pi does so for the same file. */
	exclusively<T>(action: () => Promise<T>): Promise<T>;
}

/** The user's side of a login: shows the address, and asks for the one to which the browser was sent. */
export type LoginSteps = Pick<ProviderAuthInteraction, "notify" | "prompt">;

/** Authentication of a registered client without a secret, then with one. */
const AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"];

/** pi as an OAuth client of one server. Without an address for the browser it only renews tokens. */
export class McpOAuth implements OAuthClientProvider {
	#verifier = "";
	/** What the login asks for. */
	#scope: string | undefined;
	#discovery: OAuthDiscoveryState | undefined;
	/** Protects the answer of the browser against forgery. */
	readonly expectedState = randomBytes(24).toString("base64url");

	constructor(
		private readonly store: LoginStore,
		private readonly client: McpOAuthClient,
		private readonly browser?: { redirectUrl: string; open(url: URL): void },
	) {}

	get redirectUrl(): string {
		return this.browser?.redirectUrl ?? "http://127.0.0.1/callback";
	}

	get clientMetadataUrl(): string | undefined {
		return this.client.clientMetadataUrl;
	}

	get clientMetadata(): OAuthClientMetadata {
		const supported = this.#discovery?.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
		return {
			client_name: "pi",
			redirect_uris: [this.redirectUrl],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: AUTH_METHODS.find((method) => supported?.includes(method)) ?? "none",
		};
	}

	state(): string {
		return this.expectedState;
	}

	/** The client in mcp.json is bound to the first authorization server that it meets: no other gets its secret. */
	async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
		const { clientId, clientSecret } = this.client;
		let { client } = this.store.read();
		if (clientId === undefined) return client;
		if (client?.client_id !== clientId) {
			client = { client_id: clientId, ...context };
			await this.store.write({ client });
		}
		return { ...client, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
	}

	saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
		return this.store.write({ client });
	}

	tokens(): StoredOAuthTokens | undefined {
		return this.store.read().tokens;
	}

	saveTokens(tokens: StoredOAuthTokens): Promise<void> {
		// A server that grants what was asked, or what the earlier token had, need not repeat it.
		const scope = tokens.scope ?? this.#scope ?? this.store.read().tokens?.scope;
		return this.store.write({ tokens: { ...tokens, ...(scope === undefined ? {} : { scope }) } });
	}

	redirectToAuthorization(url: URL): void {
		this.#scope = url.searchParams.get("scope") ?? undefined;
		this.browser?.open(url);
	}

	saveCodeVerifier(verifier: string): void {
		this.#verifier = verifier;
	}

	codeVerifier(): string {
		return this.#verifier;
	}

	discoveryState(): OAuthDiscoveryState | undefined {
		return this.#discovery;
	}

	saveDiscoveryState(state: OAuthDiscoveryState): void {
		this.#discovery = state;
	}

	async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
		if (scope === "all" || scope === "client") await this.store.write({ client: undefined });
		if (scope === "all" || scope === "tokens") await this.store.write({ tokens: undefined });
	}
}

/** What a login needs. */
export interface LoginContext {
	client: McpOAuthClient;
	hints: LoginHints;
	store: LoginStore;
	steps: LoginSteps;
	signal: AbortSignal;
}

/**
 * Logs in to a server through the browser. The browser's answer arrives at a port of this machine that is open only during
 * the login, or the user pastes it.
 * @throws Error if the server refuses, or the user cancels
 */
export async function logInToServer(
	serverUrl: string,
	{ client, hints, store, steps, signal }: LoginContext,
): Promise<void> {
	const answer = await listenForAnswer(client.callbackPort ?? 0, signal);
	// The address of the answer is another one at each login, so the earlier registration does not cover it. Until the login
	// has succeeded, the earlier one stays.
	const draft: StoredLogin = {};
	const drafts: LoginStore = {
		read: () => draft,
		write: async (change) => void Object.assign(draft, change),
		exclusively: (action) => action(),
	};
	try {
		const oauth = new McpOAuth(drafts, client, {
			redirectUrl: answer.url,
			open: (url) => {
				// A server must not make the browser open a file or a program.
				if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`refused to open ${url.protocol}`);
				const instructions = "Open this address in a browser and allow the access:";
				steps.notify({ type: "auth_url", url: url.href, instructions });
			},
		});
		// Known before the registration, which depends on it.
		const { resourceMetadataUrl } = hints;
		oauth.saveDiscoveryState({
			...(await discoverOAuthServerInfo(serverUrl, resourceMetadataUrl ? { resourceMetadataUrl } : {})),
			...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}),
		});
		await auth(oauth, { serverUrl, ...hints });
		const typed = steps.prompt({ type: "manual_code", message: "Paste the redirect URL" });
		typed.catch(() => {}); // also awaited in the race
		const params = await Promise.race([answer.received, typed.then(readAnswer)]);
		signal.throwIfAborted();
		const problem = params.get("error_description") ?? params.get("error");
		if (problem !== null) throw new Error(problem);
		if (params.get("state") !== oauth.expectedState) throw new Error("the answer belongs to another login");
		const authorizationCode = params.get("code");
		if (!authorizationCode) throw new Error("the answer has no code · paste the complete address");
		const iss = params.get("iss") ?? undefined;
		await auth(oauth, { serverUrl, ...hints, authorizationCode, ...(iss === undefined ? {} : { iss }) });
		await store.write({ client: undefined, ...draft });
	} finally {
		answer.close();
	}
}

function readAnswer(text: string): URLSearchParams {
	if (!URL.canParse(text.trim())) throw new Error("that is not the address the browser was sent to");
	return new URL(text.trim()).searchParams;
}

interface BrowserAnswer {
	url: string;
	received: Promise<URLSearchParams>;
	close(): void;
}

/** Waits for the browser on a port that only this machine reaches. @param port 0: a free one */
async function listenForAnswer(port: number, signal: AbortSignal): Promise<BrowserAnswer> {
	const server = createServer();
	const received = new Promise<URLSearchParams>((resolve) => {
		server.on("request", (request, response) => {
			const url = new URL(request.url ?? "/", "http://127.0.0.1");
			const isAnswer = url.pathname === "/callback" && request.method === "GET";
			response.writeHead(isAnswer ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
			response.end(isAnswer ? "pi has the answer. You can close this page." : "Not found");
			if (isAnswer) resolve(url.searchParams);
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject).listen(port, "127.0.0.1", resolve);
	});
	const close = () => {
		server.close();
		server.closeAllConnections();
		signal.removeEventListener("abort", close);
	};
	signal.addEventListener("abort", close, { once: true });
	const address = server.address();
	const open = typeof address === "object" && address !== null ? address.port : port;
	return { url: `http://127.0.0.1:${open}/callback`, received, close };
}
