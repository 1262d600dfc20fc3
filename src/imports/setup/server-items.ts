import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../config/json-file.js";
import { fillVariables, isInterpreter, pathsOf, wordsOf } from "../../trust/server-words.js";
import { isRecord } from "../../util/is-record.js";
import { isSecretName } from "../../util/secret-mask.js";
import { type SetupItem, type SetupScope, withoutCounterpart } from "./setup-item.js";

/** What a server of another program is in pi, or why it is none. */
type Converted = { server: JsonObject; note?: string } | { reason: string };

/** Variables in texts of a configuration, also with the scheme of a header. */
const VARIABLE = /^(?:(?:bearer|basic|token) )?\$\{[A-Za-z_]\w*(?::-[^}]*)?\}$/i;
const ADDRESS = /^\w+:\/\//;
const MASK = "‹hidden›";
/** Files that are run, by their names. */
const SCRIPT = /\.(?:[cm]?[jt]sx?|py|sh|bash|zsh|rb|pl|php|lua|jar|ps1|bat|cmd|exe)$/i;

/** Where the servers of a program are defined, and what becomes of them. */
interface ServerOptions {
	source: string;
	/** The mcp.json that gets them. */
	to: string;
	scope: SetupScope;
	convert(server: JsonObject): Converted;
}

/**
 * Servers of a program. One of the user must not run files of the directory in which pi is: that would be the code of any project, and
 * nobody is asked about it.
 */
export function findServers(servers: unknown, options: ServerOptions): SetupItem[] {
	return find(servers, options, (server) =>
		options.scope === "user" && runsRelativeFile(server)
			? "it runs a file by a relative path, which each directory may have: write an absolute path or cwd"
			: null,
	);
}

/** Servers that the user has for one project alone. Its files may become public, so those with secrets are left out. */
export function findServersOfProject(servers: unknown, options: ServerOptions): SetupItem[] {
	return find(servers, options, (server) =>
		isDeepStrictEqual(withoutSecrets(server), server) ? null : "has secrets for this project alone: add it yourself",
	);
}

/** @param refuse why a server is not taken over; null: it is */
function find(
	servers: unknown,
	{ source, to, scope, convert }: ServerOptions,
	refuse: (server: JsonObject) => string | null,
): SetupItem[] {
	if (!isRecord(servers)) return [];
	return Object.entries(servers).map(([name, server]): SetupItem => {
		const item = { kind: "MCP server", scope, name, source } as const;
		const converted = isRecord(server) ? convert(server) : { reason: "it must be an object" };
		if ("reason" in converted) return withoutCounterpart(item, converted.reason);
		const refusal = refuse(converted.server);
		if (refusal !== null) return withoutCounterpart(item, refusal);
		const change = { type: "server", path: to, name, server: converted.server } as const;
		return { ...item, changes: [change], note: converted.note ?? null };
	});
}

/** A server of Claude Code, whose format pi shares. */
export function serverOfClaude({ type, command, args, env, url, headers, ...others }: JsonObject): Converted {
	if (type === "sse") return { reason: "pi does not speak server-sent events (sse); its http address may work" };
	const unknown = Object.keys(others);
	return checked(
		{ command, args, env, url, headers },
		unknown.length > 0 ? `without ${unknown.join(", ")}` : undefined,
	);
}

/** A server in the config.toml of Codex. */
export function serverOfCodex(server: JsonObject): Converted {
	if (Array.isArray(server.disabled_tools) && server.disabled_tools.length > 0)
		return { reason: "pi cannot forbid single tools of a server; name those to offer in tools" };
	const token = textIn(server.bearer_token_env_var);
	const fromEnv = isRecord(server.env_http_headers) ? Object.entries(server.env_http_headers) : [];
	const headers = {
		...(isRecord(server.http_headers) ? server.http_headers : {}),
		...Object.fromEntries(fromEnv.map(([name, variable]) => [name, `\${${String(variable)}}`])),
		...(token === undefined ? {} : { Authorization: `Bearer \${${token}}` }),
	};
	const passed = Array.isArray(server.env_vars) ? server.env_vars.map(String) : [];
	const env = {
		...(isRecord(server.env) ? server.env : {}),
		...Object.fromEntries(passed.map((name) => [name, `\${${name}}`])),
	};
	const seconds = server.tool_timeout_sec;
	return checked({
		...{ command: server.command, args: server.args, env, cwd: server.cwd, url: server.url, headers },
		...(server.enabled === false && { disabled: true }),
		...(Array.isArray(server.enabled_tools) && { tools: server.enabled_tools }),
		...(typeof seconds === "number" && seconds > 0 && { timeoutMs: Math.ceil(seconds * 1000) }),
	});
}

/** A server in the opencode.json. */
export function serverOfOpencode({ command, environment, url, headers, enabled, oauth }: JsonObject): Converted {
	const [program, ...args] = Array.isArray(command) ? command : [];
	const all = JSON.stringify([command, environment, url, headers]);
	if (all.includes("{file:")) return { reason: "pi reads no texts from files; use a variable" };
	const filled = withVariables({ command: program, args, env: environment, url, headers });
	return checked(
		{ ...filled, ...(enabled === false && { disabled: true }) },
		isRecord(oauth) ? "without oauth: /mcp login logs in" : undefined,
	);
}

