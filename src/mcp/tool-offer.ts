import type { AnyTool } from "../tools/tool.js";
import type { McpServer } from "./server.js";
import { createSearchTool, SEARCH_TOOL, type SearchedServer } from "./tool-search.js";
import { createMcpTool, type McpTool } from "./tools.js";

/** A server with more tools is offered through the search tool. */
const MAX_TOOLS = 10;
/** Maximum size of the definitions that are offered without a search. */
const MAX_DIRECT_BYTES = 48 * 1024;
/** Maximum size of the definitions that searches have found. */
const MAX_FOUND_BYTES = 40 * 1024;

/** What the offer needs of the session. */
export interface ToolOfferHost {
	servers(): readonly McpServer[];
	/** Names that the user chose for this session: only these tools are offered; undefined: all. */
	names: readonly string[] | undefined;
	/** Resolves when no server is starting. */
	ready(): Promise<void>;
	onChange(): void;
	warn(line: string): void;
}

/** Decides which tools of the servers the next request offers: those of small servers, those found, and the search. */
export class ToolOffer {
	/** By the definition that the server sent. */
	readonly #created = new WeakMap<object, McpTool | string>();
	#tools: readonly McpTool[] = [];
	#direct: ReadonlySet<McpTool> = new Set();
	/** Names of tools that were found, the latest last. */
	#found: string[] = [];
	#search: { key: string; tool: AnyTool } | null = null;
	#current: readonly AnyTool[] = [];

	constructor(private readonly host: ToolOfferHost) {}

	/** The tools of the next request. */
	get current(): readonly AnyTool[] {
		return this.#current;
	}

	/** All tools of the servers. */
	get all(): readonly McpTool[] {
		return this.#tools;
	}

	/** Whether a tool is part of the next request. */
	isOffered({ tool }: McpTool): boolean {
		return this.#current.includes(tool);
	}

	/** Call when the servers have changed. */
	update(): void {
		const { names } = this.host;
		const servers = this.host.servers();
		this.#tools = this.#readTools(servers);
		const direct = new Set<McpTool>();
		let bytes = 0;
		const searched: SearchedServer[] = [];
		for (const server of servers) {
			const own = this.#tools.filter((entry) => entry.server === server);
			const chosen = names ? own.filter(({ tool }) => names.includes(tool.name)) : own;
			const size = chosen.reduce((sum, entry) => sum + entry.bytes, 0);
			if (server.isExpected && own.length === 0) searched.push({ name: server.name, tools: null });
			else if (names === undefined && (chosen.length > MAX_TOOLS || bytes + size > MAX_DIRECT_BYTES)) {
				searched.push({ name: server.name, tools: chosen.length });
			} else {
				bytes += size;
				for (const entry of chosen) direct.add(entry);
			}
		}
		this.#direct = direct;
		this.#search = this.#searchTool(names === undefined || names.includes(SEARCH_TOOL) ? searched : []);
		this.#compose();
	}

	#compose(): void {
		const isFound = ({ tool }: McpTool) => this.#found.includes(tool.name);
		const offered = this.#tools.filter((entry) => this.#direct.has(entry) || isFound(entry)).map(({ tool }) => tool);
		this.#current = this.#search ? [this.#search.tool, ...offered] : offered;
		this.host.onChange();
	}

	/** Creates the tools of all servers. The first of several with the same name is used. */
	#readTools(servers: readonly McpServer[]): McpTool[] {
		const byName = new Map<string, McpTool>();
		for (const server of servers) {
			for (const definition of server.tools) {
				const known = this.#created.get(definition);
				const created = known ?? createMcpTool(server, definition);
				this.#created.set(definition, created);
				if (typeof created === "string") {
					if (known === undefined) this.host.warn(created);
					continue;
				}
				const same = byName.get(created.tool.name);
				if (!same) byName.set(created.tool.name, created);
				else if (known === undefined) {
					const of = same.server === server ? "" : ` of ${same.server.name}`;
					this.host.warn(
						`The tool ${definition.name} of the MCP server ${server.name} is ignored: another tool${of} is called ${created.tool.name}, too`,
					);
				}
			}
		}
		return [...byName.values()];
	}

	#searchTool(servers: readonly SearchedServer[]): { key: string; tool: AnyTool } | null {
		if (servers.length === 0) return null;
		const key = JSON.stringify(servers);
		if (this.#search?.key === key) return this.#search;
		const tool = createSearchTool(servers, {
			ready: () => this.host.ready(),
			tools: () => this.#tools,
			offer: (tools) => this.#offer(tools),
			unavailable: () =>
				this.host.servers().flatMap((server) => {
					if (server.state === "starting")
						return [`The MCP server ${server.name} is still starting: search again later.`];
					return server.state === "failed" || server.state === "login" ? [`${server.describeUnavailable()}.`] : [];
				}),
		});
		return { key, tool };
	}

	#offer(tools: readonly McpTool[]): string[] {
		const before = this.#found;
		const latest = tools.map(({ tool }) => tool.name).reverse();
		const names = [...before.filter((name) => !latest.includes(name)), ...latest];
		const kept: string[] = [];
		let bytes = 0;
		for (const name of names.reverse()) {
			const entry = this.#tools.find(({ tool }) => tool.name === name);
			if (!entry || this.#direct.has(entry)) continue;
			bytes += entry.bytes;
			if (bytes > MAX_FOUND_BYTES) break;
			kept.unshift(name);
		}
		this.#found = kept;
		this.#compose();
		return before.filter((name) => !kept.includes(name));
	}
}
