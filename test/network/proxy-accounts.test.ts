import { createServer } from "node:http";
import { expect, test } from "vitest";
import { ProxyDispatcher } from "../../src/network/proxy-dispatcher.js";
import { readProxyRules } from "../../src/network/proxy-rules.js";
import { listen, startProxy, startSocksProxy } from "../helpers/proxy.js";

/** The status of a request through a proxy. */
async function statusThrough(proxy: string): Promise<number> {
	const rules = readProxyRules({ HTTP_PROXY: proxy });
	if (!rules) throw new Error("no proxy");
	const dispatcher = new ProxyDispatcher(rules);
	return new Promise((resolve, reject) => {
		dispatcher.dispatch(
			{ origin: "http://models.test", path: "/", method: "GET" },
			{
				onRequestStart() {},
				onResponseStart: (_controller, status) => resolve(status),
				onResponseData() {},
				onResponseEnd() {},
				onResponseError: (_controller, error) => reject(error),
			},
		);
	});
}

test.each([
	["a percent sign that is not encoded", "me:100%", "me:100%"],
	["an encoded password", "me:p%40ss%25", "me:p@ss%"],
	["bytes that are not UTF-8", "me:%ff", "me:%ff"],
])("a proxy gets an account with %s", async (_, written, account) => {
	const port = await listen(createServer((_request, response) => void response.end("ok")));
	const http = await startProxy({ port });
	expect(await statusThrough(`http://${written}@127.0.0.1:${http.port}`)).toBe(200);
	expect(http.requests).toEqual([`GET http://models.test/ as ${account}`]);
	const socks = await startSocksProxy({ port, account });
	expect(await statusThrough(`socks5://${written}@127.0.0.1:${socks.port}`)).toBe(200);
});
