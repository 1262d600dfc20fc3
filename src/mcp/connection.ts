import {
	Client,
	type ClientCapabilities,
	type ClientOptions,
	computeScopeUnion,
	type ElicitRequest,
	type ElicitResult,
	InsufficientScopeError,
	type JsonSchemaValidator,
	type Prompt,
	ProtocolError,
	ProtocolErrorCode,
	type RequestOptions,
	SdkError,
	SdkErrorCode,
	SdkHttpError,
	type StandardSchemaV1,
	type Tool,
	type Transport,
	UnauthorizedError,
	UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import type { Environment } from "../config/paths.js";
import { errorText } from "../errors.js";
import type { Network } from "../network/network.js";
import { withTimeLimit } from "../util/abort.js";
import { formatDuration } from "../util/format-amounts.js";
import { isRecord } from "../util/is-record.js";
import { packageVersion } from "../util/package-root.js";
import { revealLine } from "../util/reveal.js";
import type { McpServerConfig } from "./config.js";
import { answerElicitation, describeConsent } from "./elicitation.js";
import type { McpUser } from "./elicitation-fields.js";
import { connectHttp, type HttpConnection } from "./http.js";
import type { LoginHints, LoginStore } from "./oauth.js";
import type { OpenRequests } from "./open-requests.js";
import { ServerProcess, serverEnvironment } from "./server-process.js";

export type { Prompt, RequestOptions, Tool } from "@modelcontextprotocol/client";

/** Lists of more items are cut. */
const MAX_ITEMS = 2000;
/** Maximum length of scopes that are shown. */
const MAX_SCOPE = 200;

/** What a connection reports. */
export interface ConnectionEvents {
	/** The server has changed its tools or prompts. */
	onChange(): void;
	/** The connection ended without `close`. */
	onLost(reason: string): void;
	onStderr(chunk: Buffer): Promise<void> | undefined;
	onLog(line: string): void;
}

export interface ConnectionOptions extends ConnectionEvents {
	config: McpServerConfig;
	env: Environment;
	network: Network;
	store: LoginStore;
	/** Who answers questions of the server; null: nobody can. */
	user(): McpUser | null;
	requests: OpenRequests;
	signal: AbortSignal;
}

/** A connection to a server that is ready. */
export interface Connection {
	client: Client;
	tools: readonly Tool[];
	prompts: readonly Prompt[];
	hasResources: boolean;
	/** Whether it completes arguments of prompts. */
	hasCompletions: boolean;
	/** Asks the user what the server wants to know. */
	answer(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
	/** The part of its lists that was dropped; null for none. */
	dropped: string | null;
	/** How its process ended, such as `exit code 1`; null while it runs, and for a server without one. */
	ending(): string | null;
	/** What the server said about the login it needs. */
	hints: LoginHints;
	missingRights(error: unknown): MissingRights | null;
	close(): Promise<void>;
}

/** A login that allows what a server refused. */
export interface MissingRights {
	hints: LoginHints;
	reason: string;
}

/** The server needs a login. */
export class LoginNeeded extends Error {
	constructor(readonly hints: LoginHints) {
		super("it needs a login");
	}
}

/**
 * Schemas of servers are data: pi compiles none of them, which would run code made of them. The servers check the
 * arguments, and nothing of pi relies on the form of a result.
 */
const NO_VALIDATION: ClientOptions["jsonSchemaValidator"] = {
	getValidator<T>(): JsonSchemaValidator<T> {
		return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
	},
};

/** Starts a server, or connects to it, and reads what it offers. @throws LoginNeeded; Error with the reason */
export async function connect({
	config,
	env,
	network,
	store,
	user,
	requests,
	signal,
	...events
}: ConnectionOptions): Promise<Connection> {
	const { timeoutMs } = config;
	const client = new Client(
		{ name: "pi", version: packageVersion() },
		{
			jsonSchemaValidator: NO_VALIDATION,
			capabilities: capabilitiesOf(user()),
			versionNegotiation: { mode: config.address.kind === "http" ? "auto" : "legacy" },
			listChanged: {
				tools: { autoRefresh: false, onChanged: () => update() },
				prompts: { autoRefresh: false, onChanged: () => update() },
			},
		},
	);
	client.setNotificationHandler("notifications/message", ({ params }) => {
		events.onLog(`${params.level}: ${typeof params.data === "string" ? params.data : JSON.stringify(params.data)}`);
	});
	const answer: Connection["answer"] = async (params, asked) => {
		const someone = user();
		if (someone === null) return { action: "decline" };
		return requests.ask(asked, (limited) => answerElicitation(config.name, params, someone, limited));
	};
	if (user() === null) {
		client.fallbackRequestHandler = async ({ method }) => {
			if (method === "elicitation/create") return { action: "decline" };
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
		};
	} else {
		client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => answer(params, mcpReq.signal));
	}
	client.onerror = (error) => events.onLog(describeFailure(error, timeoutMs));
	const { transport, hints, scope, child } = await open(config, { env, network, store }, events);
	let isClosing = false;
	const close = async () => {
		isClosing = true;
		await client.close();
		// The client forgets a transport that could not be initialized.
		await transport.close();
	};
	const connection: Connection = {
		client,
		tools: [],
		prompts: [],
		hasResources: false,
		hasCompletions: false,
		answer,
		dropped: null,
		ending: () => child?.ending ?? null,
		hints,
		missingRights: (error) => missingRights(error, { hints, scope }),
		close,
	};
	const update = () => {
		void readLists(connection, { timeout: timeoutMs }, events.onLog).then(events.onChange, (error) =>
			events.onLog(describeFailure(error, timeoutMs)),
		);
	};
	let limit = signal;
	try {
		await withTimeLimit(timeoutMs, [signal], async (limited) => {
			limit = limited;
			await client.connect(transport, { timeout: timeoutMs, signal: limited });
			await readLists(connection, { timeout: timeoutMs, signal: limited }, events.onLog);
		});
	} catch (error) {
		// An exit is reported before its reason is known.
		const ending = child?.ending;
		await close().catch(() => {});
		if (isUnauthorized(error)) throw new LoginNeeded(hints);
		const rights = missingRights(error, { hints, scope });
		if (rights) throw new LoginNeeded(rights.hints);
		if (limit.aborted && !signal.aborted) throw new Error(tooSlow(timeoutMs), { cause: error });
		if (ending) throw new Error(`it ended with ${ending}`, { cause: error });
		throw new Error(describeFailure(error, timeoutMs), { cause: error });
	}
	client.onclose = () => {
		if (!isClosing) events.onLost(child?.ending ?? "the connection was closed");
	};
	return connection;
}

/** What servers may ask: pages need a choice, forms also text. */
function capabilitiesOf(user: McpUser | null): ClientCapabilities {
	if (user === null) return {};
	return { elicitation: { ...(user.canType ? { form: {} } : {}), url: {} } };
}

/** The reason of a failed request, on one line. */
export function describeFailure(error: unknown, timeoutMs: number): string {
	const isLate = error instanceof DOMException && error.name === "TimeoutError";
	if (isLate || (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)) return tooSlow(timeoutMs);
	// The question for the protocol's revision, which is the first request, failed like any other.
	if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && error.cause instanceof Error) {
		return describeFailure(error.cause, timeoutMs);
	}
	const isSchemaError = error instanceof Error && "issues" in error;
	if (isSchemaError || (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult))
		return malformed(error);
	const cause = error instanceof Error && error.cause instanceof Error ? `: ${errorText(error.cause)}` : "";
	return revealLine(`${errorText(error)}${cause}`);
}

