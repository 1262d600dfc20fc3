import type { Environment } from "../config/paths.js";
import { isLoopbackHost } from "../util/loopback.js";
import { trimEndOf } from "../util/trim.js";

/** Local model servers and their default ports. */
const LOCAL_SERVER_PORTS = { ollama: 11434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 } as const;

/** Provider name of a local server. */
export type LocalServer = keyof typeof LOCAL_SERVER_PORTS;

export const LOCAL_SERVERS: readonly LocalServer[] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/** Whether a provider is one of the local servers that pi finds. */
export function isLocalServer(provider: string): boolean {
	return Object.hasOwn(LOCAL_SERVER_PORTS, provider);
}

/** Variables that name the address of a server; the first that is set applies. */
const VARIABLES: Readonly<Record<LocalServer, readonly string[]>> = {
	ollama: ["OLLAMA_HOST", "OLLAMA_BASE_URL"],
	lmstudio: ["LMSTUDIO_HOST", "LMSTUDIO_BASE_URL"],
	llamacpp: ["LLAMACPP_HOST", "LLAMACPP_BASE_URL", "LLAMA_ARG_HOST"],
	vllm: ["VLLM_HOST", "VLLM_BASE_URL"],
};
/** Addresses that servers listen on, which clients cannot connect to on every system. */
const ANY_ADDRESS = /^(?:0\.0\.0\.0|\[::\])$/;

/**
 * The address of a local server without a path at its end, such as `http://127.0.0.1:11434`: that of the environment, else
 * loopback and the default port. Values are read as Ollama reads `OLLAMA_HOST`: host, port and scheme can be omitted.
 * @returns null if the value is not an address
 */
export function localAddress(server: LocalServer, env: Environment): string | null {
	const given = VARIABLES[server].map((name) => env[name]?.trim()).find(Boolean) ?? "";
	// llama.cpp has two variables of its own, one for the host and one for the port.
	const ownPort = server === "llamacpp" ? env.LLAMA_ARG_PORT?.trim() : undefined;
	const port = ownPort || String(LOCAL_SERVER_PORTS[server]);
	const hasScheme = /^https?:\/\//i.test(given);
	const rest = given.replace(/^:(?=\d)/, "127.0.0.1:").replace(/^(?:[\da-f]*:){2,}[\da-f]*$/i, "[$&]");
	const text = hasScheme ? given : `http://${rest || "127.0.0.1"}`;
	if (!URL.canParse(text)) return null;
	const url = new URL(text);
	// With a scheme, the port is that of the scheme.
	if (!hasScheme && url.port === "" && !/:80(?:\/|$)/.test(rest)) url.port = port;
	if (ANY_ADDRESS.test(url.hostname)) url.hostname = "127.0.0.1";
	return `${url.origin}${withoutVersion(url.pathname)}`;
}

/** Whether an address is a URL of HTTP on this machine. */
export function isLoopback(address: string): boolean {
	if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return false;
	return isLoopbackHost(new URL(address).hostname);
}

/** A path without slashes at its end, and without `v1` there. */
function withoutVersion(path: string): string {
	const trimmed = trimEndOf(path, "/");
	return trimmed.endsWith("/v1") ? trimEndOf(trimmed.slice(0, -2), "/") : trimmed;
}
