import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type {
	AgentContext,
	ClientCapabilities,
	ListSessionsRequest,
	ListSessionsResponse,
	McpServer,
} from "@agentclientprotocol/sdk";
import { PiError } from "../../errors.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { SessionChoice } from "../../sdk/create-session.js";
import { invalidParams, sessionNotOpen } from "./acp-errors.js";
import { AcpSession, type OpenedSession } from "./acp-session.js";
import { findSessionFile, listSessionPage, type SessionDirectories } from "./session-files.js";

/** What a client asks for when it opens a session. */
export interface SessionRequest {
	cwd: string;
	session: SessionChoice;
	/** The MCP servers that the client has configured. */
	mcpServers: readonly McpServer[];
}

/** A session that is not started yet. */
export interface CreatedSession {
	session: AgentSession;
	/** Problems to report to the user, one line each. */
	warnings: readonly string[];
	/** Called when the session has ended. */
	release(): void;
}

/** Creates the sessions of the program. */
export interface SessionFactory {
	/** Null: sessions are not saved. */
	directories: SessionDirectories | null;
	/** @throws PiError when the session cannot be opened */
	create(request: SessionRequest): Promise<CreatedSession>;
}

type OpenParams = Pick<SessionRequest, "cwd"> & { mcpServers?: readonly McpServer[] };

/** The open sessions of a connection. */
export class AcpSessions {
	/** What the client supports; known after `initialize`. */
	capabilities: ClientCapabilities = {};
	readonly #open = new Map<string, { session: AcpSession; release(): void }>();
	/** Ids of the sessions that are being opened. */
	readonly #opening = new Set<string>();
	#isClosed = false;

	constructor(private readonly factory: SessionFactory) {}

	/** Begins a session. @throws PiError, RequestError */
	async begin(params: OpenParams, client: AgentContext): Promise<OpenedSession & { sessionId: string }> {
		const session = await this.#start(params, { kind: "new" }, client);
		return { sessionId: session.id, ...(await session.describe()) };
	}

	/**
	 * Opens a saved session, or one that is open already.
	 * @param how `load` also sends its history as updates
	 * @throws PiError `log_not_found`, `log_locked`; RequestError
	 */
	async reopen(
		params: OpenParams & { sessionId: string },
		how: "load" | "resume",
		client: AgentContext,
	): Promise<OpenedSession> {
		const { sessionId } = params;
		const session = this.#open.get(sessionId)?.session ?? (await this.#openFile(params, client));
		if (how === "load") session.replay();
		return session.describe();
	}

	/** Lists the saved sessions. @throws RequestError */
	async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
		if (typeof cwd === "string" && !isAbsolute(cwd)) throw invalidParams(`cwd ${JSON.stringify(cwd)} is not absolute`);
		const { directories } = this.factory;
		return directories ? listSessionPage(directories, cwd ?? null, cursor ?? null) : { sessions: [] };
	}

	/** An open session. @throws RequestError */
	get(sessionId: string): AcpSession {
		const found = this.#open.get(sessionId);
		if (!found) throw sessionNotOpen(sessionId);
		return found.session;
	}

	/** Cancels the prompts of a session; ignores unknown ones. */
	async cancel(sessionId: string): Promise<void> {
		await this.#open.get(sessionId)?.session.cancel();
	}

	/** Ends a session. @throws RequestError if it is not open */
	async close(sessionId: string): Promise<void> {
		const session = this.get(sessionId);
		const { release } = this.#open.get(sessionId) ?? {};
		this.#open.delete(sessionId);
		await session.close();
		release?.();
	}

	/** Cancels the prompts of all sessions. */
	async cancelAll(): Promise<void> {
		await Promise.all([...this.#open.values()].map(({ session }) => session.cancel()));
	}

	/** Ends all sessions, including those that are being opened. */
	async closeAll(): Promise<void> {
		this.#isClosed = true;
		await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
	}

	/** Reports an error outside of any handler. @returns false if no hook caused it */
	blameHook(error: unknown): boolean {
		return [...this.#open.values()].some(({ session }) => session.blameHook(error));
	}

	async #openFile(params: OpenParams & { sessionId: string }, client: AgentContext): Promise<AcpSession> {
		const { sessionId, cwd } = params;
		const { directories } = this.factory;
		if (!directories) throw new PiError("log_not_found", "pi acp --no-session saves no sessions");
		if (this.#opening.has(sessionId)) throw new PiError("session_busy", `Session ${sessionId} is being opened already`);
		this.#opening.add(sessionId);
		try {
			const target = findSessionFile(directories, sessionId, cwd);
			return await this.#start(params, { kind: "open", target }, client, sessionId);
		} finally {
			this.#opening.delete(sessionId);
		}
	}

	async #start(params: OpenParams, choice: SessionChoice, client: AgentContext, id?: string): Promise<AcpSession> {
		const { cwd, mcpServers = [] } = params;
		checkDirectory(cwd);
		const { session: created, warnings, release } = await this.factory.create({ cwd, session: choice, mcpServers });
		const session = new AcpSession({
			session: created,
			client,
			capabilities: this.capabilities,
			isKnown: id !== undefined,
		});
		for (const line of [...created.loaded.warnings, ...warnings]) session.warn(line);
		try {
			if (id !== undefined && session.id !== id) throw new PiError("log_not_found", `There is no session "${id}"`);
			await session.start();
			if (this.#isClosed) throw new PiError("session_busy", "pi is exiting");
		} catch (error) {
			await session.close();
			release();
			throw error;
		}
		this.#open.set(session.id, { session, release });
		return session;
	}
}

/** @throws RequestError unless the path is absolute and names a directory */
function checkDirectory(cwd: string): void {
	if (!isAbsolute(cwd))
		throw invalidParams(`cwd ${JSON.stringify(cwd)} is not absolute`, "send the path of the project");
	if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
		throw invalidParams(`cwd ${JSON.stringify(cwd)} is not a directory`, "send the path of the project");
	}
}
