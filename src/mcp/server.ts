import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { CallToolResult, GetPromptResult, Progress, ReadResourceResult } from "@modelcontextprotocol/client";
import type { Environment } from "../config/paths.js";
import { errorText } from "../errors.js";
import type { Network } from "../network/network.js";
import { JobOutput } from "../tools/job-output.js";
import { abortable, MAX_TIMER_MS } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import { formatDuration } from "../util/format-amounts.js";
import { isLoopbackHost } from "../util/loopback.js";
import { SecretMask } from "../util/secret-mask.js";
import type { McpServerConfig } from "./config.js";
import type { Connection, Prompt, RequestOptions, Tool } from "./connection.js";
import type { McpUser } from "./elicitation-fields.js";
import type { LoginHints, LoginStore } from "./oauth.js";
import { OpenRequests } from "./open-requests.js";
import { programStamp } from "./program-stamp.js";
import type { ArgumentQuestion } from "./prompt-completion.js";

/** Starts that may fail in a session. */
const MAX_FAILED_STARTS = 4;
/** Lines of the log that are shown. */
const SHOWN_LINES = 200;
/** Raw bytes from which these lines are taken. */
const SHOWN_BYTES = 64 * 1024;
/** Maximum length of a line of the log. */
const MAX_LINE = 1000;

/** What a server is doing; `idle`: it was not needed yet; `login`: it needs a login. */
export type McpState = "off" | "idle" | "starting" | "ready" | "login" | "failed";

export interface McpServerDeps {
	env: Environment;
	network: Network;
	/** True: the server is not used if it is on another machine. */
	isOffline: boolean;
	/** A private directory for the log. */
	tmpDir: string;
	store: LoginStore;
	/** Who answers questions of the server; null: nobody can. */
	user(): McpUser | null;
	/** Called with each change of its state, tools or prompts. */
	onChange(): void;
	warn(line: string): void;
}

/** Options of a request to a server. */
export interface RequestContext {
	signal: AbortSignal;
	onProgress?(progress: Progress): void;
}

/** A server of the configuration: starts when it is needed, and again when it ends while in use, unless several starts have failed. */
export class McpServer {
	#state: McpState;
	#connection: Connection | null = null;
	#starting: Promise<void> | null = null;
	/** The stamp of the program that runs. */
	#program = "";
	/** Aborts the start that is running. */
	#stop = new AbortController();
	#failedStarts = 0;
	#starts = 0;
	/** Whether a request was sent since the last start. */
	#isUsed = false;
	#isClosed = false;
	#tools: readonly Tool[] = [];
	#prompts: readonly Prompt[] = [];
	#log: JobOutput | null = null;
	/** Hides secrets of its configuration in everything that it says. */
	#mask = new SecretMask([]);
	#startedAt = 0;
	readonly #requests = new OpenRequests();
	/** Why it failed last; null if it has not. */
	lastError: string | null = null;
	/** How to log in, as the server said. */
	hints: LoginHints = {};

	constructor(
		public config: McpServerConfig,
		private readonly deps: McpServerDeps,
	) {
		this.#state = config.isDisabled ? "off" : "idle";
	}

	get name(): string {
		return this.config.name;
	}

	get state(): McpState {
		return this.#state;
	}

	/** The tools that it may offer; those before a crash while it starts again. */
	get tools(): readonly Tool[] {
		return this.#tools;
	}

	get prompts(): readonly Prompt[] {
		return this.#prompts;
	}

	/** How long it has been starting; null in other states. */
	get startingMs(): number | null {
		return this.#state === "starting" ? monotonicMs() - this.#startedAt : null;
	}

	/** Number of starts in this session. */
	get starts(): number {
		return this.#starts;
	}

	/** Path of the log; undefined if there is none. */
	get logPath(): string | undefined {
		return this.#log?.path;
	}

	/** The last lines of its log, as plain text. */
	get logLines(): string[] {
		return this.#log?.lastLines(SHOWN_LINES) ?? [];
	}

	/** True if it may still offer tools that are not known yet. */
	get isExpected(): boolean {
		return this.#state === "starting" || (this.#state === "idle" && !this.#isClosed);
	}

