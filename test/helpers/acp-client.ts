import { Readable, Writable } from "node:stream";
import {
	type ClientCapabilities,
	type ClientConnection,
	type CreateElicitationRequest,
	type CreateElicitationResponse,
	client,
	type InitializeResponse,
	methods,
	type NewSessionResponse,
	ndJsonStream,
	PROTOCOL_VERSION,
	type PromptResponse,
	type RequestPermissionRequest,
	type RequestPermissionResponse,
	type SessionUpdate,
} from "@agentclientprotocol/sdk";

type Kind = SessionUpdate["sessionUpdate"];
/** Updates of one kind. */
export type UpdateOf<K extends Kind> = Extract<SessionUpdate, { sessionUpdate: K }>;

/** An editor that speaks ACP through the client side of the SDK, and records everything that it receives. */
export class AcpTestClient {
	readonly connection: ClientConnection;
	readonly updates: { sessionId: string; update: SessionUpdate }[] = [];
	readonly permissions: RequestPermissionRequest[] = [];
	readonly forms: CreateElicitationRequest[] = [];
	/** Answers permission requests. Default: the first option. */
	onPermission: (request: RequestPermissionRequest, signal: AbortSignal) => string | null | Promise<string | null> = ({
		options,
	}) => options[0]?.optionId ?? null;
	/** Answers forms. Default: canceled. */
	onForm: (request: CreateElicitationRequest) => CreateElicitationResponse = () => ({ action: "cancel" });
	readonly #watchers = new Set<() => void>();

	constructor(input: Readable, output: Writable) {
		this.connection = client({ name: "test editor" })
			.onNotification(methods.client.session.update, ({ params }) => {
				this.updates.push(params);
				for (const watcher of [...this.#watchers]) watcher();
			})
			.onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
				this.permissions.push(params);
				const optionId = await this.onPermission(params, signal);
				const answer: RequestPermissionResponse["outcome"] =
					optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId };
				return { outcome: answer };
			})
			.onRequest(methods.client.elicitation.create, ({ params }) => {
				this.forms.push(params);
				return this.onForm(params);
			})
			.connect(ndJsonStream(Writable.toWeb(output), Readable.toWeb(input) as ReadableStream<Uint8Array>));
	}

	get agent() {
		return this.connection.agent;
	}

	initialize(clientCapabilities: ClientCapabilities = {}): Promise<InitializeResponse> {
		return this.agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities });
	}

	newSession(cwd: string): Promise<NewSessionResponse> {
		return this.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
	}

	prompt(sessionId: string, text: string): Promise<PromptResponse> {
		return this.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
	}

	/** The updates of a kind so far, of one session or all. */
	of<K extends Kind>(kind: K, sessionId?: string): UpdateOf<K>[] {
		return this.updates.flatMap(({ sessionId: id, update }) =>
			update.sessionUpdate === kind && (sessionId === undefined || id === sessionId) ? [update as UpdateOf<K>] : [],
		);
	}

	/** The text of the messages or thoughts so far. */
	text(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk", sessionId?: string): string {
		return this.of(kind, sessionId)
			.map(({ content }) => (content.type === "text" ? content.text : `(${content.type})`))
			.join("");
	}

	/** The last state of a tool call, with all its updates applied. */
	call(toolCallId: string): Partial<UpdateOf<"tool_call">> {
		const parts = this.updates.flatMap(({ update }) =>
			(update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") &&
			update.toolCallId === toolCallId
				? [update]
				: [],
		);
		return Object.assign({}, ...parts, { sessionUpdate: "tool_call" });
	}

	/** Resolves with the first update of a kind that a test accepts, now or later. */
	waitFor<K extends Kind>(kind: K, accepts: (update: UpdateOf<K>) => boolean = () => true): Promise<UpdateOf<K>> {
		return new Promise((resolve) => {
			const look = () => {
				const found = this.of(kind).find(accepts);
				if (!found) return;
				this.#watchers.delete(look);
				resolve(found);
			};
			this.#watchers.add(look);
			look();
		});
	}
}
