import { BlockList, isIP } from "node:net";
import { PiError } from "../errors.js";
import { isLoopbackHost } from "../util/loopback.js";

/** A proxy that requests go through. */
export interface ProxyServer {
	/** With user name and password, for clients. */
	url: string;
	/** `host:port`, for messages. */
	host: string;
}

/** Finds the proxy of an address. */
export type ProxyRules = (url: string) => ProxyServer | null;

/** Ports of a proxy address without one. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "socks5:": 1080 };
/** `socks5h` differs only in who resolves names, and a proxy always does for pi. */
const SCHEMES: Readonly<Record<string, string>> = { "socks:": "socks5:", "socks5h:": "socks5:" };

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; lower case takes precedence. Requests to this machine never
 * go through a proxy.
 * @returns null if the environment names no proxy
 * @throws PiError `proxy_invalid` for an address that is not a URL, or whose scheme is unknown
 */
export function readProxyRules(env: Readonly<Record<string, string | undefined>>): ProxyRules | null {
	const read = (name: string) => {
		const [lower, upper] = [name.toLowerCase(), name.toUpperCase()];
		const value = env[lower]?.trim() || env[upper]?.trim();
		return value ? parseProxy(env[lower]?.trim() ? lower : upper, value) : null;
	};
	const all = read("ALL_PROXY");
	const http = read("HTTP_PROXY") ?? all;
	const https = read("HTTPS_PROXY") ?? all;
	if (!http && !https) return null;
	const isExcluded = readExclusions(env.no_proxy?.trim() || env.NO_PROXY?.trim() || "");
	return (address) => {
		const url = parseUrl(address);
		if (!url || isLoopbackHost(url.hostname) || url.hostname.endsWith(".localhost")) return null;
		const isSecure = url.protocol === "https:" || url.protocol === "wss:";
		return isExcluded(url.hostname, url.port || (isSecure ? "443" : "80")) ? null : isSecure ? https : http;
	};
}

/** User name and password in the URL of a proxy, decoded; empty if it has none. */
export function proxyAccount({ username, password }: URL): { user: string; password: string } {
	return { user: decodePart(username), password: decodePart(password) };
}

/** A percent sign that encodes nothing stands for itself. */
function decodePart(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function parseProxy(variable: string, value: string): ProxyServer {
	const url = parseUrl(/^[a-z\d]+:\/\//i.test(value) ? value : `http://${value}`);
	const scheme = url && (SCHEMES[url.protocol] ?? url.protocol);
	const port = scheme && DEFAULT_PORTS[scheme] && (url.port || DEFAULT_PORTS[scheme]);
	if (!url?.hostname || !port) {
		// Without the value, which may contain a password.
		throw new PiError("proxy_invalid", `${variable} is not the address of a proxy`, {
			hint: `use a URL such as ${variable}=http://proxy.example:3128, or unset it`,
		});
	}
	const account = url.username ? `${url.username}:${url.password}@` : "";
	return { url: `${scheme}//${account}${url.hostname}:${port}`, host: `${url.hostname}:${port}` };
}

/** Reads `NO_PROXY`: `*`, hosts with their subdomains, addresses and CIDR blocks, each with an optional port. */
function readExclusions(list: string): (hostname: string, port: string) => boolean {
	const entries = list.split(/[\s,]+/).filter(Boolean);
	if (entries.includes("*")) return () => true;
	const blocks = new BlockList();
	const hosts: { name: string; port: string | undefined }[] = [];
	for (const entry of entries) {
		const [address = "", bits] = entry.split("/");
		const family = familyOf(address);
		if (family && bits && Number(bits) <= (family === "ipv6" ? 128 : 32)) {
			blocks.addSubnet(address, Number(bits), family);
			continue;
		}
		const [, name = "", port] = isIP(entry) === 6 ? [entry, `[${entry}]`] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
		hosts.push({ name: name.replace(/^\*?\./, "").toLowerCase(), port });
	}
	return (hostname, port) => {
		const host = hostname.toLowerCase();
		const isNamed = hosts.some(
			(entry) =>
				(entry.port === undefined || entry.port === port) && (host === entry.name || host.endsWith(`.${entry.name}`)),
		);
		const address = host.replace(/^\[(.*)\]$/, "$1");
		const family = familyOf(address);
		return isNamed || (family !== null && blocks.check(address, family));
	};
}

function familyOf(address: string): "ipv4" | "ipv6" | null {
	return isIP(address) === 0 ? null : isIP(address) === 6 ? "ipv6" : "ipv4";
}

function parseUrl(text: string): URL | null {
	try {
		return new URL(text);
	} catch {
		return null; // the caller says what is wrong with it
	}
}
