import type { ImageContent } from "@mariozechner/pi-ai";
import { errorText, PiError } from "../errors.js";
import type { Network } from "../network/network.js";
import { abortable, withTimeLimit } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import { nearest } from "../util/nearest.js";
import { revealLine } from "../util/reveal.js";
import { loadMcpConfig, type McpConfigContext, type McpServerConfig, type McpSource } from "./config.js";
import type { McpUser } from "./elicitation-fields.js";
import type { LoginSteps, LoginStore } from "./oauth.js";
import { type ArgumentCompletion, argumentCompletions, openArgument } from "./prompt-completion.js";
import { describePrompt, type McpPrompt, promptCommand, promptText, readPromptArguments } from "./prompts.js";
import { toResource } from "./results.js";
import { McpServer, type McpState } from "./server.js";
import { ToolOffer } from "./tool-offer.js";

/** Time from the first need of servers to their start, ms. The prompt that needs them is sent before: it does not wait for servers. */
const START_DELAY_MS = 100;
/** The list of resources is read again after this time, ms. */
const RESOURCES_AGE_MS = 5000;
/** Nobody waits longer for a completion, ms. */
const COMPLETION_TIMEOUT_MS = 2000;

export interface McpServersDeps extends McpConfigContext {
	/** The way to servers on other machines. */
	network: Network;
	/** A private directory for logs. */
	tmpDir: string;
	/** Names of the tools that the user chose for the session; undefined: all. */
	toolNames: readonly string[] | undefined;
	/** True: only servers on this machine are used. */
	isOffline: boolean;
	/** Where the login of an address is kept. */
	loginOf(url: string): LoginStore;
	/** Who answers questions of servers; null: nobody can. */
	user(): McpUser | null;
	/** Called when tools, prompts or states have changed. */
	onChange(): void;
	/** Receives a line for the user. */
	warn(line: string): void;
}

/** The result of reading the configuration. */
export interface ConfiguredServers {
	/** A line for each problem. */
	problems: string[];
	/** Names of the servers that were running or had failed, and are started again. */
	restarted: string[];
}

/** A text with images from a server. */
export interface ForeignText {
	text: string;
	images: readonly ImageContent[];
}

/** The state of a server, for the user. */
export interface McpServerReport {
	name: string;
	/** File that defines it. */
	source: string;
	/** Its command line or URL. */
	address: string;
	state: McpState;
	/** Number of starts in this session. */
	starts: number;
	tools: readonly { name: string; description: string; tokens: number; isOffered: boolean }[];
	prompts: readonly string[];
	/** Estimated tokens of its tools in the next request. */
	tokens: number;
	lastError: string | null;
	logPath?: string;
}

/** The MCP servers of a session. */
export class McpServers {
	#servers: readonly McpServer[] = [];
	#isNeeded = false;
	#isClosed = false;
	readonly #resources = new Map<McpServer, { at: number; list: Promise<{ uri: string; name: string }[]> }>();
	readonly #offer: ToolOffer;

