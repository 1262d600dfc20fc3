import { connect, type Socket } from "node:net";
import { proxyAccount } from "./proxy-rules.js";

/** A connection that a SOCKS5 proxy did not make. */
class SocksError extends Error {
	/** `account`: it wants another user name or password; `refused`: its rules; `failed`: it cannot reach the server. */
	readonly code: "SOCKS_ACCOUNT" | "SOCKS_REFUSED" | "SOCKS_FAILED";

	constructor(code: SocksError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

const VERSION = 5;
const NO_ACCOUNT = 0;
const WITH_ACCOUNT = 2;
/** Meaning of the reply codes. @see https://www.rfc-editor.org/rfc/rfc1928#section-6 */
const REPLIES = [
	"",
	"general failure",
	"not allowed by its rules",
	"network unreachable",
	"host unreachable",
	"connection refused",
	"connecting timed out",
	"command not supported",
	"address type not supported",
];
const NOT_ALLOWED = 2;

/**
 * Connects to a server through a SOCKS5 proxy, which resolves the name of the server.
 * @param proxy its URL, with port and account
 * @param timeoutMs maximum time for all steps
 * @throws SocksError, or the error of the connection to the proxy
 */
export async function connectThroughSocks(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
	const socket = connect({ host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(proxy.port) });
	const late = Object.assign(new Error("the proxy did not connect in time"), { code: "UND_ERR_CONNECT_TIMEOUT" });
	const timer = setTimeout(() => socket.destroy(late), timeoutMs);
	try {
		const read = reader(socket);
		const { user, password } = proxyAccount(proxy);
		await logIn(socket, read, user, password);
		const name = Buffer.from(host);
		socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0, 3, name.length]), name, uint16(port)]));
		const [, reply = 1, , addressType] = await read(4);
		if (reply !== 0) {
			const reason = REPLIES[reply] ?? `code ${reply}`;
			throw new SocksError(reply === NOT_ALLOWED ? "SOCKS_REFUSED" : "SOCKS_FAILED", reason);
		}
		const size = addressType === 1 ? 4 : addressType === 4 ? 16 : ((await read(1))[0] ?? 0);
		await read(size + 2); // the address that the proxy connects from
		return socket;
	} catch (error) {
		socket.destroy();
		throw error;
	} finally {
		clearTimeout(timer);
	}
}

async function logIn(socket: Socket, read: (size: number) => Promise<Buffer>, user: string, password: string) {
	const methods = user === "" ? [NO_ACCOUNT] : [NO_ACCOUNT, WITH_ACCOUNT];
	socket.write(Buffer.from([VERSION, methods.length, ...methods]));
	const [version, method] = await read(2);
	if (version !== VERSION) throw new SocksError("SOCKS_FAILED", "it does not speak SOCKS5");
	if (method === NO_ACCOUNT) return;
	if (method !== WITH_ACCOUNT || user === "") throw new SocksError("SOCKS_ACCOUNT", "");
	const parts = [user, password].map((part) => Buffer.from(part)).flatMap((part) => [Buffer.from([part.length]), part]);
	socket.write(Buffer.concat([Buffer.from([1]), ...parts]));
	const [, status] = await read(2);
	if (status !== 0) throw new SocksError("SOCKS_ACCOUNT", "");
}

/** Reads exact numbers of bytes; the server's bytes after the handshake remain in the socket. */
function reader(socket: Socket): (size: number) => Promise<Buffer> {
	return (size) =>
		new Promise((resolve, reject) => {
			const stop = () => socket.off("readable", take).off("error", fail).off("end", end);
			const fail = (error: Error) => {
				stop();
				reject(error);
			};
			const end = () => fail(Object.assign(new Error("the proxy closed the connection"), { code: "ECONNRESET" }));
			const take = () => {
				const bytes: unknown = size === 0 ? Buffer.alloc(0) : socket.read(size);
				if (!Buffer.isBuffer(bytes)) return;
				stop();
				resolve(bytes);
			};
			socket.on("readable", take).on("error", fail).on("end", end);
			take();
		});
}

function uint16(number: number): Buffer {
	return Buffer.from([number >> 8, number & 0xff]);
}
