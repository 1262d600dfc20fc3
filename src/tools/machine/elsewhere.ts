import type { ToolHost } from "./machine.js";

/** The name of a host that does not have the files of this machine; null for this machine and for a sandbox on it. */
export function elsewhereOf(host: Pick<ToolHost, "name" | "sharesFiles"> | undefined): string | null {
	return host === undefined || host.name === "" || host.sharesFiles ? null : host.name;
}