	/** True if it failed, or runs a program whose files have changed since. */
	get isStale(): boolean {
		if (this.#state === "failed") return true;
		const runs = this.#state === "ready" || this.#state === "starting";
		return runs && programStamp(this.config) !== this.#program;
	}

	/** Starts it unless it runs, is off, needs a login or has failed too often. Resolves when it is ready or has failed. */
	start(): Promise<void> {
		const mayStart = this.#state === "idle" || (this.#state === "failed" && this.#failedStarts < MAX_FAILED_STARTS);
		if (this.#starting) return this.#starting;
		if (!mayStart || this.#isClosed) return Promise.resolve();
		const started = this.#connect().finally(() => {
			if (this.#starting === started) this.#starting = null;
		});
		this.#starting = started;
		return started;
	}

	/** Starts it again, also if it has failed too often. */
	async restart(): Promise<void> {
		await this.stop();
		await this.start();
	}

	/** Ends it until it is needed again. It may then fail as often as at first. */
	async stop(): Promise<void> {
		await this.#disconnect("idle");
		this.#failedStarts = 0;
	}

	/** Turns it off or on for this session. */
	async setEnabled(isOn: boolean): Promise<void> {
		if (isOn === (this.#state !== "off")) return;
		await this.#disconnect(isOn ? "idle" : "off");
		this.#failedStarts = 0;
		if (isOn) await this.start();
	}

	/** Ends it with the session. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#disconnect("off");
		await this.#log?.close();
	}

	/** Calls a tool. @throws Error that names the server and the reason */
	callTool(name: string, args: Record<string, unknown>, context: RequestContext): Promise<CallToolResult> {
		return this.#request(context, ({ client }, options) => client.callTool({ name, arguments: args }, options));
	}

	/** @throws Error that names the server and the reason */
	getPrompt(name: string, args: Record<string, string>, context: RequestContext): Promise<GetPromptResult> {
		return this.#request(context, ({ client }, options) => client.getPrompt({ name, arguments: args }, options));
	}

	/** @throws Error that names the server and the reason */
	readResource(uri: string, context: RequestContext): Promise<ReadResourceResult> {
		return this.#request(context, ({ client }, options) => client.readResource({ uri }, options));
	}

	/** The resources that it lists; empty if it has none. @throws Error that names the server and the reason */
	async listResources(context: RequestContext): Promise<{ uri: string; name: string; description?: string }[]> {
		return this.#request(context, async ({ client, hasResources }, options) =>
			hasResources ? (await client.listResources(undefined, options)).resources : [],
		);
	}

	/**
	 * The values that the server suggests for an argument of a prompt; empty if it completes none.
	 * @throws Error that names the server and the reason
	 */
	async completeArgument(
		{ prompt, argument, given }: ArgumentQuestion,
		context: RequestContext,
	): Promise<readonly string[]> {
		return this.#request(context, async ({ client, hasCompletions }, options) => {
			if (!hasCompletions) return [];
			const ref = { type: "ref/prompt", name: prompt } as const;
			return (await client.complete({ ref, argument, context: { arguments: given } }, options)).completion.values;
		});
	}

	async #request<T>(
		{ signal, onProgress }: RequestContext,
		send: (connection: Connection, options: RequestOptions) => Promise<T>,
	): Promise<T> {
		await abortable(this.start(), signal);
		const connection = this.#connection;
		if (!connection) throw new Error(this.describeUnavailable());
		this.#isUsed = true;
		const { timeoutMs } = this.config;
		try {
			return await this.#requests.send(timeoutMs, signal, async (limited, restart) => {
				const onprogress = (progress: Progress) => {
					restart();
					onProgress?.(this.#mask.json(progress));
				};
				// The limit is that of `send`: it stops while the user answers a question of the server.
				const options = { timeout: MAX_TIMER_MS, signal: limited, onprogress };
				return this.#mask.json(await send(connection, options));
			});
		} catch (error) {
			if (signal.aborted) throw error;
			const { askForPages, describeFailure, isConnectionLost, isUnauthorized } = await import("./connection.js");
			if (isUnauthorized(error)) {
				await this.#needLogin(connection.hints);
				throw new Error(this.describeUnavailable(), { cause: error });
			}
			if (!isConnectionLost(error)) {
				const rights = connection.missingRights(error);
				if (rights) this.hints = rights.hints;
				const known = rights?.reason ?? (await askForPages(error, connection, signal));
				this.lastError = this.#mask.text(known ?? describeFailure(error, timeoutMs));
				this.deps.onChange();
				const text = `MCP server ${this.name}: ${this.lastError}${rights ? ` · run /mcp login ${this.name}` : ""}`;
				if (rights) this.deps.warn(text);
				throw new Error(text, { cause: error });
			}
			const ending = connection.ending();
			this.#lose(connection, ending === null ? "the connection was closed" : `it ended with ${ending}`);
			const advice = "It was started again. The call may have had effects: check before you repeat it.";
			throw new Error(`The MCP server ${this.name} ended during the call: ${this.lastError}. ${advice}`, {
				cause: error,
			});
		}
	}

	/** Why no request can be sent, and what to do. */
	describeUnavailable(): string {
		const name = `The MCP server ${this.name}`;
		if (this.#state === "off") return `${name} is turned off · /mcp enable ${this.name} turns it on`;
		if (this.#state === "login") return `${name} needs a login · run /mcp login ${this.name}`;
		const next = `/mcp restart ${this.name} starts it again`;
		return `${name} does not run: ${this.lastError ?? "it was stopped"} · ${next}`;
	}

	async #connect(): Promise<void> {
		const stop = new AbortController();
		this.#stop = stop;
		this.#isUsed = false;
		this.#mask = new SecretMask(this.config.secrets);
		this.#startedAt = monotonicMs();
		this.#setState("starting");
		try {
			const changed = await this.config.source.findChanged?.();
			if (stop.signal.aborted) return;
			if (changed) throw new Error(`${changed} is new or changed since you trusted it; /reload asks again`);
			const { address } = this.config;
			if (this.deps.isOffline && address.kind === "http" && !isLoopbackHost(new URL(address.url).hostname)) {
				throw new Error("--offline allows no requests to it");
			}
			this.#starts++;
			this.#program = programStamp(this.config);
			this.#write(`— start ${this.#starts} —`);
			const { connect } = await import("./connection.js");
			let ready: Connection | null = null;
			const connection = await connect({
				config: this.config,
				env: this.deps.env,
				network: this.deps.network,
				store: this.deps.store,
				user: this.deps.user,
				requests: this.#requests,
				signal: stop.signal,
				onStderr: (chunk) => this.#openLog().add(this.#mask.bytes(chunk)),
				onLog: (line) => this.#write(line),
				onChange: () => ready && this.#useLists(ready),
				onLost: (reason) => ready && this.#lose(ready, `it ended with ${reason}`),
			});
			ready = connection;
			if (stop.signal.aborted) return await connection.close();
			this.#write(`— ready after ${formatDuration(monotonicMs() - this.#startedAt)} —`);
			this.#connection = connection;
			this.#state = "ready";
			this.#useLists(connection);
		} catch (error) {
			if (stop.signal.aborted) return;
			const { LoginNeeded } = await import("./connection.js");
			if (error instanceof LoginNeeded) return this.#needLogin(error.hints);
			this.#fail(this.#mask.text(errorText(error)), "did not start");
		}
	}

	#useLists(connection: Connection): void {
		if (connection !== this.#connection) return;
		const { config } = this;
		const allowed = config.tools && new Set(config.tools);
		this.#tools = this.#mask.json(connection.tools.filter(({ name }) => !allowed || allowed.has(name)));
		this.#prompts = this.#mask.json(connection.prompts);
		const missing = config.tools?.filter((name) => !connection.tools.some((tool) => tool.name === name)) ?? [];
		if (missing.length > 0) {
			const names = missing.join(", ");
			this.deps.warn(`${config.source.path}: the MCP server ${this.name} has no tool ${names} · correct its "tools"`);
		}
		if (connection.dropped !== null) this.deps.warn(`MCP server ${this.name}: ${connection.dropped}`);
		this.deps.onChange();
	}

	/** The connection ended. Starts the server again if it was in use; otherwise it would end again at once. */
	#lose(connection: Connection, reason: string): void {
		if (connection !== this.#connection) return;
		this.#connection = null;
		this.#requests.cancelQuestions();
		void connection.close().catch(() => {});
		if (!this.#isUsed) {
			this.#fail(reason, "ended");
			return;
		}
		this.lastError = reason;
		this.#state = "idle";
		this.deps.warn(`The MCP server ${this.name} ended: ${reason}; pi starts it again`);
		void this.start();
	}

	#fail(reason: string, what: string): void {
		const isNew = this.lastError !== reason || this.#failedStarts === 0;
		this.#failedStarts++;
		this.lastError = reason;
		this.#write(`— ${what}: ${reason} —`);
		this.#dropLists();
		this.#setState("failed");
		const next = this.#failedStarts < MAX_FAILED_STARTS ? "" : `; pi tried ${MAX_FAILED_STARTS} times`;
		if (!isNew && next === "") return;
		this.deps.warn(`The MCP server ${this.name} ${what}: ${reason}${next} · /mcp log ${this.name} shows its output`);
	}

	async #needLogin(hints: LoginHints): Promise<void> {
		this.hints = hints;
		await this.#disconnect("login");
		this.lastError = "it needs a login";
		this.deps.warn(`The MCP server ${this.name} needs a login · run /mcp login ${this.name}`);
		this.deps.onChange();
	}

	async #disconnect(state: McpState): Promise<void> {
		this.#stop.abort();
		this.#requests.cancelQuestions();
		const connection = this.#connection;
		const starting = state === "login" ? null : this.#starting;
		this.#connection = null;
		this.#starting = null;
		this.#dropLists();
		this.#setState(state);
		await Promise.all([connection?.close().catch(() => {}), starting]);
	}

	#dropLists(): void {
		this.#tools = [];
		this.#prompts = [];
	}

	#setState(state: McpState): void {
		this.#state = state;
		this.deps.onChange();
	}

	#openLog(): JobOutput {
		const { tmpDir } = this.deps;
		const file = `mcp-${this.name.slice(0, 40)}-${randomBytes(4).toString("hex")}.log`;
		this.#log ??= new JobOutput(tmpDir, join(tmpDir, file), SHOWN_BYTES);
		return this.#log;
	}

	#write(line: string): void {
		void this.#openLog().add(Buffer.from(`${this.#mask.text(line).slice(0, MAX_LINE)}\n`));
	}
}
