import { dirname } from "node:path";
import { type JsonFile, readJsonFile } from "../config/json-file.js";
import { type Filled, fillDefaults, readBySchema, type Schema } from "../config/json-schema.js";
import { type Environment, resolveUserPath } from "../config/paths.js";
import { describeError } from "../errors.js";
import { fillVariables } from "../trust/server-words.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import { isSecretName } from "../util/secret-mask.js";
import { reduceName } from "./names.js";

const TEXT = { type: "string", minLength: 1 } as const;
const TEXTS = { type: "array", items: { type: "string" } } as const;
const TEXT_MAP = { type: "object", additionalProperties: { type: "string" } } as const;

const OAUTH = {
	type: "object",
	properties: {
		clientId: { ...TEXT, description: "id of a client that is registered with the authorization server" },
		clientSecret: {
			type: "string",
			pattern: "^\\$\\{[A-Za-z_]\\w*\\}$",
			"x-expected": `an environment variable such as \${NAME}`,
			description: `secret of that client: an environment variable, such as \${MCP_SECRET}`,
		},
		clientMetadataUrl: {
			type: "string",
			pattern: "^https://[^/]+/.",
			"x-expected": "an https address with a path",
			description:
				"https address of a document that describes the client, for servers that read it instead of registering pi",
		},
		callbackPort: {
			type: "integer",
			minimum: 1,
			maximum: 65_535,
			description: "port of this machine to which the browser returns; absent: a free one",
		},
	},
	additionalProperties: false,
} as const satisfies Schema;

/** Longest timeout: a day. */
const MAX_TIMEOUT_MS = 86_400_000;
const DEFAULT_TIMEOUT_MS = 60_000;

const SERVER = {
	type: "object",
	properties: {
		type: {
			type: "string",
			enum: ["stdio", "http", "streamable-http"],
			description: "transport; pi derives it from `command` or `url`",
		},
		command: { ...TEXT, description: "program that is the server; it is started without a shell" },
		args: { ...TEXTS, description: "arguments of the program" },
		env: {
			...TEXT_MAP,
			description: "variables of the program; it also gets PATH, HOME and the locale, and nothing else",
		},
		cwd: { ...TEXT, description: "directory of the program; default: that of the session" },
		url: {
			type: "string",
			pattern: "^(?:[hH][tT][tT][pP][sS]?://|\\$\\{)",
			"x-expected": "an http or https address",
			description: "address of a server that speaks streamable HTTP",
		},
		headers: { ...TEXT_MAP, description: "sent with each request to `url`" },
		oauth: { ...OAUTH, description: "the client as which `/mcp login` logs in to `url`; absent: pi registers itself" },
		disabled: { type: "boolean", default: false, description: "true: the server is not started" },
		timeoutMs: {
			type: "integer",
			minimum: 1,
			maximum: MAX_TIMEOUT_MS,
			default: DEFAULT_TIMEOUT_MS,
			description: "limit for the start and for each call, in ms; progress of a call restarts it",
		},
		tools: { ...TEXTS, description: "names of the tools to offer, as the server calls them; absent: all" },
	},
	additionalProperties: false,
} as const satisfies Schema;

/** The schema of mcp.json, also for schemas/mcp.json. */
export const MCP_SCHEMA = {
	type: "object",
	properties: {
		mcpServers: {
			type: "object",
			additionalProperties: SERVER,
			default: {},
			description: `servers by name; \${NAME} and \${NAME:-default} in their texts are environment variables`,
		},
	},
	additionalProperties: false,
} as const satisfies Schema;

/** Where servers are defined. Later sources replace servers of the same name. */
export interface McpSource {
	/** Of the file, for messages; of an SDK program: `the SDK`. */
	path: string;
	/** `shared`: the project's file that other programs read, too. */
	scope: "user" | "shared" | "project" | "flag" | "sdk";
	/** The file to read, such as the accepted copy of a project's file; absent: `path`. */
	copy?: string;
	/** The content, instead of a file. */
	content?: unknown;
	/** Files of the project that its servers run. */
	files?: readonly string[];
	/** Checks `files`, `path` and new files that its servers would run. @returns the path of one that is not as accepted; else null */
	findChanged?(): Promise<string | null>;
}

