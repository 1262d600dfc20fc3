import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** A host, and where a request to it may connect. */
export interface CheckedHost {
	name: string;
	addresses: readonly ResolvedAddress[];
	/** Those of this machine or of its network. */
	private: readonly string[];
}

export interface ResolvedAddress {
	address: string;
	family: 4 | 6;
}

/** Not of the public internet (RFC 6890): this machine, its network, its provider's, metadata services, and what nobody has. */
const PRIVATE = new BlockList();
for (const block of [
	...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
	...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
	...["224.0.0.0/4", "240.0.0.0/4"],
]) {
	const [address = "", bits] = block.split("/");
	PRIVATE.addSubnet(address, Number(bits), "ipv4");
}

/** True for an IPv4 or IPv6 address that is not one of the public internet, and for what is no address. */
export function isPrivateAddress(address: string): boolean {
	const plain = address.split("%", 1)[0] ?? "";
	if (isIP(plain) === 4) return PRIVATE.check(plain, "ipv4");
	const groups = isIP(plain) === 6 ? groupsOf(plain) : [];
	const [a = 0, b = 0, c = 0] = groups;
	if (groups.length !== 8) return true;
	const begins = (...start: number[]) => start.every((group, at) => groups[at] === group);
	// An IPv4 address in an IPv6 address: mapped, translated (NAT64) or tunneled (6to4).
	if (begins(0, 0, 0, 0, 0, 0xffff) || begins(0x64, 0xff9b, 0, 0, 0, 0)) return PRIVATE.check(ipv4(groups.slice(6)));
	if (a === 0x2002) return PRIVATE.check(ipv4([b, c]));
	// Of the rest, only 2000::/3 is public, without Teredo and the special blocks of 2001::/23, and documentation.
	const isGlobal = a >= 0x2000 && a <= 0x3fff;
	return !isGlobal || (a === 0x2001 && (b < 0x200 || b === 0xdb8)) || (a === 0x3fff && b < 0x1000);
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
	// In its shortest form, without a dotted end.
	const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
	const [start = "", end] = text.split("::");
	const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
	const [first, last] = [read(start), read(end ?? "")];
	return end === undefined ? first : [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function ipv4([high = 0, low = 0]: readonly number[]): string {
	return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The name or the address of a URL's host, without brackets and without the final dot. */
export function hostOf(url: URL): string {
	return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** True for a host that is an address, in any notation: URLs have one form of them. */
export function isAddress(host: string): boolean {
	return isIP(host) !== 0;
}

/**
 * Finds the addresses of a host. A name has all addresses that the machine knows for it.
 * @throws the error of the resolver
 */
export async function resolveHost(url: URL): Promise<CheckedHost> {
	const name = hostOf(url);
	const family = isIP(name);
	const found =
		family === 0 ? await lookup(name, { all: true, verbatim: true }) : [{ address: name, family: family as 4 | 6 }];
	const addresses = found.map(({ address, family }) => ({
		address,
		family: family === 6 ? (6 as const) : (4 as const),
	}));
	return {
		name,
		addresses,
		private: addresses.map(({ address }) => address).filter((address) => isPrivateAddress(address)),
	};
}
