import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

const require = createRequire(import.meta.url);

/** The program of an official server. */
function programOf(name: string): string {
	return join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), "dist", "index.js");
}

/** `@modelcontextprotocol/server-everything`: tools, prompts and resources of every kind. */
export const EVERYTHING = { command: process.execPath, args: [programOf("server-everything"), "stdio"] };

/** `@modelcontextprotocol/server-filesystem` for a directory. */
export function filesystem(dir: string): { command: string; args: string[] } {
	return { command: process.execPath, args: [programOf("server-filesystem"), dir] };
}

/** A server of ours that misbehaves as its mode says. */
export function hostile(...args: string[]): { command: string; args: string[] } {
	return { command: process.execPath, args: [fileURLToPath(new URL("hostile-server.mjs", import.meta.url)), ...args] };
}

/** A server of ours whose tools ask the user. */
export const ASKING = {
	command: process.execPath,
	args: [fileURLToPath(new URL("asking-server.mjs", import.meta.url))],
};

/** An agent directory whose mcp.json has these servers. */
export function agentDirWith(servers: Record<string, object>): string {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { "mcp.json": { mcpServers: servers } });
	return agentDir;
}
