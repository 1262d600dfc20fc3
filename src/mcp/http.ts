import {
	type AuthProvider,
	auth,
	extractWWWAuthenticateParams,
	type FetchLike,
	StreamableHTTPClientTransport,
	UnauthorizedError,
} from "@modelcontextprotocol/client";
import { formatBytes } from "../tools/output.js";
import { MAX_MESSAGE_BYTES } from "./message-lines.js";
import { type LoginHints, type LoginStore, McpOAuth } from "./oauth.js";

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A connection to a server over streamable HTTP. */
export interface HttpConnection {
	transport: StreamableHTTPClientTransport;
	/** What the server said about the login it needs. */
	hints: LoginHints;
}

/** Creates a connection that sends the tokens of an earlier login, and renews them. It never starts a login. */
export function connectHttp(url: string, headers: Readonly<Record<string, string>>, store: LoginStore): HttpConnection {
	const hints: LoginHints = {};
	const oauth = new McpOAuth(store);
	/** The token of the last request. */
	let sent: string | undefined;
	const authProvider: AuthProvider = {
		async token() {
			sent = (await oauth.tokens())?.access_token;
			return sent;
		},
		async onUnauthorized({ response, serverUrl, fetchFn }) {
			Object.assign(hints, extractWWWAuthenticateParams(response));
			const isAllowed = await store.exclusively(async () => {
				const current = await oauth.tokens();
				// Another pi may have renewed it: a refresh token works once.
				if (current && current.access_token !== sent) return true;
				if (current?.refresh_token === undefined) return false;
				return (await auth(oauth, { serverUrl, fetchFn, ...hints })) === "AUTHORIZED";
			});
			if (!isAllowed) throw new UnauthorizedError();
		},
	};
	const transport = new StreamableHTTPClientTransport(new URL(url), {
		authProvider,
		requestInit: { headers: { ...headers } },
		fetch: limitedFetch,
	});
	return { transport, hints };
}

/** `fetch` whose body fails once a single message in it is too long. */
const limitedFetch: FetchLike = async (url, init) => {
	const response = await fetch(url, init);
	if (!response.body) return response;
	const { status, statusText, headers } = response;
	return new Response(response.body.pipeThrough(limitMessages()), { status, statusText, headers });
};

/** Passes bytes on and fails when too many arrive without the empty line that ends an event. */
function limitMessages(): TransformStream<Uint8Array, Uint8Array> {
	let bytes = 0;
	let isLineEmpty = true;
	return new TransformStream({
		transform(chunk, controller) {
			for (let at = 0; at < chunk.length; at++) {
				bytes++;
				const byte = chunk[at];
				if (byte === NEWLINE) {
					if (isLineEmpty) bytes = 0;
					isLineEmpty = true;
				} else if (byte !== RETURN) isLineEmpty = false;
			}
			if (bytes <= MAX_MESSAGE_BYTES) controller.enqueue(chunk);
			else controller.error(new Error(`the answer is larger than ${formatBytes(MAX_MESSAGE_BYTES)} and was dropped`));
		},
	});
}
