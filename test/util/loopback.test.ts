import { expect, test } from "vitest";
import { isLoopback } from "../../src/models/local-addresses.js";
import { isLoopbackHost } from "../../src/util/loopback.js";

test.each([
	["http://localhost:11434/v1", true],
	["HTTP://LOCALHOST", true],
	["https://127.0.0.1", true],
	["http://127.8.9.10:1", true],
	["http://127.1/v1", true],
	["http://[::1]:8080/v1", true],
	["http://[0:0:0:0:0:0:0:1]/", true],
	["http://api.localhost", false],
	["http://localhost.example", false],
	["http://127.example", false],
	["http://128.0.0.1", false],
	["http://[::2]", false],
	["http://0.0.0.0", false],
	// "localhost" is a user name here.
	["http://localhost:secret@example.com/v1", false],
])("%s is on this machine: %s", (address, expected) => {
	expect(isLoopbackHost(new URL(address).hostname)).toBe(expected);
	expect(isLoopback(address)).toBe(expected);
});

test.each(["localhost:11434", "ftp://localhost", "not an address", ""])(
	"%j is not a URL of HTTP on this machine",
	(text) => {
		expect(isLoopback(text)).toBe(false);
	},
);
