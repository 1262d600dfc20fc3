import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeFailure } from "../../src/agent/failure.js";
import { watchResponse } from "../../src/agent/response-watch.js";
import { retryTime } from "../../src/agent/retry.js";

test.each([
	['{"error":{"message":"{\\"error\\":{\\"message\\":\\"no location\\"}}"}}', "no location"],
	["Mistral API error (503): busy", "503 busy"],
	["502 <html><title>Bad\nGateway</title></html>", "the server answered 502 with a web page (Bad Gateway)"],
	["502 <!DOCTYPE html><p>", "the server answered 502 with a web page"],
	[
		'401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
		"401 invalid x-api-key",
	],
	['{"error":"model is loading"}', "model is loading"],
	['500 {"message":"internal"}', "500 internal"],
	['429 {"error":{"code":"insufficient_quota","message":"no"}}', "429 no (insufficient_quota)"],
	['429 {"error":{"code":"rate_limit_exceeded","message":"no"}}', "429 no"],
	['400 {"error":{"code":7}}', '400 {"error":{"code":7}}'],
	["400 {broken", "400 {broken"],
	["529 over\u001b[2Jloaded\nnow", "529 over␛[2Jloaded ↵ now"],
	["Connection error.", "cannot connect to the provider"],
	[
		"connect ECONNREFUSED 127.0.0.1:11434",
		"cannot connect to the provider at 127.0.0.1:11434: connection refused (ECONNREFUSED)",
	],
	["terminated", "the connection was lost during the reply"],
	["Anthropic stream ended before message_stop", "the reply ended unexpectedly"],
	["The stream ended before the reply was finished", "the reply ended unexpectedly"],
	["Request timed out.", "the provider did not answer in time"],
	["", "the request failed"],
	[undefined, "the request failed"],
])("%j is shown as %j", (message, text) => expect(describeFailure(message)).toBe(text));

test.each([
	["fetch failed", "cannot connect to px"],
	["terminated", "the connection to px was lost during the reply"],
	["Request timed out.", "px did not answer in time"],
	["Unexpected end of JSON input", "px sent invalid JSON in its reply"],
	["502 <html>", "the server answered 502 with a web page"],
])("a provider without an address is only named: %s", (message, text) =>
	expect(describeFailure(message, { provider: "px", baseUrl: "" })).toBe(text),
);

test.each([
	"cannot connect to lab at box:80: connection refused (ECONNREFUSED)",
	"the connection to lab at box:80 was lost during the reply",
	"lab at box:80 did not answer in time",
	"429 slow down: try again at 14:05 (in 1 h)",
	"the server box:80 answered 502 with a web page (Bad Gateway)",
])("a described failure is unchanged: %s", (text) => expect(describeFailure(text)).toBe(text));

describe("a failed connection", () => {
	/** Fetches an address as the clients do, and describes the failure of a client that says only `message`. */
	async function failAt(baseUrl: string, message = "Connection error."): Promise<string> {
		const watch = watchResponse(baseUrl);
		const request = watch.run(() => fetch(baseUrl, { method: "POST", body: "{}" }));
		await expect(request.then((response) => response.text())).rejects.toThrow();
		watch.stop();
		return describeFailure(message, { provider: "lab", baseUrl }, watch.facts);
	}
	async function listen(server: Server): Promise<number> {
		onTestFinished(() => void server.close());
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const address = server.address();
		return typeof address === "object" && address !== null ? address.port : 0;
	}

	test("names the host that DNS does not know", async () => {
		expect(await failAt("https://pi-test.invalid/v1")).toMatch(
			/^cannot connect to lab at pi-test\.invalid:443: DNS (?:knows no such host|did not answer) \((?:ENOTFOUND|EAI_AGAIN)\)$/,
		);
	});

	test("says that the port is closed", async () => {
		const server = createServer();
		const port = await listen(server);
		await new Promise((resolve) => server.close(resolve));
		const refused = `cannot connect to lab at localhost:${port}: connection refused (ECONNREFUSED)`;
		expect(await failAt(`http://localhost:${port}/v1`)).toBe(refused);
	});

	test("says that the server does not speak TLS", async () => {
		const port = await listen(
			createServer((socket) => void socket.on("error", () => {}).end("HTTP/1.1 400 no\r\n\r\n")),
		);
		expect(await failAt(`https://127.0.0.1:${port}`)).toBe(
			`cannot connect to lab at 127.0.0.1:${port}: TLS failed (the server does not speak TLS)`,
		);
	});

	test("says that the server ended the handshake", async () => {
		const port = await listen(createTlsServer({}).on("tlsClientError", () => {}));
		expect(await failAt(`https://127.0.0.1:${port}`)).toMatch(/: TLS failed \(.+\)$/);
	});

	test("says that the server hung up before and during the reply", async () => {
		const port = await listen(
			createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.destroy())),
		);
		expect(await failAt(`http://127.0.0.1:${port}`)).toBe(
			`lab at 127.0.0.1:${port} closed the connection without an answer`,
		);
		const head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
		const half = await listen(
			createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.end(head))),
		);
		expect(await failAt(`http://127.0.0.1:${half}`, "terminated")).toBe(
			`the connection to lab at 127.0.0.1:${half} was lost during the reply`,
		);
	});

	test("takes the reason from clients that name it", () => {
		const place = { provider: "aws", baseUrl: "https://bedrock.example" };
		expect(describeFailure("getaddrinfo ENOTFOUND bedrock.example", place)).toBe(
			"cannot connect to aws at bedrock.example:443: DNS knows no such host (ENOTFOUND)",
		);
		expect(describeFailure("Request timed out.", place)).toBe("aws at bedrock.example:443 did not answer in time");
	});
});

test("the time of a long delay names the clock, and the day if it is another", () => {
	const noon = new Date(2026, 0, 1, 12, 5).getTime();
	const times = [90_000, 3_600_000, 5_400_000, 100_000_000, 400_000_000].map((ms) => retryTime(ms, noon));
	expect(times).toEqual([
		"at 12:06 (in 2 min)",
		"at 13:05 (in 1 h)",
		"at 13:35 (in 1 h 30 min)",
		"on 2026-01-02 at 15:51 (in 27 h 47 min)",
		"on 2026-01-06 at 03:11 (in 5 days)",
	]);
});