/** `{env:NAME}` is `${NAME}` in pi. */
function withVariables(value: JsonObject): JsonObject {
	return JSON.parse(JSON.stringify(value).replace(/\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`));
}

/** A server with the fields that have a value, if these have the types of pi. */
function checked(server: JsonObject, note?: string): Converted {
	const isEmpty = (value: unknown) =>
		value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
	const own = Object.fromEntries(Object.entries(server).filter(([, value]) => !isEmpty(value)));
	const { command, url, args = [], env = {}, headers = {}, tools = [], cwd = "." } = own;
	const isText = (value: unknown) => typeof value === "string" && value !== "";
	if (isText(command) === isText(url)) return { reason: "it has neither a command nor an address, or both" };
	const lists = [args, tools].every((list) => Array.isArray(list) && list.every((one) => typeof one === "string"));
	const maps = [env, headers].every(
		(map) => isRecord(map) && Object.values(map).every((one) => typeof one === "string"),
	);
	if (!lists) return { reason: "args and tools must be lists of texts" };
	if (!maps) return { reason: "env and headers must be objects with texts" };
	if (!isText(cwd)) return { reason: "cwd must be a text" };
	return { server: own, ...(note !== undefined && { note }) };
}

/** Whether the meaning of a command depends on the directory in which pi is. Names of packages and images are no paths. */
export function runsRelativeFile({ command, args = [], env = {}, cwd }: JsonObject): boolean {
	if (typeof command !== "string" || !Array.isArray(args)) return false;
	if (typeof cwd === "string") return isRelative(cwd);
	const program = here(command);
	if (program.includes("/") && isRelative(program)) return true;
	const texts = args.map((arg) => here(String(arg)));
	const script = isInterpreter(program) ? texts.find((text) => !text.startsWith("-")) : undefined;
	if (script !== undefined && /^[^@:\s]+\/[^@:\s]+$/.test(script) && isRelative(script)) return true;
	// Such as NODE_OPTIONS and PATH.
	const values = isRecord(env) ? Object.values(env).map((value) => here(String(value))) : [];
	return [...texts, ...values]
		.flatMap((text) => [text, ...wordsOf(text)].flatMap(pathsOf))
		.some((path) => isRelative(path) && (/^\.\.?\//.test(path) || SCRIPT.test(path)));
}

/** A text with the values that its variables have by default, or as names of the current directory. */
function here(text: string): string {
	return fillVariables(text.replace(/\$PWD\b/g, "."), { PWD: ".", CLAUDE_PROJECT_DIR: ".", HOME: "/home" });
}

function isRelative(path: string): boolean {
	return !/^(?:\/|~|[A-Za-z]:[\\/]|[\w+.-]+:\/\/)/.test(path);
}

function textIn(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

/** A server without values that may be secret: for the screen. Other values than objects are hidden. */
export function withoutSecrets(server: unknown): unknown {
	if (!isRecord(server)) return MASK;
	const { env, headers, args, url, ...others } = server;
	return {
		...others,
		...(Array.isArray(args) && { args: args.map((arg, at) => shownArgument(arg, args[at - 1])) }),
		...(isRecord(env) && { env: maskedValues(env) }),
		...(typeof url === "string" && { url: shownAddress(url) }),
		...(isRecord(headers) && { headers: maskedValues(headers) }),
	};
}

function maskedValues(map: JsonObject): JsonObject {
	const shown = (value: unknown) => (typeof value === "string" && VARIABLE.test(value) ? value : MASK);
	return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, shown(value)]));
}

/** The value of an option with the name of a secret, and texts that are long enough for a key, are hidden. */
function shownArgument(arg: unknown, before: unknown): unknown {
	if (typeof arg !== "string" || VARIABLE.test(arg)) return arg;
	const isValue = typeof before === "string" && before.startsWith("-") && isSecretName(before) && !before.includes("=");
	if (isValue || /^[\w-]+:\s/.test(arg)) return MASK;
	if (ADDRESS.test(arg)) return shownAddress(arg);
	const [, option, value = ""] = /^([^=]*)=(.*)$/s.exec(arg) ?? [];
	if (option === undefined) return isKey(arg) ? MASK : arg;
	if (isSecretName(option) || isKey(value)) return `${option}=${MASK}`;
	return `${option}=${shownAddress(value)}`;
}

/** Looks like a key: long, with letters and digits, and no path, package or option. */
function isKey(text: string): boolean {
	return /^(?=.*\d)(?=.*[A-Za-z])[\w.+=-]{20,}$/.test(text) && !/^-|\.\w{1,4}$/.test(text);
}

/** An address without user, password, query and parts of the path that look like a key; other texts are unchanged. */
function shownAddress(url: string): string {
	const [, start, user = "", rest = ""] = /^(\w+:\/\/)([^/?#]*@)?(.*)$/s.exec(url) ?? [];
	if (start === undefined) return url;
	const [path = ""] = rest.split(/[?#]/, 1);
	const parts = path.split("/").map((part) => (isKey(part) ? MASK : part));
	return `${start}${user === "" ? "" : `${MASK}@`}${parts.join("/")}${path === rest ? "" : `?${MASK}`}`;
}
