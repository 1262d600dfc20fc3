import { hostAndPort, type ResponseFacts } from "./response-facts.js";

type Failure = NonNullable<ResponseFacts["error"]>;

/** Where a request went. */
export interface RequestTarget {
	provider: string;
	baseUrl: string;
}

/** Names the server of a request. A provider whose hook sends the requests may have no address. */
export function serverName(target: RequestTarget | undefined): string {
	if (!target) return "the provider";
	return target.baseUrl ? `${target.provider} at ${hostAndPort(target.baseUrl)}` : target.provider;
}

/** Messages of HTTP clients that name neither server nor reason. */
const LOST = /^(?:terminated|socket hang up|premature close|other side closed|.*\bsocket connection was closed.*)\.?$/i;
const NO_CONNECTION = /^(?:connection error|fetch failed|unable to make request.*|bad port)\.?(?: .*fetch failed)?$/i;
const NO_ANSWER = /^(?:request|connection) timed out\.?$/i;
const UNFINISHED =
	/stream (?:ended|closed) (?:before|without)|ended before the reply|response (?:with|has) no body|^No response body$/i;
/** Errors of Node's sockets, such as `connect ECONNREFUSED 127.0.0.1:80`. */
const SOCKET = /^(?:connect|getaddrinfo|read|write) (E[A-Z_]+)(?: (\S+))?$/;
/** Errors of Node's TLS, without their code. */
const HANDSHAKES: readonly (readonly [RegExp, code: string])[] = [
	[/^self[- ]signed certificate in certificate chain/i, "SELF_SIGNED_CERT_IN_CHAIN"],
	[/^self[- ]signed certificate$/i, "DEPTH_ZERO_SELF_SIGNED_CERT"],
	[/^unable to (?:verify the first|get local issuer) certificate/i, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
	[/^certificate has expired$/i, "CERT_HAS_EXPIRED"],
	[/does not match certificate's altnames/i, "ERR_TLS_CERT_ALTNAME_INVALID"],
];

/** True for a message that says only that no reply arrived. */
function isConnectionFailure(text: string): boolean {
	const trimmed = text.trim();
	return (
		[LOST, NO_CONNECTION, NO_ANSWER, UNFINISHED, SOCKET].some((pattern) => pattern.test(trimmed)) ||
		codeOf(trimmed) !== undefined
	);
}

function codeOf(text: string): string | undefined {
	return SOCKET.exec(text)?.[1] ?? HANDSHAKES.find(([pattern]) => pattern.test(text))?.[1];
}

/**
 * Describes where and at which step a connection failed.
 * @param raw the error of the client
 * @returns null if the server answered
 */
export function describeConnection(
	raw: string,
	target: RequestTarget | undefined,
	facts: ResponseFacts,
): string | null {
	const { status, isPage, error, proxy, isProxyError } = facts;
	const server = serverName(target);
	if (target && proxy && status === 407) return refusedByProxy(proxy, server, 407);
	if (target && status !== null && status >= 300 && status < 400) {
		return `${server} redirects to another server (${status}), which must not get your key · set baseUrl to its address`;
	}
	if (target && isPage && status !== null && status < 400) {
		return `${server} answered with a web page instead of a reply`;
	}
	if (UNFINISHED.test(raw)) return "the reply ended unexpectedly";
	if (!isConnectionFailure(raw)) return null;
	const address = SOCKET.exec(raw)?.[2];
	const named = target || !address ? server : `${server} at ${address}`;
	const via = proxy ? `${named} through proxy ${proxy}` : named;
	const code = codeOf(raw);
	const cause = code ? { code, message: "" } : error;
	if (status !== null || (LOST.test(raw) && !cause)) {
		return `the connection ${target ? `to ${via} ` : ""}was lost during the reply`;
	}
	const refusal = /^Proxy response \((\d+)\)/.exec(cause?.message ?? "")?.[1];
	if (proxy && refusal) return refusedByProxy(proxy, server, Number(refusal));
	if (proxy && cause?.code.startsWith("SOCKS_")) return refusedBySocks(proxy, server, cause);
	const step = cause ? failedStep(cause) : null;
	// All steps before TLS are between pi and the proxy.
	const isOfProxy = proxy && (isProxyError || !step?.startsWith("TLS"));
	if (step !== null) return `cannot connect to ${isOfProxy ? `proxy ${proxy} for ${named}` : via}: ${step}`;
	const silent = isOfProxy && isProxyError ? `proxy ${proxy}` : via;
	if (cause && BROKEN.has(cause.code)) return `${silent} closed the connection without an answer`;
	if (cause?.code === "UND_ERR_HEADERS_TIMEOUT" || NO_ANSWER.test(raw)) return `${silent} did not answer in time`;
	return `cannot connect to ${via}`;
}

function refusedByProxy(proxy: string, server: string, status: number): string {
	if (status === 407) return `proxy ${proxy} requires a user name and password for ${server} (407)`;
	return status < 500
		? `proxy ${proxy} refused to connect to ${server} (${status})`
		: `proxy ${proxy} cannot connect to ${server} (${status})`;
}

function refusedBySocks(proxy: string, server: string, { code, message }: Failure): string {
	if (code === "SOCKS_ACCOUNT") return `proxy ${proxy} requires a user name and password for ${server}`;
	const verb = code === "SOCKS_REFUSED" ? "refused to" : "cannot";
	return `proxy ${proxy} ${verb} connect to ${server} (${message})`;
}

const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const STEPS: Readonly<Record<string, string>> = {
	ENOTFOUND: "DNS knows no such host (ENOTFOUND)",
	EAI_AGAIN: "DNS did not answer (EAI_AGAIN)",
	ECONNREFUSED: "connection refused (ECONNREFUSED)",
	ETIMEDOUT: "connecting timed out (ETIMEDOUT)",
	UND_ERR_CONNECT_TIMEOUT: "connecting timed out",
	EHOSTUNREACH: "host unreachable (EHOSTUNREACH)",
	ENETUNREACH: "network unreachable (ENETUNREACH)",
};
const TLS_CODES = /SSL|TLS|CERT|EPROTO|^UNABLE_TO_|SIGNATURE|UND_ERR_PRX_TLS/;
/** Readable reasons of failed handshakes. */
const TLS_REASONS: Readonly<Record<string, string>> = {
	DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate",
	SELF_SIGNED_CERT_IN_CHAIN: "self-signed certificate in the chain",
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknown certificate authority",
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown certificate authority",
	CERT_HAS_EXPIRED: "expired certificate",
	ERR_TLS_CERT_ALTNAME_INVALID: "certificate of another host",
	UND_ERR_PRX_TLS: "certificate of another host",
	ERR_SSL_WRONG_VERSION_NUMBER: "the server does not speak TLS",
	ERR_SSL_PACKET_LENGTH_TOO_LONG: "the server does not speak TLS",
};

/** The step at which connecting failed; null if the connection was made. */
function failedStep({ code, message }: Failure): string | null {
	const step = STEPS[code];
	if (step !== undefined) return step;
	if (/before secure TLS connection/i.test(message)) return "TLS failed (the server closed the connection)";
	return TLS_CODES.test(code) ? `TLS failed (${TLS_REASONS[code] ?? code})` : null;
}
