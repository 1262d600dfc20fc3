import { existsSync } from "node:fs";
import { readServers } from "../../config/mcp-file.js";
import { withoutSecrets } from "../../imports/setup/server-items.js";
import { loadMcpConfig, type McpServerConfig, type McpSource } from "../../mcp/config.js";
import { reduceName } from "../../mcp/names.js";
import { findProjectSet, isTrusted, loadTrust } from "../../trust/store.js";
import { displayPath } from "../../util/home-path.js";
import { isRecord } from "../../util/is-record.js";
import { revealLine } from "../../util/reveal.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { Location, SubcommandContext } from "./location.js";

/** Whether a session uses a server: `replaced` by one of the same name, `invalid`: its definition has a problem. */
type ServerUse = "used" | "off" | "untrusted" | "replaced" | "invalid";

const USE_TEXTS: Readonly<Record<ServerUse, string>> = {
	used: "used",
	off: "off",
	untrusted: "not trusted",
	replaced: "replaced",
	invalid: "not used",
};

/** The files that may define servers, without those of `--mcp`, lowest precedence first. */
export function serverSources({ paths }: Location): McpSource[] {
	return [
		{ path: paths.mcp, scope: "user" as const },
		{ path: paths.project.sharedMcp, scope: "shared" as const },
		{ path: paths.project.mcp, scope: "project" as const },
	].filter(({ path }) => existsSync(path));
}

/** A definition for the user: what it is, without values of variables and headers and what else may be secret. */
export function describeDefinition(definition: unknown) {
	const { command, args, url, env, headers } = recordOf(withoutSecrets(definition));
	const list = Array.isArray(args) ? args.map(String) : [];
	return {
		...(typeof command === "string" && { command, args: list }),
		...(typeof url === "string" && { url }),
		env: Object.keys(recordOf(env)),
		headers: Object.keys(recordOf(headers)),
	};
}

/** The same in one line: the command with its arguments, or the address. */
export function definitionText(definition: unknown): string {
	const { command, args = [], url } = describeDefinition(definition);
	return revealLine(url ?? [command ?? "", ...args].join(" "));
}

/** `pi mcp list`: prints the defined servers, and starts none. @returns 1 if a definition has a problem */
export async function listServers({ location, options, io }: SubcommandContext): Promise<number> {
	const { paths, env, trust } = location;
	const { cwd, home } = paths;
	const sources = serverSources(location);
	const isForProject = sources.some(({ scope }) => scope !== "user");
	const mayUse =
		trust || (isForProject && isTrusted(await findProjectSet(cwd, loadTrust(paths.agentDir), { env, home })));
	const usable = sources.filter(({ scope }) => scope === "user" || mayUse);
	const { servers, problems } = loadMcpConfig(usable, { env, cwd, home });
	const found = sources.flatMap((source) =>
		Object.entries(serversIn(source)).map(([name, definition]) => ({
			...{ name, definition, source },
			use: usable.includes(source) ? useOf(name, source, servers) : ("untrusted" as const),
		})),
	);
	if (options.json) {
		await printJson(
			io,
			found.map(({ name, definition, source: { path, scope }, use }) => ({
				...{ name, path, scope, use },
				...describeDefinition(definition),
			})),
		);
	} else if (found.length === 0) {
		await printLines(io, ["No MCP servers · pi mcp add <name> <url>, or pi mcp add <name> -- <command>, adds one"]);
	} else {
		const rows = found.map(({ name, definition, source, use }) => [
			...[revealLine(name), displayPath(source.path, { cwd, home }), USE_TEXTS[use], definitionText(definition)],
		]);
		await printLines(io, tableLines(rows));
	}
	printNotices(io, problems);
	if (found.some(({ use }) => use === "untrusted") && !options.json)
		printNotices(io, ["pi asks about the servers of this project at its next start · pi hooks trust trusts them"]);
	return problems.every(isReplacement) ? 0 : 1;
}

/** Whether a line about the configuration says only which of two servers is used. */
function isReplacement(problem: string): boolean {
	return / the latter is used$/.test(problem);
}

/** The problems of a malformed file are those of `loadMcpConfig`. */
function serversIn({ path }: McpSource): Record<string, unknown> {
	try {
		return readServers(path);
	} catch {
		return {};
	}
}

function useOf(written: string, source: McpSource, servers: readonly McpServerConfig[]): ServerUse {
	const server = servers.find(({ name }) => name === reduceName(written));
	if (!server) return "invalid";
	if (server.source !== source) return "replaced";
	return server.isDisabled ? "off" : "used";
}

function recordOf(value: unknown): Record<string, unknown> {
	return isRecord(value) ? value : {};
}