/**
 * Asks the user for the pages that a server demanded instead of answering a request.
 * @returns the reason for the failure of the request, for the model; null for another failure
 */
export async function askForPages(error: unknown, { answer }: Connection, signal: AbortSignal): Promise<string | null> {
	if (!(error instanceof UrlElicitationRequiredError)) return null;
	const answers: ElicitResult[] = [];
	for (const params of error.elicitations) answers.push(await answer(params, signal));
	return describeConsent(answers);
}

/** True if a failed request shows that the connection does not exist anymore. */
export function isConnectionLost(error: unknown): boolean {
	if (error instanceof SdkHttpError) return error.status === 404;
	if (error instanceof SdkError) {
		return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
	}
	// What `fetch` throws if there is no connection.
	return error instanceof TypeError && /fetch failed/.test(error.message);
}

/** True if a failed request shows that the server needs a login. */
export function isUnauthorized(error: unknown): boolean {
	return error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401);
}

/** A login that allows what a server refused; null if the failure has another reason. */
function missingRights(
	error: unknown,
	{ hints, scope }: Pick<HttpConnection, "hints" | "scope">,
): MissingRights | null {
	if (!(error instanceof InsufficientScopeError)) return null;
	const { requiredScope, resourceMetadataUrl } = error;
	// What the login allowed before, it allows afterwards.
	const wanted = computeScopeUnion(scope(), hints.scope, requiredScope);
	const shown = wanted === undefined ? "" : ` (${revealLine(wanted).slice(0, MAX_SCOPE)})`;
	const wider = {
		...hints,
		...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
		...(wanted === undefined ? {} : { scope: wanted }),
	};
	return { hints: wider, reason: `it needs a login with more rights${shown}` };
}

