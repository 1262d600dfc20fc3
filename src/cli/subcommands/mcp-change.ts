import type { JsonObject } from "../../config/json-file.js";
import { changeServers, readServers } from "../../config/mcp-file.js";
import { runEnvironment } from "../../config/paths.js";
import { errorText, PiError } from "../../errors.js";
import { runsRelativeFile, withoutSecrets } from "../../imports/setup/server-items.js";
import { leadsOut } from "../../imports/setup/take-over.js";
import { loadMcpConfig, type McpSource } from "../../mcp/config.js";
import { createLoginStore } from "../../mcp/login-store.js";
import { reduceName } from "../../mcp/names.js";
import { McpServers } from "../../mcp/servers.js";
import { AuthFile } from "../../models/auth-file.js";
import { networkOf } from "../../network/network.js";
import { usablePrivateDir } from "../../util/fs.js";
import { homePath } from "../../util/home-path.js";
import { didYouMean } from "../../util/nearest.js";
import { revealLine } from "../../util/reveal.js";
import type { McpSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { Location, SubcommandContext } from "./location.js";
import { definitionText, describeDefinition, serverSources } from "./mcp-list.js";

type Change<A extends McpSubcommand["action"]> = Extract<McpSubcommand, { action: A }>;

/** A server that was started once. `error`: why it is not ready; null if it is. */
interface CheckedServer {
	tools: { name: string; description: string }[];
	error: string | null;
}

/**
 * `pi mcp add`: defines a server; starts it only to check it.
 * @returns 1 if a check fails
 * @throws PiError `bad_arguments` for a server that exists already or may not be defined there, `config_invalid`,
 * `config_write_failed`
 */
export async function addServer(
	{ server, definition, inProject, replace, check }: Change<"add">,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const { paths, env } = location;
	const { cwd, home } = paths;
	const path = fileOf(inProject, location);
	if (!inProject && runsRelativeFile(definition)) {
		throw new PiError("bad_arguments", "The command runs a file by a relative path, which each directory may have", {
			hint: "write an absolute path, or add --project",
		});
	}
	let isReplaced = false;
	await change(path, (servers) => {
		const others = Object.entries(servers).filter(([name]) => reduceName(name) !== server);
		isReplaced = others.length < Object.keys(servers).length;
		if (isReplaced && !replace) {
			throw new PiError("bad_arguments", `${path} has an MCP server ${server} already`, {
				hint: "--replace replaces it",
			});
		}
		return Object.fromEntries([...others, [server, definition]]);
	});
	const source: McpSource = { path, scope: inProject ? "project" : "user" };
	const at = `mcpServers.${server} `;
	const { problems } = loadMcpConfig([source], { env, cwd, home });
	const only: McpSource = { ...source, content: { mcpServers: { [server]: definition } } };
	const checked = check ? await checkServer(server, only, { location, options }) : null;
	if (options.json) {
		await printJson(io, {
			...{ name: server, path, scope: source.scope, replaced: isReplaced, ...describeDefinition(definition) },
			...(checked && { check: checked }),
		});
	} else {
		const done = `${isReplaced ? "Replaced" : "Added"} the MCP server ${server} in ${homePath(path, home)}`;
		await printLines(io, [`${done}: ${definitionText(definition)}`]);
		if (checked?.error === null) {
			const rows = checked.tools.map(({ name, description }) => [`  ${name}`, revealLine(firstLine(description))]);
			await printLines(io, ["It started. Its tools:", ...(rows.length > 0 ? tableLines(rows) : ["  none"])]);
		}
	}
	// A problem that a check has is its error.
	printNotices(io, checked ? [] : problems.filter((problem) => problem.includes(at)));
	if (checked && checked.error !== null) printNotices(io, [checked.error]);
	if (inProject && hasSecrets(definition)) {
		printNotices(io, [
			`${homePath(path, home)} has values that may be secret, and may become public: --env NAME and \${NAME} take them from the environment`,
		]);
	}
	if (inProject) printNotices(io, ["pi asks about the new code of this project at its next start"]);
	return checked !== null && checked.error !== null ? 1 : 0;
}

/**
 * `pi mcp remove`: removes the definition of a server.
 * @throws PiError `bad_arguments` if the file does not define it, `config_invalid`, `config_write_failed`
 */
export async function removeServer(
	{ server, inProject }: Change<"remove">,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const { home } = location.paths;
	const path = fileOf(inProject, location);
	// Before the lock, which creates the directory.
	if (!Object.hasOwn(readServers(path), server)) throw missing(server, path, location);
	await change(path, (servers) => {
		if (!Object.hasOwn(servers, server)) throw missing(server, path, location);
		return Object.fromEntries(Object.entries(servers).filter(([name]) => name !== server));
	});
	if (options.json) await printJson(io, { name: server, path, scope: inProject ? "project" : "user" });
	else await printLines(io, [`Removed the MCP server ${revealLine(server)} from ${homePath(path, home)}`]);
	return 0;
}

/** Starts a server once, and ends it. */
async function checkServer(
	name: string,
	source: McpSource,
	{ location, options }: Pick<SubcommandContext, "location" | "options">,
): Promise<CheckedServer> {
	const { env, paths } = location;
	const said: string[] = [];
	const warn = (line: string) => void said.push(line);
	const auth = new AuthFile(paths.auth, warn);
	const servers = new McpServers({
		...{ env, cwd: paths.cwd, home: paths.home, warn, toolNames: undefined },
		network: await networkOf(env),
		tmpDir: usablePrivateDir(paths.tmp),
		isOffline: options.offline || runEnvironment(env, paths.home).offline,
		loginOf: (url) => createLoginStore(auth, url),
		user: () => null,
		onChange: () => {},
	});
	try {
		said.push(...(await servers.configure([source])).problems);
		await servers.ready();
		const [report] = servers.report();
		const tools = (report?.tools ?? []).map((tool) => ({ name: tool.name, description: tool.description }));
		const error = said.length > 0 ? said.join("\n") : `The MCP server ${name} did not start`;
		return { tools, error: report?.state === "ready" ? null : error };
	} finally {
		await servers.close();
	}
}

/** @throws PiError `bad_arguments` if a link of the project leads out of it: its author would choose what is changed */
function fileOf(inProject: boolean, { paths }: Location): string {
	if (!inProject) return paths.mcp;
	if (!leadsOut(paths.project.mcp, paths.cwd)) return paths.project.mcp;
	throw new PiError("bad_arguments", `${paths.project.dir} is a link that leads out of the project`, {
		hint: "leave out --project, or replace the link with a directory",
	});
}

async function change(path: string, next: (servers: JsonObject) => JsonObject): Promise<void> {
	try {
		await changeServers(path, next);
	} catch (cause) {
		if (cause instanceof PiError) throw cause;
		throw new PiError("config_write_failed", `Cannot write ${path}: ${errorText(cause)}`, { cause });
	}
}

function missing(server: string, path: string, location: Location): PiError {
	const others = serverSources(location).filter((source) => source.path !== path);
	const other = others.find((source) => {
		try {
			return Object.hasOwn(readServers(source.path), server);
		} catch {
			return false; // pi mcp list names what is wrong with it
		}
	});
	const ways = { user: "leave out --project", project: "add --project", shared: "edit that file" };
	const hint =
		other && (other.scope === "user" || other.scope === "project" || other.scope === "shared")
			? `${other.path} defines it: ${ways[other.scope]}`
			: (didYouMean(server, Object.keys(readServers(path))) ?? "pi mcp list shows all servers");
	return new PiError("bad_arguments", `${path} defines no MCP server ${JSON.stringify(server)}`, { hint });
}

function hasSecrets(definition: JsonObject): boolean {
	return JSON.stringify(withoutSecrets(definition)) !== JSON.stringify(definition);
}

function firstLine(text: string): string {
	return text.trim().split("\n")[0] ?? "";
}
