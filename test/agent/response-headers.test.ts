import { expect, test } from "vitest";
import { publicHeaders } from "../../src/agent/response-headers.js";

test("headers with cookies and credentials are left out, and repeated ones are joined", () => {
	const raw = [
		...["Content-Type", "text/event-stream", "X-RateLimit-Remaining-Tokens", "99", "Via", "a", "Via", "b"],
		...["Set-Cookie", "sid=1", "set-cookie2", "sid=2", "Authorization", "Bearer x", "WWW-Authenticate", "Basic"],
		...["X-Api-Key", "k", "apikey", "k", "X-Auth-Token", "t", "X-Amz-Security-Token", "t", "X-CSRF-Token", "t"],
		...["X-Session-Id", "s", "Proxy-Authenticate", "Basic", "Retry-After", "3"],
	];
	expect(publicHeaders(raw.map((text) => Buffer.from(text)))).toEqual({
		"content-type": "text/event-stream",
		"x-ratelimit-remaining-tokens": "99",
		via: "a, b",
		"retry-after": "3",
	});
});
