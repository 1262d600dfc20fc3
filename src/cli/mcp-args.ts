import { Command } from "commander";
import type { JsonObject } from "../config/json-file.js";
import type { McpSubcommand } from "./options.js";
import { addOne, choose, type ParsedLine, type ParsedOptions, takeAtMost, usage } from "./parser.js";
import { MCP_ACTIONS } from "./subcommand-names.js";

const ADD_HINT = "pi mcp add <name> <url>, or pi mcp add <name> -- <command> [<arg>...]";

/** The parser of `pi mcp`; it also knows the options of `claude mcp`. */
export function mcpParser(): Command {
	return new Command("mcp")
		.option("--project")
		.option("--replace")
		.option("--check")
		.option("-e, --env <variable>", "", addOne)
		.option("-H, --header <header>", "", addOne)
		.option("-s, --scope <scope>")
		.option("-t, --transport <kind>")
		.option("--trust")
		.option("--offline")
		.option("--verbose")
		.option("--json")
		.option("-h, --help");
}

/** Reads a line of `mcpParser`. Errors repeat no values, which may be secret. @throws PiError `bad_arguments` */
export function readMcp({ options, operands, literal, unknown }: ParsedLine): McpSubcommand {
	const [word = "list", server, ...more] = operands;
	const action = choose("mcp", word, MCP_ACTIONS);
	if (unknown[0]) {
		if (action !== "add" || literal.length > 0) throw unknown[0].problem;
		throw usage(unknown[0].problem.message, "put -- before the command of the server and its options");
	}
	for (const [name, isGiven] of [
		["replace", options.flag("replace")],
		["check", options.flag("check")],
		["env", options.texts("env").length > 0],
		["header", options.texts("header").length > 0],
		["transport", options.text("transport") !== undefined],
	] as const)
		if (isGiven && action !== "add") throw usage(`--${name} works only with pi mcp add, not with ${action}`);
	if (action === "list") {
		takeAtMost("mcp list", [...operands.slice(1), ...literal], 0);
		if (options.flag("project") || options.text("scope") !== undefined)
			throw usage("pi mcp list shows the servers of all scopes", "leave out --project and --scope");
		return { name: "mcp", action };
	}
	const hint = action === "add" ? ADD_HINT : "pi mcp list shows all servers";
	if (server === undefined) throw usage(`pi mcp ${action} <name>: missing name`, hint);
	const inProject = readScope(options);
	if (action === "remove") {
		takeAtMost("mcp remove", [...more, ...literal], 0);
		return { name: "mcp", action, server, inProject };
	}
	if (!/^[\w-]+$/.test(server))
		throw usage(`pi mcp add: the name of a server can have only letters, digits, _ and -`, ADD_HINT);
	const definition = readDefinition(options, more, literal);
	return {
		...{ name: "mcp", action, server, definition, inProject },
		...{ replace: options.flag("replace"), check: options.flag("check") },
	};
}

/** @returns whether the server is one of the project */
function readScope(options: ParsedOptions): boolean {
	const scope = options.text("scope");
	const inProject = options.flag("project");
	if (scope === undefined || scope === "project") return inProject || scope === "project";
	if (scope === "local")
		throw usage(
			"pi has no servers for one user in one project, as --scope local asks for",
			"use --scope user for all projects, or --project for .pi/mcp.json",
		);
	if (scope !== "user") throw usage(`--scope ${JSON.stringify(scope)}: must be user or project`);
	if (inProject) throw usage("--project and --scope user exclude each other");
	return false;
}

function readDefinition(options: ParsedOptions, words: readonly string[], literal: readonly string[]): JsonObject {
	const transport = options.text("transport");
	if (transport === "sse")
		throw usage("pi does not speak server-sent events (sse)", "try --transport http: its http address may work");
	if (transport !== undefined && !["stdio", "http", "streamable-http"].includes(transport))
		throw usage(`--transport ${JSON.stringify(transport)}: must be stdio or http`);
	if (words.length > 0 && literal.length > 0)
		throw usage("pi mcp add: expected only the name of the server before --", ADD_HINT);
	const [first, ...others] = literal.length > 0 ? literal : words;
	if (first === undefined || first === "") throw usage("pi mcp add: missing address or command", ADD_HINT);
	const isAddress = literal.length === 0 && /^(?:https?:\/\/|\$\{)/i.test(first);
	const isForAddress = transport === "http" || transport === "streamable-http";
	// Such as `tracker.example.com/mcp`, `localhost:3000` and `ws://…`.
	const isUnclear =
		literal.length === 0 && /^[\w+-]+:\/\/|^[\w.-]+\.[a-z]{2,}(?::\d+)?(?:\/|$)|^[\w.-]+:\d+/i.test(first);
	if (!isAddress && (isForAddress || (isUnclear && transport !== "stdio")))
		throw usage(
			"pi mcp add: expected an http or https address, or a command",
			"write https:// before an address, and -- before a command",
		);
	if (!isAddress) {
		if (options.texts("header").length > 0) throw usage("--header works only with an address", ADD_HINT);
		const env = options.texts("env").map(readVariable);
		return {
			command: first,
			...(others.length > 0 && { args: others }),
			...(env.length > 0 && { env: Object.fromEntries(env) }),
		};
	}
	if (transport === "stdio") throw usage("--transport stdio needs a command, not an address", ADD_HINT);
	if (options.texts("env").length > 0)
		throw usage("--env works only with a command", "--header sends a key to an address");
	if (others.length > 0) throw usage("pi mcp add: unexpected arguments after the address", ADD_HINT);
	if (/^http/i.test(first) && !first.includes("${") && !URL.canParse(first))
		throw usage("pi mcp add: the address is not a valid URL");
	const headers = options.texts("header").map(readHeader);
	return { url: first, ...(headers.length > 0 && { headers: Object.fromEntries(headers) }) };
}

/** `NAME=value`, or `NAME` for the value that it has in pi's environment. */
function readVariable(text: string): [string, string] {
	const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
	if (name === undefined) throw usage("--env: expected NAME=value, or NAME for the value that pi has");
	return [name, value ?? `\${${name}}`];
}

function readHeader(text: string): [string, string] {
	const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):[ \t]*([^\r\n\0]*)$/.exec(text) ?? [];
	if (name === undefined || value === undefined)
		throw usage('--header: expected "Name: value"', 'such as --header "X-Key: …"');
	return [name, value];
}
