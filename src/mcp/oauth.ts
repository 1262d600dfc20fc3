import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { ProviderAuthInteraction } from "@mariozechner/pi-ai";
import {
	auth,
	type OAuthClientInformationMixed,
	type OAuthClientMetadata,
	type OAuthClientProvider,
	type OAuthDiscoveryState,
	type OAuthTokens,
	type StoredOAuthClientInformation,
	type StoredOAuthTokens,
} from "@modelcontextprotocol/client";

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

/** pi as an OAuth client of one server. Without an address for the browser it only renews tokens. */
export class McpOAuth implements OAuthClientProvider {
	#verifier = "";
	#discovery: OAuthDiscoveryState | undefined;
	/** Protects the answer of the browser against forgery. */
	readonly expectedState = randomBytes(24).toString("base64url");

	constructor(
		private readonly store: LoginStore,
		private readonly browser?: { redirectUrl: string; open(url: URL): void },
	) {}

	get redirectUrl(): string {
		return this.browser?.redirectUrl ?? "http://127.0.0.1/callback";
	}

	get clientMetadata(): OAuthClientMetadata {
		return {
			client_name: "pi",
			redirect_uris: [this.redirectUrl],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		};
	}

	state(): string {
		return this.expectedState;
	}

	clientInformation(): StoredOAuthClientInformation | undefined {
		return this.store.read().client;
	}

	saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
		return this.store.write({ client });
	}

	tokens(): StoredOAuthTokens | undefined {
		return this.store.read().tokens;
	}

	saveTokens(tokens: OAuthTokens): Promise<void> {
		return this.store.write({ tokens });
	}

	redirectToAuthorization(url: URL): void {
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

/**
 * Logs in to a server through the browser. The browser's answer arrives at a port of this machine that is open only during
 * the login, or the user pastes it.
 * @throws Error if the server refuses, or the user cancels
 */
export async function logInToServer(
	serverUrl: string,
	{ hints, store, steps, signal }: { hints: LoginHints; store: LoginStore; steps: LoginSteps; signal: AbortSignal },
): Promise<void> {
	const answer = await listenForAnswer(signal);
	try {
		const oauth = new McpOAuth(store, {
			redirectUrl: answer.url,
			open: (url) => {
				// A server must not make the browser open a file or a program.
				if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`refused to open ${url.protocol}`);
				const instructions = "Open this address in a browser and allow the access:";
				steps.notify({ type: "auth_url", url: url.href, instructions });
			},
		});
		// The address of the answer is another one at each login: the earlier registration does not cover it.
		await store.write({ client: undefined, tokens: undefined });
		if ((await auth(oauth, { serverUrl, ...hints })) === "AUTHORIZED") return;
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

/** Waits for the browser on a free port that only this machine reaches. */
async function listenForAnswer(signal: AbortSignal): Promise<BrowserAnswer> {
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
		server.once("error", reject).listen(0, "127.0.0.1", resolve);
	});
	const close = () => {
		server.close();
		server.closeAllConnections();
		signal.removeEventListener("abort", close);
	};
	signal.addEventListener("abort", close, { once: true });
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	return { url: `http://127.0.0.1:${port}/callback`, received, close };
}
