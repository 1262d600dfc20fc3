import {
	type AuthProvider,
	auth,
	extractWWWAuthenticateParams,
	type FetchLike,
	StreamableHTTPClientTransport,
	UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Network } from "../network/network.js";
import { isRecord } from "../util/is-record.js";
import type { McpAddress } from "./config.js";
import { MAX_MESSAGE_BYTES, REFUSED_CODE, TOO_LONG_TEXT } from "./message-lines.js";
import { type LoginHints, type LoginStore, McpOAuth } from "./oauth.js";

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A connection to a server over streamable HTTP. */
export interface HttpConnection {
	transport: StreamableHTTPClientTransport;
	/** What the server said about the login it needs. */
	hints: LoginHints;
	/** The scopes of the login. */
	scope(): string | undefined;
}

/** Creates a connection that sends the tokens of an earlier login, and renews them. It never starts a login. */
export function connectHttp(
	{ url, headers, client }: Extract<McpAddress, { kind: "http" }>,
	store: LoginStore,
	network: Network,
): HttpConnection {
	const hints: LoginHints = {};
	const oauth = new McpOAuth(store, client);
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
		fetch: (target, init) => network.run(() => limitedFetch(target, init)),
	});
	return { transport, hints, scope: () => store.read().tokens?.scope };
}

/** `fetch` that refuses a message that is too long. */
const limitedFetch: FetchLike = async (url, init) => {
	const response = await fetch(url, init);
	if (!response.body) return response;
	const { status, statusText, headers } = response;
	const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
	const limited = response.body.pipeThrough(limitMessages(isStream ? requestId(init?.body) : undefined));
	return new Response(limited, { status, statusText, headers });
};

/** The id of the request that a body contains; undefined for other bodies. */
function requestId(body: unknown): unknown {
	if (typeof body !== "string") return undefined;
	try {
		const message: unknown = JSON.parse(body);
		return isRecord(message) ? message.id : undefined;
	} catch {
		return undefined; // a form, such as that of a login
	}
}

/**
 * Passes bytes on until too many arrive without the empty line that ends an event.
 * @param id of the request to which a stream of events then answers with an error; undefined: the body fails
 */
function limitMessages(id: unknown): TransformStream<Uint8Array, Uint8Array> {
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
			else if (id === undefined) controller.error(new Error(TOO_LONG_TEXT));
			else {
				const answer = { jsonrpc: "2.0", id, error: { code: REFUSED_CODE, message: TOO_LONG_TEXT } };
				controller.enqueue(new TextEncoder().encode(`\n\ndata: ${JSON.stringify(answer)}\n\n`));
				controller.terminate();
			}
		},
	});
}
