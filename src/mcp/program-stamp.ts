import { type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import type { McpServerConfig } from "./config.js";

/**
 * Identifies the version of the files that a server runs: those that its command line names, and those of the project that
 * belong to it. Empty for a server without a program.
 */
export function programStamp({ address, source }: McpServerConfig): string {
	if (address.kind === "http") return "";
	const words = [address.command, ...address.args];
	// An argument such as --config=./server.json.
	const named = words.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)]);
	const paths = new Set([...named.map((word) => resolve(address.cwd, word)), ...(source.files ?? [])]);
	return [...paths].flatMap(describeFile).join("\n");
}

function describeFile(path: string): string[] {
	let stats: Stats | undefined;
	try {
		stats = statSync(path, { throwIfNoEntry: false });
	} catch {
		return []; // not the name of a file
	}
	return stats?.isFile() ? [`${path} ${stats.mtimeMs} ${stats.size}`] : [];
}