/** As which client pi logs in to a server. */
export interface McpOAuthClient {
	clientId?: string;
	clientSecret?: string;
	clientMetadataUrl?: string;
	callbackPort?: number;
}

/** How a server is reached. */
export type McpAddress =
	| { kind: "stdio"; command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd: string }
	| { kind: "http"; url: string; headers: Readonly<Record<string, string>>; client: McpOAuthClient };

/** A server as configured. */
export interface McpServerConfig {
	/** Its name in tool names, `@name:uri` and `/name:prompt`: letters, digits, `_` and `-`. */
	name: string;
	source: McpSource;
	address: McpAddress;
	/** The command line or URL for the user, as written: what fills its variables may be secret, as may user and query of a URL. */
	shownAddress: string;
	/** Values of variables, `env` and headers whose names say that they are secret. */
	secrets: readonly string[];
	isDisabled: boolean;
	timeoutMs: number;
	/** Names of the tools to offer; null: all. */
	tools: readonly string[] | null;
}

/** The servers of all sources. */
export interface McpConfig {
	servers: McpServerConfig[];
	/** A line for each problem: what, where and what to do next. */
	problems: string[];
}

/** What texts in a configuration can refer to. */
export interface McpConfigContext {
	env: Environment;
	cwd: string;
	home: string;
}

type WrittenServer = Filled<typeof SERVER>;

/** Reads the servers. Never throws: a server with a problem is omitted and reported. */
export function loadMcpConfig(sources: readonly McpSource[], context: McpConfigContext): McpConfig {
	const problems: string[] = [];
	const servers = new Map<string, McpServerConfig>();
	for (const source of sources) {
		const seen = new Map<string, string>();
		for (const { server, written, at } of readSource(source, context, problems)) {
			const same = seen.get(server.name);
			const other = servers.get(server.name);
			if (same !== undefined) {
				problems.push(`${at}: ignored: "${written}" and "${same}" are both called ${server.name} · rename one`);
				continue;
			}
			if (other) {
				problems.push(
					`The MCP server ${server.name} is defined in ${other.source.path} and ${source.path}; the latter is used`,
				);
			}
			seen.set(server.name, written);
			servers.set(server.name, server);
		}
	}
	return { servers: [...servers.values()], problems };
}

interface ReadServer {
	server: McpServerConfig;
	/** Its name in the file. */
	written: string;
	/** File, line and column. */
	at: string;
}

function readSource(source: McpSource, context: McpConfigContext, problems: string[]): ReadServer[] {
	const invalid = new Set<string | number | undefined>();
	const writer =
		source.scope === "user" ? findForeignWriter(source.path, dirname(source.path), { allowsOwnGroup: true }) : null;
	if (writer) {
		problems.push(`${source.path} is not used: ${writer.problem} · ${writer.hint}`);
		return [];
	}
	try {
		const file = source.content === undefined ? readJsonFile(source.copy ?? source.path) : null;
		if (file === null && source.content === undefined) {
			if (source.scope === "flag") problems.push(`${source.path} does not exist · correct --mcp`);
			return [];
		}
		const locate = locator(source, file);
		const read = readBySchema(MCP_SCHEMA, file?.value ?? source.content, ({ keys, kind, message }) => {
			// Other programs have settings of their own in their files.
			if (kind === "unknown" && source.scope === "shared") return;
			const isOfServer = keys.length > 1 && kind !== "unknown";
			if (isOfServer) invalid.add(keys[1]);
			const text = isOfServer ? message.replace(/; ignored$/, "; the server is ignored") : message;
			problems.push(`${locate(keys, kind === "unknown" ? "key" : "value")}: ${text}`);
		});
		const { mcpServers } = fillDefaults(MCP_SCHEMA, read ?? {});
		return Object.entries(mcpServers).flatMap(([written, fields]): ReadServer[] => {
			if (invalid.has(written)) return [];
			const at = locate(["mcpServers", written], "key");
			const result = createServer(written, fields, source, context);
			if (typeof result !== "string") return [{ server: result, written, at }];
			problems.push(`${at}: mcpServers.${written} ${result}; the server is ignored`);
			return [];
		});
	} catch (error) {
		problems.push(describeError(error).replaceAll(source.copy ?? source.path, source.path));
		return [];
	}
}

