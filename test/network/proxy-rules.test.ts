import { describe, expect, test } from "vitest";
import { readProxyRules } from "../../src/network/proxy-rules.js";

const proxyOf = (env: Record<string, string>, url: string) => readProxyRules(env)?.(url)?.host ?? null;

test("no variable, no proxy", () => {
	expect(readProxyRules({})).toBeNull();
	expect(readProxyRules({ NO_PROXY: "*", HTTPS_PROXY: " " })).toBeNull();
});

test.each([
	[{ HTTPS_PROXY: "http://a:1" }, "https://x.test", "a:1"],
	[{ HTTPS_PROXY: "http://a:1" }, "wss://x.test", "a:1"],
	[{ HTTPS_PROXY: "http://a:1" }, "http://x.test", null],
	[{ HTTP_PROXY: "http://a:1" }, "http://x.test", "a:1"],
	[{ HTTP_PROXY: "http://a:1" }, "https://x.test", null],
	[{ ALL_PROXY: "http://a:1" }, "http://x.test", "a:1"],
	[{ all_proxy: "http://a:1", https_proxy: "http://b:2" }, "https://x.test", "b:2"],
	[{ https_proxy: "http://a:1", HTTPS_PROXY: "http://b:2" }, "https://x.test", "a:1"],
	[{ HTTPS_PROXY: "squid.test:3128" }, "https://x.test", "squid.test:3128"],
	[{ HTTPS_PROXY: "http://squid.test" }, "https://x.test", "squid.test:80"],
	[{ HTTPS_PROXY: "https://squid.test" }, "https://x.test", "squid.test:443"],
	[{ ALL_PROXY: "socks5h://squid.test" }, "https://x.test", "squid.test:1080"],
])("%j: %s goes through %s", (env, url, expected) => expect(proxyOf(env, url)).toBe(expected));

test("the URL contains the account, the name for messages does not", () => {
	expect(readProxyRules({ HTTPS_PROXY: "http://me:p%40ss@a:1" })?.("https://x.test")).toEqual({
		url: "http://me:p%40ss@a:1",
		host: "a:1",
	});
});

test.each([
	"http://localhost:1",
	"http://api.localhost",
	"https://127.0.0.1",
	"https://127.3.2.1:8",
	"http://[::1]:11434",
])("%s never goes through a proxy", (url) => expect(proxyOf({ ALL_PROXY: "http://a:1" }, url)).toBeNull());

describe("NO_PROXY", () => {
	test.each([
		["*", "https://x.test", true],
		["x.test", "https://x.test", true],
		["x.test", "https://api.x.test", true],
		[".x.test", "https://api.x.test", true],
		["*.x.test", "https://api.x.test", true],
		["x.test", "https://notx.test", false],
		["X.TEST", "https://x.test", true],
		["other, x.test", "https://x.test", true],
		["other x.test", "https://x.test", true],
		["x.test:443", "https://x.test", true],
		["x.test:8443", "https://x.test", false],
		["10.0.0.0/8", "https://10.1.2.3", true],
		["10.0.0.0/8", "https://11.1.2.3", false],
		["10.1.2.3", "https://10.1.2.3", true],
		["fd00::/8", "https://[fd00::1]", true],
		["fd00::1", "https://[fd00::1]", true],
		["10.0.0.0/99", "https://10.1.2.3", false],
	])("%s: %s is excluded: %s", (list, url, isExcluded) => {
		const expected = isExcluded ? null : "a:1";
		expect(proxyOf({ HTTPS_PROXY: "http://a:1", NO_PROXY: list }, url)).toBe(expected);
		expect(proxyOf({ HTTPS_PROXY: "http://a:1", no_proxy: list }, url)).toBe(expected);
	});
});

test.each(["http://", "ftp://a:1", "http://a:port", "not a proxy"])("the address %j is refused, unquoted", (value) => {
	expect(() => readProxyRules({ https_proxy: value })).toThrow("https_proxy is not the address of a proxy");
});
