import type { McpServer } from "@agentclientprotocol/sdk";

/** The MCP servers of a client as in mcp.json, by name, and a line for each one that pi cannot use. */
export function readMcpServers(servers: readonly McpServer[]): {
	servers: Record<string, unknown>;
	warnings: string[];
} {
	const read: Record<string, unknown> = {};
	const warnings: string[] = [];
	for (const server of servers) {
		// Names are part of those of tools. Clients choose any text.
		const base = server.name.replace(/[^\w-]+/g, "-");
		let name = base;
		for (let number = 2; Object.hasOwn(read, name); number++) name = `${base}-${number}`;
		if ("command" in server) {
			const { command, args, env } = server;
			read[name] = { command, args, env: fields(env) };
		} else if ("url" in server && server.type === "http") {
			read[name] = { url: server.url, headers: fields(server.headers) };
		} else warnings.push(`The MCP server ${server.name} was not used: pi supports stdio and streamable HTTP`);
	}
	return { servers: read, warnings };
}

function fields(list: readonly { name: string; value: string }[]): Record<string, string> {
	return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