function locator(source: McpSource, file: JsonFile | null): JsonFile["locate"] {
	return (keys, part) => {
		if (!file) return `mcpServers of ${source.path}`;
		return file.locate(keys, part).replace(source.copy ?? source.path, source.path);
	};
}

/** @returns the server, or what is wrong with it */
function createServer(
	written: string,
	fields: WrittenServer,
	source: McpSource,
	{ env, cwd, home }: McpConfigContext,
): McpServerConfig | string {
	const name = reduceName(written);
	if (name === "") return "has an empty name";
	const missing = new Set<string>();
	const secrets = new Set<string>();
	const noteValue = (name: string, value = "") => {
		// A header has a scheme before its key: `Bearer `.
		if (isSecretName(name)) secrets.add(value).add(value.replace(/^\w+ /, ""));
	};
	const fill = (text: string) =>
		fillVariables(text, env, (variable, value) => {
			if (value === undefined) missing.add(variable);
			noteValue(variable, value);
		});
	const { command, url, disabled } = fields;
	if (command !== undefined && url !== undefined) return "has both command and url";
	if (command === undefined && url === undefined && !disabled) return "needs a command or a url";
	if (url !== undefined && fields.type === "stdio") return 'has a url, and "type": "stdio"';
	if (command !== undefined && fields.oauth !== undefined) return "has a command, and oauth, which only a url can have";
	if (fields.oauth?.clientSecret !== undefined && fields.oauth.clientId === undefined) {
		return "has oauth.clientSecret without oauth.clientId";
	}
	if (command !== undefined && fields.type !== undefined && fields.type !== "stdio") {
		return `has a command, and "type": "${fields.type}"`;
	}
	const address: McpAddress =
		url !== undefined
			? { kind: "http", url: fill(url), headers: fillAll(fields.headers, fill), client: fillClient(fields.oauth, fill) }
			: {
					kind: "stdio",
					command: expandHome(fill(command ?? ""), home),
					args: (fields.args ?? []).map(fill),
					env: fillAll(fields.env, fill),
					cwd: resolveUserPath(fill(fields.cwd ?? cwd), cwd, home),
				};
	if (missing.size > 0 && !disabled)
		return `needs the environment variable ${[...missing].join(", ")}, which is not set`;
	if (address.kind === "http" && !URL.canParse(address.url) && !disabled) return "has an invalid url";
	const { timeoutMs, tools } = fields;
	const shownAddress =
		url === undefined
			? [command ?? "", ...(fields.args ?? [])].join(" ")
			: url.replace(/[?#].*/, "").replace(/^(\w+:\/\/)[^/]*@/, "$1");
	if (address.kind === "http" && address.client.clientSecret) secrets.add(address.client.clientSecret);
	for (const [key, value] of Object.entries(address.kind === "http" ? address.headers : address.env))
		noteValue(key, value);
	return {
		name,
		source,
		address,
		shownAddress,
		secrets: [...secrets],
		isDisabled: disabled,
		timeoutMs,
		tools: tools ?? null,
	};
}

function fillClient(oauth: WrittenServer["oauth"], fill: (text: string) => string): McpOAuthClient {
	const { clientId, clientSecret, clientMetadataUrl, callbackPort } = oauth ?? {};
	return {
		...(clientId === undefined ? {} : { clientId: fill(clientId) }),
		...(clientSecret === undefined ? {} : { clientSecret: fill(clientSecret) }),
		...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
		...(callbackPort === undefined ? {} : { callbackPort }),
	};
}

function fillAll(
	texts: Readonly<Record<string, string>> | undefined,
	fill: (text: string) => string,
): Record<string, string> {
	return Object.fromEntries(Object.entries(texts ?? {}).map(([name, text]) => [name, fill(text)]));
}

function expandHome(command: string, home: string): string {
	return command.startsWith("~/") ? resolveUserPath(command, home, home) : command;
}