	constructor(private readonly deps: McpServersDeps) {
		this.#offer = new ToolOffer({
			servers: () => this.#servers,
			names: deps.toolNames,
			ready: () => this.ready(),
			onChange: () => deps.onChange(),
			warn: (line) => deps.warn(line),
		});
	}

	/** The tools of the next request. */
	get tools(): ToolOffer["current"] {
		return this.#offer.current;
	}

	/** The server of a tool; undefined for other tools. */
	serverOf(name: string): string | undefined {
		return this.#offer.all.find(({ tool }) => tool.name === name)?.server.name;
	}

	/**
	 * Reads the configuration. Servers continue to run if neither their part of it nor their program has changed; others
	 * that run, and those that failed, are started again.
	 */
	async configure(sources: readonly McpSource[]): Promise<ConfiguredServers> {
		const { servers, problems } = loadMcpConfig(sources, this.deps);
		const before = this.#servers;
		this.#servers = servers.map((config) => {
			const same = before.find((server) => isSameConfig(server.config, config));
			if (!same) return this.#create(config);
			same.config = config;
			return same;
		});
		const gone = before.filter((server) => !this.#servers.includes(server));
		const stale = this.#servers.filter((server) => server.isStale);
		this.#offer.update();
		await Promise.all([...gone.map((server) => server.close()), ...stale.map((server) => server.stop())]);
		const replaced = new Set(gone.filter(({ starts }) => starts > 0).map(({ name }) => name));
		const restarted = this.#servers.filter((server) => stale.includes(server) || replaced.has(server.name));
		if (this.#isNeeded) this.#start();
		return { problems, restarted: restarted.filter(({ state }) => state !== "off").map(({ name }) => name) };
	}

	/** Starts the servers in the background, shortly after the first call. */
	need(): void {
		const isFirst = !this.#isNeeded;
		this.#isNeeded = true;
		if (isFirst) setTimeout(() => this.#start(), START_DELAY_MS);
		else this.#start();
	}

	/** Starts the servers. Resolves when each is ready or has failed. */
	async ready(): Promise<void> {
		this.#isNeeded = true;
		await Promise.all(this.#start());
	}

	/** The servers that are needed and have not answered yet. `startingMs`: null for one that has not been started. */
	late(): { name: string; startingMs: number | null }[] {
		return this.#isNeeded ? this.#servers.filter((server) => server.isExpected) : [];
	}

	has(name: string): boolean {
		return this.#servers.some((server) => server.name === name);
	}

	/** @throws PiError `bad_arguments` */
	find(name: string): McpServer {
		const found = this.#servers.find((server) => server.name === name);
		if (found) return found;
		const names = this.#servers.map((server) => server.name);
		const near = nearest(name, names, 1)[0];
		throw new PiError("bad_arguments", `There is no MCP server "${name}"`, {
			hint: near ? `did you mean ${near}?` : `the servers are ${names.join(", ") || "none"}`,
		});
	}

	/** The prompts of the servers that run. */
	get prompts(): McpPrompt[] {
		return this.#servers.flatMap((server) => server.prompts.map((prompt) => describePrompt(server.name, prompt)));
	}

	/** Fetches a prompt for its command. @throws PiError `bad_arguments`, `command_failed` */
	async runPrompt(command: string, rest: string, signal: AbortSignal): Promise<ForeignText> {
		const server = this.find(command.slice(0, command.indexOf(":")));
		await abortable(server.start(), signal);
		const prompt = server.prompts.find(({ name }) => promptCommand(server.name, name) === command);
		if (!prompt) {
			if (server.state !== "ready") throw new PiError("command_failed", server.describeUnavailable());
			const names = server.prompts.map(({ name }) => `/${promptCommand(server.name, name)}`);
			throw new PiError("bad_arguments", `The MCP server ${server.name} has no prompt /${command}`, {
				hint: names.length > 0 ? `it has ${names.slice(0, 10).join(", ")}` : "it has no prompts",
			});
		}
		const args = readPromptArguments(describePrompt(server.name, prompt), prompt, rest);
		return promptText(await asCommand(`/${command}`, server.getPrompt(prompt.name, args, { signal })));
	}

	/** Completes the arguments of a prompt; empty while its server does not run. */
	async completePrompt(command: string, typed: string, signal: AbortSignal): Promise<ArgumentCompletion[]> {
		const server = this.#servers.find(({ name }) => command.startsWith(`${name}:`));
		const prompt = server?.prompts.find(({ name }) => promptCommand(server.name, name) === command);
		if (!server || !prompt) return [];
		const open = openArgument(prompt, typed);
		const { question } = open;
		if (!question) return argumentCompletions(open, []);
		const values = await withTimeLimit(COMPLETION_TIMEOUT_MS, [signal], (limited) =>
			server.completeArgument(question, { signal: limited }),
		).catch(() => []); // optional: failures are in the log of the server
		return argumentCompletions(open, values);
	}

	/** Reads a resource. @throws PiError `command_failed` */
	async readResource(name: string, uri: string, signal: AbortSignal): Promise<ForeignText> {
		const read = this.find(name).readResource(uri, { signal });
		return toResource((await asCommand(`@${name}:${uri}`, read)).contents);
	}

	/** The resources of a server that match; empty while it cannot list them. */
	async resources(name: string, signal: AbortSignal): Promise<{ uri: string; name: string }[]> {
		const server = this.#servers.find((candidate) => candidate.name === name);
		if (!server) return [];
		const known = this.#resources.get(server);
		if (known && monotonicMs() - known.at < RESOURCES_AGE_MS) return known.list;
		const list = server
			.listResources({ signal })
			.then((found) => found.map((resource) => ({ uri: resource.uri, name: resource.name })));
		this.#resources.set(server, { at: monotonicMs(), list });
		return list.catch(() => {
			this.#resources.delete(server);
			return [];
		});
	}

	get names(): string[] {
		return this.#servers.map(({ name }) => name);
	}

	/** The state of each server. */
	report(): McpServerReport[] {
		return this.#servers.map((server) => {
			const tools = this.#offer.all
				.filter((entry) => entry.server === server)
				.map((entry) => {
					const { name, description } = entry.tool;
					return { name, description, tokens: entry.tokens, isOffered: this.#offer.isOffered(entry) };
				});
			const { config, state, starts, lastError, logPath } = server;
			return {
				name: server.name,
				source: config.source.path,
				address: config.shownAddress,
				state,
				starts,
				tools,
				prompts: server.prompts.map(({ name }) => promptCommand(server.name, name)),
				tokens: tools.reduce((sum, { tokens, isOffered }) => sum + (isOffered ? tokens : 0), 0),
				lastError,
				...(logPath === undefined ? {} : { logPath }),
			};
		});
	}

	/** Logs in to a server, and starts it. @throws Error with the reason */
	async logIn(name: string, steps: LoginSteps, signal: AbortSignal): Promise<void> {
		const server = this.find(name);
		const { address } = server.config;
		if (address.kind !== "http") {
			throw new PiError("bad_arguments", `The MCP server ${name} has no login: it is a program on this machine`);
		}
		const { logInToServer } = await import("./oauth.js");
		const store = this.deps.loginOf(address.url);
		const { client, url } = address;
		const login = { client, hints: server.hints, store, steps, signal };
		await this.deps.network.run(() => logInToServer(url, login));
		await server.restart();
	}

	/** Forgets the login of a server. @returns false if there was none */
	async logOut(name: string): Promise<boolean> {
		const server = this.find(name);
		const { address } = server.config;
		if (address.kind !== "http") return false;
		const store = this.deps.loginOf(address.url);
		if (store.read().tokens === undefined) return false;
		await store.write({ tokens: undefined, client: undefined });
		await server.restart();
		return true;
	}

	/** Ends all servers. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all(this.#servers.map((server) => server.close()));
	}

	#create(config: McpServerConfig): McpServer {
		const { env, network, tmpDir, isOffline } = this.deps;
		return new McpServer(config, {
			env,
			network,
			isOffline,
			tmpDir,
			store: this.deps.loginOf(config.address.kind === "http" ? config.address.url : ""),
			user: this.deps.user,
			onChange: () => this.#offer.update(),
			warn: (line) => this.deps.warn(line),
		});
	}

	#start(): Promise<void>[] {
		return this.#isClosed ? [] : this.#servers.map((server) => server.start());
	}
}

function isSameConfig(a: McpServerConfig, b: McpServerConfig): boolean {
	const key = ({ source, ...config }: McpServerConfig) => JSON.stringify([source.path, config]);
	return key(a) === key(b);
}

async function asCommand<T>(what: string, request: Promise<T>): Promise<T> {
	try {
		return await request;
	} catch (cause) {
		throw new PiError("command_failed", `Cannot read ${revealLine(what)}: ${errorText(cause)}`, { cause });
	}
}
