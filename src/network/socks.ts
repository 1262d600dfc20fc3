import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { SocksClient } from "socks";
import { errorText } from "../errors.js";
import { proxyAccount } from "./proxy-rules.js";

/**
 * Connects to a server through a SOCKS5 proxy, which resolves the name of the server.
 * @param proxy its URL, with port and account
 * @param timeoutMs maximum time for all steps
 * @throws Error with a code: `SOCKS_ACCOUNT`, `SOCKS_REFUSED` or `SOCKS_FAILED`, or that of the connection to the proxy
 */
export async function connectThroughSocks(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
	const address = { host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(proxy.port) };
	const { user, password } = proxyAccount(proxy);
	const socket = connect(address);
	const late = withCode("UND_ERR_CONNECT_TIMEOUT", "the proxy did not connect in time");
	const timer = setTimeout(() => socket.destroy(late), timeoutMs);
	try {
		await once(socket, "connect");
		await SocksClient.createConnection({
			command: "connect",
			proxy: { ...address, type: 5, ...(user === "" ? {} : { userId: user, password }) },
			destination: { host, port },
			timeout: timeoutMs,
			existing_socket: socket,
		});
		return socket;
	} catch (error) {
		socket.destroy();
		// Of an error of the socket, the library keeps only the message.
		throw socket.errored ?? describeRefusal(errorText(error));
	} finally {
		clearTimeout(timer);
	}
}

/** The library's messages of refusals, which have no codes. The last one ends with the name of the proxy's reply. */
const NO_VERSION_5 = "Received invalid Socks5 initial handshake (invalid socks version)";
const ACCOUNT: readonly string[] = [
	"Received invalid Socks5 initial handshake (no accepted authentication type)",
	"Received invalid Socks5 initial handshake (unknown authentication type)",
	"Socks5 Authentication failed",
];
const CLOSED = "Socket closed";
const REPLY = "Socks5 proxy rejected connection - ";

/** Meaning of the replies. @see https://www.rfc-editor.org/rfc/rfc1928#section-6 */
const REPLIES: Readonly<Record<string, string>> = {
	Failure: "general failure",
	NotAllowed: "not allowed by its rules",
	NetworkUnreachable: "network unreachable",
	HostUnreachable: "host unreachable",
	ConnectionRefused: "connection refused",
	TTLExpired: "connecting timed out",
	CommandNotSupported: "command not supported",
	AddressNotSupported: "address type not supported",
};

function describeRefusal(message: string): Error {
	if (message === CLOSED) return withCode("ECONNRESET", "the proxy closed the connection");
	if (ACCOUNT.includes(message)) return withCode("SOCKS_ACCOUNT", "");
	if (message === NO_VERSION_5) return withCode("SOCKS_FAILED", "it does not speak SOCKS5");
	const reply = message.startsWith(REPLY) ? message.slice(REPLY.length) : null;
	if (reply === null) return withCode("SOCKS_FAILED", message);
	return withCode(reply === "NotAllowed" ? "SOCKS_REFUSED" : "SOCKS_FAILED", REPLIES[reply] ?? "unknown reply");
}

function withCode(code: string, message: string): Error {
	return Object.assign(new Error(message), { code });
}
