import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { connectThroughSocks } from "../../src/network/socks.js";
import { listen } from "../helpers/proxy.js";

/** Starts a server that answers each message of a client with the next of these bytes; the last answer closes if it is null. */
async function startServer(...answers: (readonly number[] | null)[]) {
	const received: Buffer[] = [];
	const server = createServer((socket: Socket) => {
		socket.on("error", () => {});
		const left = [...answers];
		socket.on("data", (data) => {
			received.push(data);
			const answer = left.shift();
			if (answer) socket.write(Buffer.from(answer));
			else if (answer === null) socket.end();
		});
	});
	const proxy = new URL(`socks5://127.0.0.1:${await listen(server)}`);
	return { proxy, received };
}

const NO_ACCOUNT = [5, 0];
const CONNECTED = [5, 0, 0, 1, 127, 0, 0, 1, 0, 0];

test.each([
	["models.test", [3, 11, ...Buffer.from("models.test")]],
	["192.0.2.1", [1, 192, 0, 2, 1]],
	["2001:db8::1", [4, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
])("the proxy gets the name or the address of a server: %s", async (host, address) => {
	const { proxy, received } = await startServer(NO_ACCOUNT, CONNECTED);
	const socket = await connectThroughSocks(proxy, host, 443, 5000);
	socket.destroy();
	expect([...(received[1] ?? [])]).toEqual([5, 1, 0, ...address, 443 >> 8, 443 & 0xff]);
});

test("what the server sends first is read after the handshake", async () => {
	const { proxy } = await startServer(NO_ACCOUNT, [...CONNECTED, ...Buffer.from("hello")]);
	const socket = await connectThroughSocks(proxy, "models.test", 443, 5000);
	const text = await new Promise((resolve) => socket.once("data", (data) => resolve(String(data))));
	socket.destroy();
	expect(text).toBe("hello");
});

test.each<[string, (readonly number[] | null)[], { code: string; message: string }]>([
	["not allowed", [NO_ACCOUNT, [5, 2, 0, 1, 0]], { code: "SOCKS_REFUSED", message: "not allowed by its rules" }],
	["host unreachable", [NO_ACCOUNT, [5, 4, 0, 1, 0]], { code: "SOCKS_FAILED", message: "host unreachable" }],
	["an unknown reply", [NO_ACCOUNT, [5, 99, 0, 1, 0]], { code: "SOCKS_FAILED", message: "unknown reply" }],
	["no accepted method", [[5, 255]], { code: "SOCKS_ACCOUNT", message: "" }],
	["another protocol", [[72, 84]], { code: "SOCKS_FAILED", message: "it does not speak SOCKS5" }],
	["a closed connection", [null], { code: "ECONNRESET", message: "the proxy closed the connection" }],
])("%s", async (_, answers, expected) => {
	const { proxy } = await startServer(...answers);
	await expect(connectThroughSocks(proxy, "models.test", 443, 5000)).rejects.toMatchObject(expected);
});

test("a proxy that does not answer, and one that is not there", async () => {
	const { proxy } = await startServer();
	const late = { code: "UND_ERR_CONNECT_TIMEOUT", message: "the proxy did not connect in time" };
	await expect(connectThroughSocks(proxy, "models.test", 443, 20)).rejects.toMatchObject(late);
	const none = new URL("socks5://127.0.0.1:9");
	await expect(connectThroughSocks(none, "models.test", 443, 5000)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
