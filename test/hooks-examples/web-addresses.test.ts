import fc from "fast-check";
import { expect, test } from "vitest";
import { isPrivateAddress, resolveHost } from "../../hooks-examples/web/addresses.js";
import { parseAddress, privateAddresses } from "../../hooks-examples/web/fetch.js";

const byte = fc.integer({ min: 0, max: 255 });
type Address = readonly [number, number, number, number];

/** IPv4 addresses that are not public, from each block. */
const privateIpv4: fc.Arbitrary<Address> = fc.oneof(
	fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
	fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
	fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
	fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
	fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
	fc.tuple(fc.constant(198), fc.constantFrom(18, 19), byte, byte),
	fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
);

/** IPv4 addresses of networks that have no special blocks. */
const publicIpv4: fc.Arbitrary<Address> = fc.tuple(
	fc.constantFrom(1, 8, 23, 45, 93, 104, 142, 151, 185, 216),
	byte,
	byte,
	byte,
);

const hex = (value: number) => `0x${value.toString(16)}`;
const octal = (value: number) => `0${value.toString(8)}`;
const group = (high: number, low: number) => (high * 256 + low).toString(16);

/** All ways to write an IPv4 address as the host of a URL. */
function notations(address: Address): string[] {
	const [a, b, c, d] = address;
	const number = ((a * 256 + b) * 256 + c) * 256 + d;
	return [
		...[address.join("."), `${address.join(".")}.`, `${number}`, hex(number), octal(number)],
		...[
			address.map(hex).join("."),
			address.map(octal).join("."),
			`${a}.${b}.${c * 256 + d}`,
			`${hex(a)}.${octal(b)}.${c}.${d}`,
		],
		...[`[::ffff:${address.join(".")}]`, `[0:0:0:0:0:FFFF:${group(a, b)}:${group(c, d)}]`],
		...[`[64:ff9b::${address.join(".")}]`, `[2002:${group(a, b)}:${group(c, d)}::1]`],
	];
}

/** The addresses of a host that has one. */
const found = async (host: string) => (await resolveHost(new URL(`http://${host}/`))).private;

test("every notation of a private IPv4 address is private", async () => {
	await fc.assert(
		fc.asyncProperty(privateIpv4, async (address) => {
			for (const host of notations(address)) expect([host, (await found(host)).length]).toEqual([host, 1]);
		}),
	);
});

test("no notation of a public IPv4 address is private", async () => {
	await fc.assert(
		fc.asyncProperty(publicIpv4, async (address) => {
			for (const host of notations(address)) expect([host, await found(host)]).toEqual([host, []]);
		}),
	);
});

test.each([
	...["::", "::1", "::7f00:1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1"],
	...["100::1", "64:ff9b:1::a00:1", "2001::1", "2001:db8::1", "3fff::1", "4000::1", "::ffff:0:127.0.0.1"],
	...["192.0.0.1", "192.0.2.1", "192.88.99.1", "198.51.100.1", "203.0.113.1", "", "no address", "1.2.3", "1::2::3"],
])("%s is not public", (address) => {
	expect(isPrivateAddress(address)).toBe(true);
});

test.each([
	"2606:4700::1111",
	"2a00:1450:4001:82a::200e",
	"2001:4860:4860::8888",
	"::ffff:8.8.8.8",
	"172.32.0.1",
	"100.128.0.1",
])("%s is public", (address) => {
	expect(isPrivateAddress(address)).toBe(false);
});

test.each(["http://localhost:3000/", "http://LOCALHOST./", "http://127.1/", "http://[::1]:80/"])(
	"%s is this machine",
	async (url) => {
		expect(await privateAddresses(new URL(url))).not.toEqual([]);
	},
);

test.each([
	["not a url", "This is not a URL"],
	["/relative", "This is not a URL"],
	["file:///etc/passwd", "file: is not fetched"],
	["data:text/html,x", "data: is not fetched"],
	["javascript:alert(1)", "javascript: is not fetched"],
	["ftp://a.example/", "ftp: is not fetched"],
	["https://user:key@a.example/", "contains a user name or a password"],
	["https://user@a.example/", "contains a user name or a password"],
	[`https://a.example/${"x".repeat(5000)}`, "This is not a URL"],
])("%s is refused", (text, reason) => {
	expect(() => parseAddress(text)).toThrow(reason);
});
