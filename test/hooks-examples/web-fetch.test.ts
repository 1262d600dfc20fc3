import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type FetchOptions, fetchAddress } from "../../hooks-examples/web/fetch.js";
import { serveWeb } from "./web-server.js";

const MB = 1024 * 1024;

/** Fetches a path of a server whose address the user has allowed. */
async function get(answer: RequestListener, path = "/", options: Partial<FetchOptions> = {}) {
	const at = await serveWeb(answer);
	const signal = new AbortController().signal;
	const found = await fetchAddress(new URL(at + path), { signal, allowed: ["127.0.0.1"], ...options });
	return { ...found, at, text: found.bytes.toString() };
}

test("a request has no cookies, keys or referrer, and cookies are not sent back", async () => {
	const seen: IncomingHttpHeaders[] = [];
	const { text } = await get((request, response) => {
		seen.push(request.headers);
		if (request.url === "/") response.writeHead(302, { location: "/next", "set-cookie": "a=b" }).end();
		else response.end("here");
	});
	expect(text).toBe("here");
	expect(seen.map((headers) => Object.keys(headers).sort())).toEqual(
		Array(2).fill(["accept", "accept-encoding", "connection", "host", "user-agent"]),
	);
});

test("a private address is not connected to unless it is allowed", async () => {
	let count = 0;
	const answer: RequestListener = (_, response) => {
		count++;
		response.end();
	};
	await expect(get(answer, "/", { allowed: [] })).rejects.toThrow(
		/^127\.0\.0\.1 is not an address of the public internet\. Fetch http:\S+ itself: the user is then asked first\.$/,
	);
	// The user has allowed what the name was when the question was asked.
	await expect(get(answer, "/", { allowed: ["10.0.0.1"] })).rejects.toThrow("not an address of the public internet");
	expect(count).toBe(0);
});

test("a name that is a private address is refused with that address", async () => {
	const at = await serveWeb((_, response) => response.end());
	const url = new URL(at.replace("127.0.0.1", "localhost"));
	await expect(fetchAddress(url, { signal: new AbortController().signal })).rejects.toThrow(
		/^localhost is (?:127\.0\.0\.1|::1)/,
	);
});

test.each([
	["http://127.0.0.1:1/", "not an address of the public internet"],
	["http://2130706433/", "not an address of the public internet"],
	["http://169.254.169.254/latest/meta-data/", "not an address of the public internet"],
	["http://[::ffff:169.254.169.254]/", "not an address of the public internet"],
	["http://[fd00:ec2::254]/", "not an address of the public internet"],
	["//10.0.0.1/", "not an address of the public internet"],
	["file:///etc/passwd", "file: is not fetched"],
	["data:text/plain,x", "data: is not fetched"],
	["http://user:key@127.0.0.1/", "contains a user name or a password"],
	["http://[", "redirects to something that is not a URL"],
])("a redirect to %s is not followed", async (location, reason) => {
	await expect(get((_, response) => response.writeHead(302, { location }).end())).rejects.toThrow(reason);
});

test("five redirects are followed, a loop is not", async () => {
	const answer: RequestListener = ({ url }, response) => {
		const left = Number(url?.slice(1));
		if (left === 0) response.end("found");
		else response.writeHead(301, { location: `/${left - 1}` }).end("x".repeat(1000));
	};
	const { text, url, at } = await get(answer, "/5");
	expect([text, url.href]).toEqual(["found", `${at}/0`]);
	await expect(get(answer, "/6")).rejects.toThrow("redirects more than 5 times");
	await expect(get((_, response) => response.writeHead(307, { location: "/" }).end())).rejects.toThrow(
		"more than 5 times",
	);
});

test("an endless body is cut at 5 MB", async () => {
	const { bytes, isCut } = await get((_, response) => {
		const write = () => {
			while (!response.destroyed && response.write("x".repeat(64 * 1024)));
		};
		response.on("drain", write);
		write();
	});
	expect([bytes.length, isCut]).toEqual([5 * MB, true]);
});

test.each([
	["gzip", gzipSync(Buffer.alloc(60 * MB))],
	["br", brotliCompressSync(Buffer.alloc(60 * MB))],
])("what a small %s body expands to is limited", async (encoding, body) => {
	const { bytes, isCut } = await get((_, response) =>
		response.writeHead(200, { "content-encoding": encoding }).end(body),
	);
	expect([bytes.length, isCut]).toEqual([5 * MB, true]);
});

test("compressed pages are decoded; a damaged one is an error", async () => {
	const packed = gzipSync("a page");
	const { text } = await get((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed));
	expect(text).toBe("a page");
	await expect(
		get((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip")),
	).rejects.toThrow(/^The page broke off after 0 bytes/);
});

test("a server that sends a byte at a time is left after the time limit", async () => {
	const slow: RequestListener = (_, response) => {
		const timer = setInterval(() => response.write("x"), 20);
		response.on("close", () => clearInterval(timer));
	};
	await expect(get(slow, "/", { timeoutMs: 200 })).rejects.toThrow(/^127\.0\.0\.1:\d+ took longer than 0\.2 s$/);
	await expect(get(() => {}, "/", { timeoutMs: 200 })).rejects.toThrow("took longer than");
});

test("an abort ends a request with its reason", async () => {
	const stop = new AbortController();
	const reason = new Error("stopped by the user");
	await expect(get(() => stop.abort(reason), "/", { signal: stop.signal })).rejects.toBe(reason);
});

test("a connection that breaks off, and a port that nobody listens to", async () => {
	await expect(get((_, response) => response.destroy())).rejects.toThrow(/cannot be reached \(ECONNRESET\)$/);
	await expect(
		get((_, response) => {
			response.writeHead(200, { "content-length": 100 });
			response.write("begin");
			response.flushHeaders();
			setImmediate(() => response.destroy());
		}),
	).rejects.toThrow(/broke off after|cannot be reached/);
	const signal = new AbortController().signal;
	await expect(fetchAddress(new URL("http://127.0.0.1:1/"), { signal, allowed: ["127.0.0.1"] })).rejects.toThrow(
		"127.0.0.1:1 cannot be reached (ECONNREFUSED)",
	);
	await expect(fetchAddress(new URL("http://nowhere.invalid/"), { signal })).rejects.toThrow(
		/^The name nowhere\.invalid cannot be resolved \(\w+\)$/,
	);
});
