import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { lightFetch } from "../../src/network/light-fetch.js";
import { isLightRequest, LightHeaders, type LightRequest } from "../../src/network/light-headers.js";
import { type Exchange, withScope } from "../../src/network/request-scope.js";
import { listen } from "../helpers/proxy.js";

const JSON_TYPE = { "content-type": "application/json" };

async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
	const listener: RequestListener = (request, response) => {
		const chunks: Buffer[] = [];
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => answer(request, response, Buffer.concat(chunks).toString()));
	};
	return `http://127.0.0.1:${await listen(createServer(listener))}/v1`;
}

/** Does something and reports its requests. */
function watching<T>(exchange: Partial<Exchange>, action: () => T): T {
	const none = { onRoute() {}, onResponse() {}, onFailure() {}, onErrorBody() {} };
	return withScope({ exchange: { ...none, ...exchange } }, action);
}

/** Sends a request with these headers. */
function send(url: string, init: Omit<LightRequest, "headers"> = {}, headers: Record<string, string> = {}) {
	return lightFetch(url, { ...init, headers: new LightHeaders(Object.entries(headers).flat()) });
}

test("a request arrives with its headers and body, and the answer with its own", async () => {
	const url = await serve(({ method, headers }, response, body) => {
		response.writeHead(201, { ...JSON_TYPE, "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] });
		response.end(JSON.stringify({ method, body, key: headers["x-key"], length: headers["content-length"] }));
	});
	const response = await send(url, { method: "POST", body: "ünï" }, { "X-Key": " secret\n" });
	expect({ status: response.status, ok: response.ok, url: response.url }).toEqual({ status: 201, ok: true, url });
	expect([response.headers.get("X-Request-ID"), response.headers.get("set-cookie")]).toEqual(["r1", "a=1, b=2"]);
	expect(await response.json()).toEqual({ method: "POST", body: "ünï", key: "secret", length: "5" });
});

test("a long body arrives complete, with characters outside the basic plane", async () => {
	const url = await serve((_, response, body) => response.end(JSON.stringify(body)));
	const body = { items: [`x${"😀".repeat(3_000_000)}`, ...Array.from({ length: 10_000 }, (_, id) => ({ id }))] };
	const text = JSON.stringify(body);
	for (const sent of [text]) {
		expect((await (await send(url, { method: "POST", body: sent })).json()) === text).toBe(true);
	}
});

test.each(["gzip", "x-gzip", "GZIP"])("a body with the content encoding %s is decoded", async (encoding) => {
	const url = await serve(({ headers }, response) => {
		response.writeHead(200, { "content-encoding": encoding, "x-accepted": headers["accept-encoding"] });
		response.end(gzipSync("the answer"));
	});
	const response = await send(url);
	expect(await response.text()).toBe("the answer");
	expect(response.headers.get("x-accepted")).toBe("gzip, deflate, br");
});

test("a compressed event stream is passed on while it arrives", async () => {
	const { createGzip } = await import("node:zlib");
	const url = await serve((_, response) => {
		response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/event-stream" });
		const gzip = createGzip();
		gzip.pipe(response);
		gzip.write("data: 1\n\n");
		gzip.flush();
	});
	const reader = (await send(url)).body?.getReader();
	expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
	await reader?.cancel();
});

test("requests in turn share a connection", async () => {
	const url = await serve(({ socket }, response) => response.end(String(socket.remotePort)));
	const port = await (await send(url)).text();
	expect(await (await send(url)).text()).toBe(port);
});

test("a clone has the same body", async () => {
	const url = await serve((_, response) => response.end("the answer"));
	const response = await send(url);
	expect([await response.clone().text(), await response.text()]).toEqual(["the answer", "the answer"]);
});

test("a redirect is returned, not followed", async () => {
	const url = await serve((_, response) => response.writeHead(307, { location: "/v2" }).end());
	const { status, headers } = await send(url, { redirect: "manual" });
	expect([status, headers.get("location")]).toEqual([307, "/v2"]);
});

test("a refused connection rejects like fetch, and is reported with its code", async () => {
	const failures: unknown[] = [];
	const url = "http://127.0.0.1:9";
	const sent = watching({ onFailure: (to, error) => failures.push([to, error]) }, () => send(url));
	await expect(sent).rejects.toMatchObject({ name: "TypeError", message: "fetch failed" });
	expect(failures).toEqual([[url, expect.objectContaining({ code: "ECONNREFUSED" })]]);
});

test("a connection lost during the response rejects like fetch", async () => {
	const url = await serve((_, response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write("data: 1\n\n", () => response.destroy());
	});
	const response = await send(url);
	expect(response.status).toBe(200);
	await expect(response.text()).rejects.toMatchObject({ name: "TypeError", message: "terminated" });
});

test("a connection closed without an answer is reported", async () => {
	const failures: Error[] = [];
	const url = await serve(({ socket }) => socket.destroy());
	const sent = watching({ onFailure: (_, error) => failures.push(error) }, () => send(url));
	await expect(sent).rejects.toThrow("fetch failed");
	expect(failures).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
});

test.each(["before the request", "before the answer", "during the answer"])(
	"an abort %s rejects with its reason",
	async (when) => {
		const abort = new AbortController();
		const url = await serve((_, response) => {
			if (when === "before the answer") return abort.abort(new Error("enough"));
			response.writeHead(200).write("part", () => setImmediate(() => abort.abort(new Error("enough"))));
		});
		if (when === "before the request") abort.abort(new Error("enough"));
		await expect(send(url, { signal: abort.signal }).then((response) => response.text())).rejects.toThrow("enough");
	},
);

test("each response is reported with its headers", async () => {
	const seen: unknown[] = [];
	const url = await serve((_, response) => response.writeHead(429, { "x-id": "a" }).end());
	const onResponse: Exchange["onResponse"] = (from, status, headers) =>
		seen.push([from, status, new LightHeaders(headers).get("x-id")]);
	await (await watching({ onResponse }, () => send(url))).text();
	expect(seen).toEqual([[url, 429, "a"]]);
});

test.each([
	[["http://a/v1", { method: "POST", headers: new LightHeaders(), body: "{}" }], true],
	[["https://a/v1", { headers: new LightHeaders(), signal: AbortSignal.abort() }], true],
	[["file:///a", { headers: new LightHeaders() }], false],
	[[new URL("http://a"), { headers: new LightHeaders() }], false],
	[["http://a/v1", { headers: new Headers() }], false],
	[["http://a/v1", { headers: new LightHeaders(), body: new FormData() }], false],
	[["http://a/v1", { headers: new LightHeaders(), redirect: "manual" }], true],
	[["http://a/v1", { headers: new LightHeaders(), redirect: "error" }], false],
	[["http://a/v1"], false],
] as const)("case %#: whether a request can be sent so", (request, expected) => {
	expect(isLightRequest(request)).toBe(expected);
});

test("Node's own headers accept those of a light request", () => {
	const headers = new LightHeaders(["A", "1", "b", "2", "a", "3"]);
	expect([...new Headers([...headers])]).toEqual([
		["a", "1, 3"],
		["b", "2"],
	]);
});
