import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const tls = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** The certificate of the authority that signed the TLS servers of the tests. */
export const AUTHORITY = tls("ca.pem");

/** Listens on a free port of 127.0.0.1 for the running test. @returns the port */
export async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.close();
		if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
			server.closeAllConnections();
	});
	return (server.address() as AddressInfo).port;
}

/** Starts a TLS server for `models.test`. @returns its port */
export function startTlsServer(
	onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
	return listen(
		createTlsServer({ cert: readFileSync(tls("server.pem")), key: readFileSync(tls("server.key")) }, onRequest),
	);
}

/** A proxy, and the requests that it received. */
export interface TestProxy {
	port: number;
	/** Such as `CONNECT models.test:443`, `POST http://models.test/v1`; with the account, if the client sent one. */
	requests: string[];
}

export interface TestProxyOptions {
	/** The port of 127.0.0.1 that is reached for every host. */
	port?: number;
	/** Status of the answer to every request, instead of a connection. */
	refuses?: number;
	/** Never answers. */
	isSilent?: boolean;
}

/** Starts an HTTP proxy that connects every host to one port of this machine. */
export async function startProxy({ port = 0, refuses, isSilent }: TestProxyOptions = {}): Promise<TestProxy> {
	const requests: string[] = [];
	const note = (request: IncomingMessage) => {
		const account = request.headers["proxy-authorization"]?.replace(/^Basic /, "");
		const user = account ? ` as ${Buffer.from(account, "base64")}` : "";
		requests.push(`${request.method} ${request.url}${user}`);
	};
	const server = createServer((request, response) => {
		note(request);
		if (isSilent) return;
		if (refuses) return void request.resume().on("end", () => response.writeHead(refuses).end());
		const forward = connect(port, "127.0.0.1", () => {
			const { pathname } = new URL(request.url ?? "");
			const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
			forward.write(`${request.method} ${pathname} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
			request.pipe(forward);
			forward.pipe(response.socket ?? forward);
		});
		forward.on("error", () => response.destroy());
	});
	server.on("connect", (request, socket) => {
		note(request);
		socket.on("error", () => {});
		if (isSilent) return;
		if (refuses) return void socket.end(`HTTP/1.1 ${refuses} no\r\n\r\n`);
		const tunnel = connect(port, "127.0.0.1", () => {
			socket.write("HTTP/1.1 200 ok\r\n\r\n");
			tunnel.pipe(socket).pipe(tunnel);
		});
		tunnel.on("error", () => socket.destroy());
	});
	return { port: await listen(server), requests };
}

export interface SocksProxyOptions {
	/** The port of 127.0.0.1 that is reached for every host. */
	port: number;
	/** Required `user:password`. */
	account?: string;
	/** SOCKS reply code to every request, instead of a connection: 2 not allowed, 4 host unreachable. */
	refuses?: number;
}

/** Starts a SOCKS5 proxy that connects every host to one port of this machine. */
export async function startSocksProxy(options: SocksProxyOptions): Promise<TestProxy> {
	const requests: string[] = [];
	const server = createTcpServer((socket) => {
		socket.on("error", () => {});
		serveSocks(socket, options, requests).catch(() => socket.destroy());
	});
	return { port: await listen(server), requests };
}

async function serveSocks(socket: Socket, { port, account, refuses }: SocksProxyOptions, requests: string[]) {
	const next = () => new Promise<Buffer>((resolve) => socket.once("data", resolve));
	await next(); // the methods that the client offers
	socket.write(Buffer.from([5, account === undefined ? 0 : 2]));
	let user = "";
	if (account !== undefined) {
		const credentials = await next();
		const nameEnd = 2 + (credentials[1] ?? 0);
		user = `${credentials.subarray(2, nameEnd)}:${credentials.subarray(nameEnd + 1)}`;
		socket.write(Buffer.from([1, user === account ? 0 : 1]));
		if (user !== account) return void socket.end();
	}
	const request = await next();
	const nameEnd = 5 + (request[4] ?? 0);
	const host = request[3] === 3 ? request.subarray(5, nameEnd).toString() : request.subarray(4, 8).join(".");
	const hostPort = request.readUInt16BE(request.length - 2);
	requests.push(`${host}:${hostPort}${user && ` as ${user}`}`);
	const reply = (code: number) => socket.write(Buffer.from([5, code, 0, 1, 127, 0, 0, 1, 0, 0]));
	if (refuses) return void reply(refuses);
	const tunnel = connect(port, "127.0.0.1", () => {
		reply(0);
		tunnel.pipe(socket).pipe(tunnel);
	});
	tunnel.on("error", () => socket.destroy());
}