/** Names the request, if it is known, but not each field: the message of the client lists these as JSON. */
function malformed({ message }: Error): string {
	const [, request] = /^Invalid result for ([\w/]+)/.exec(message) ?? [];
	return request === undefined ? "it sent a malformed answer" : `its answer to ${request} is malformed`;
}

function tooSlow(timeoutMs: number): string {
	return `it did not answer within ${formatDuration(timeoutMs)}`;
}

async function open(
	{ address }: McpServerConfig,
	{ env, network, store }: Pick<ConnectionOptions, "env" | "network" | "store">,
	{ onStderr, onLog }: ConnectionEvents,
): Promise<Omit<HttpConnection, "transport"> & { transport: Transport; child?: ServerProcess }> {
	if (address.kind === "http") {
		await network.prepare();
		return connectHttp(address, store, network);
	}
	const child = new ServerProcess({ ...address, env: serverEnvironment(env, address.env), onStderr, onLog });
	return { transport: child, hints: {}, scope: () => undefined, child };
}

async function readLists(
	connection: Connection,
	options: { timeout: number; signal?: AbortSignal },
	onLog: (line: string) => void,
): Promise<void> {
	const { client } = connection;
	const noPrompts = (error: unknown) => {
		onLog(`no prompts: ${describeFailure(error, options.timeout)}`);
		return null;
	};
	const offered = client.getServerCapabilities();
	const refresh = { ...options, cacheMode: "refresh" } as const;
	const [tools, prompts] = await Promise.all([
		offered?.tools ? listTools(client, options) : [],
		// A server without its prompts is still useful.
		offered?.prompts ? client.listPrompts(undefined, refresh).catch(noPrompts) : null,
	]);
	const count = tools.length;
	connection.tools = tools.slice(0, MAX_ITEMS);
	connection.prompts = prompts?.prompts.slice(0, MAX_ITEMS) ?? [];
	connection.hasResources = offered?.resources !== undefined;
	connection.hasCompletions = offered?.completions !== undefined;
	connection.dropped = count > MAX_ITEMS ? `${count - MAX_ITEMS} of ${count} tools are dropped` : null;
}

/** Maximum number of pages of a list that the client does not read itself. */
const MAX_PAGES = 64;

interface ToolPage {
	tools: unknown[];
	nextCursor?: unknown;
}

/** Accepts every list. The client refuses a complete list because of one malformed tool. */
const ANY_TOOLS: StandardSchemaV1<unknown, ToolPage> = {
	"~standard": {
		version: 1,
		vendor: "pi",
		validate: (value) => (isToolPage(value) ? { value } : { issues: [{ message: "not a list of tools" }] }),
	},
};

/** Lists the tools of a server. If one is malformed, all are as the server sent them: `createMcpTool` checks each. */
async function listTools(client: Client, options: RequestOptions): Promise<readonly Tool[]> {
	try {
		return (await client.listTools(undefined, { ...options, cacheMode: "refresh" })).tools;
	} catch (error) {
		if (!(error instanceof SdkError) || error.code !== SdkErrorCode.InvalidResult) throw error;
	}
	const tools: unknown[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < MAX_PAGES; page++) {
		const params = cursor === undefined ? {} : { cursor };
		const { tools: more, nextCursor } = await client.request({ method: "tools/list", params }, ANY_TOOLS, options);
		tools.push(...more);
		if (typeof nextCursor !== "string" || nextCursor === cursor) break;
		cursor = nextCursor;
	}
	return tools.map((tool) => (isRecord(tool) ? tool : {}) as Tool);
}

function isToolPage(value: unknown): value is ToolPage {
	return isRecord(value) && Array.isArray(value.tools);
}
