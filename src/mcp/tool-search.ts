import { failed, listResult } from "../tools/result.js";
import { type AnyTool, defineTool } from "../tools/tool.js";
import { abortable, sleep } from "../util/abort.js";
import { revealLine } from "../util/reveal.js";
import type { McpTool } from "./tools.js";

/** The name of the tool that finds others. */
export const SEARCH_TOOL = "mcp_search";
/** Maximum number of tools that one search finds. */
const MAX_FOUND = 10;
const MAX_DESCRIPTION = 200;
/** Maximum wait for servers that are starting, ms. */
const MAX_WAIT_MS = 15_000;

/** A server whose tools are found through the search. */
export interface SearchedServer {
	name: string;
	/** null while it starts. */
	tools: number | null;
}

/** What the search tool needs of the servers. */
export interface SearchHost {
	/** Resolves when no server is starting. */
	ready(): Promise<void>;
	/** All tools, those that are offered already included. */
	tools(): readonly McpTool[];
	/** Offers tools from the next request on. @returns the names of tools that are no longer offered instead */
	offer(tools: readonly McpTool[]): string[];
	/** A line for each server that does not run, with the reason, or is still starting. */
	unavailable(): string[];
}

const Parameters = {
	type: "object",
	properties: {
		query: {
			type: "string",
			description: "Words that the names or descriptions of the tools contain, or the name of a server",
		},
	},
	required: ["query"],
} as const;

/** Creates the tool that represents the tools of servers that have many, or are still starting. */
export function createSearchTool(servers: readonly SearchedServer[], host: SearchHost): AnyTool {
	const list = servers.map(({ name, tools }) => `${name} (${tools === null ? "starting" : `${tools} tools`})`);
	return defineTool<typeof Parameters, object>({
		name: SEARCH_TOOL,
		description: `Finds tools of these MCP servers: ${list.join(", ")}. The tools it finds can be called from the next message on.`,
		parameters: Parameters,
		readOnly: true,
		async run({ query }, { signal }) {
			const waited = new AbortController();
			await abortable(Promise.race([host.ready(), sleep(MAX_WAIT_MS, waited.signal).catch(() => {})]), signal).finally(
				() => waited.abort(),
			);
			const tools = host.tools();
			const found = searchTools(tools, query).slice(0, MAX_FOUND);
			const problems = host.unavailable();
			if (found.length === 0) {
				const names = [...new Set(tools.map(({ server }) => server.name))].join(", ");
				const hint = names === "" ? "The MCP servers have no tools." : `Try other words. The servers are: ${names}.`;
				return failed([`No tool matches "${revealLine(query, { maxLength: 200 })}". ${hint}`, ...problems].join("\n"));
			}
			const dropped = host.offer(found);
			const lines = found.map(({ tool }) => `${tool.name}: ${shortText(tool.description)}`);
			const notes = [
				"You can call these tools from your next message on.",
				...(dropped.length > 0 ? [`No longer offered, search again to use them: ${dropped.join(", ")}`] : []),
				...problems,
			];
			return listResult(lines, notes.join("\n"), "Search with more words.", {});
		},
	});
}

/** The tools that contain words of the query, best first. */
function searchTools(tools: readonly McpTool[], query: string): McpTool[] {
	const words = query
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter(Boolean);
	return tools
		.map((entry) => ({ entry, score: scoreOf(entry, words) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ entry }) => entry);
}

function scoreOf({ tool, server }: McpTool, words: readonly string[]): number {
	const name = tool.name.slice(server.name.length).toLowerCase();
	const description = tool.description.toLowerCase();
	let score = 0;
	for (const word of words) {
		if (name.includes(word)) score += 5;
		if (description.includes(word)) score += 2;
		if (server.name.toLowerCase().includes(word)) score += 1;
	}
	return score;
}

function shortText(description: string): string {
	return revealLine(description, { maxLength: MAX_DESCRIPTION, lineEnd: " " });
}
