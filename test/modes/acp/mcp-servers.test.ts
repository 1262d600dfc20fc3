import { expect, test } from "vitest";
import { readMcpServers } from "../../../src/modes/acp/mcp-servers.js";

test("servers whose names differ only in signs that pi does not allow keep different names", () => {
	const server = (name: string, command: string) => ({ name, command, args: [], env: [] });
	const servers = [server("a b", "one"), server("a-b", "two"), server("a-b-2", "three"), server("a b", "four")];
	const read = readMcpServers(servers).servers;
	expect(Object.entries(read).map(([name, value]) => [name, Object(value).command])).toEqual([
		["a-b", "one"],
		["a-b-2", "two"],
		["a-b-2-2", "three"],
		["a-b-3", "four"],
	]);
});
