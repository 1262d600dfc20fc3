import type { NamedResource } from "../commands/command-registry.js";
import type { LoginDialogs } from "../commands/login-dialogs.js";
import type { CommandMcp, McpServerStatus } from "../commands/mcp-status.js";
import { PiError } from "../errors.js";
import { askApproval } from "../hooks/ask-approval.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { Attachment, CompletionItem } from "../hooks/types.js";
import type { McpUser } from "../mcp/elicitation-fields.js";
import type { ForeignText, McpServers } from "../mcp/servers.js";
import { logInThrough } from "../services/models/accounts.js";
import type { Code, Models, Store } from "../services/service-types.js";
import { abortable } from "../util/abort.js";
import { formatDuration } from "../util/format-amounts.js";
import { trimEndOf } from "../util/trim.js";
import type { SessionActivity } from "./activity.js";
import type { AgentSessionEvent } from "./events.js";

/** @internal */
export interface SessionMcpDeps {
	store: Store;
	models: Models;
	code: Code;
	activity: SessionActivity;
	/** The dialogs of the user; null where nobody can answer. */
	ui(): SessionUI | null;
	emit(event: AgentSessionEvent): void;
	warn(line: string): void;
}

/** A completion of `@server:uri`. */
export interface ResourceCompletion {
	/** Replaces the text after `@`. */
	value: string;
	description?: string;
}

/** `@server:uri` in a prompt, with quotes if the URI has blanks. */
const MENTION = /(?:^|[\s(])@(?:"([\w-]+):([^"\n]+)"|([\w-]+):([^\s"]+))/g;
/** Punctuation of the sentence around a mention. */
const SENTENCE_END = ".,;:!?)";

/** The MCP servers of a session: their tools, prompts and resources. Without a configured server it loads no code of MCP. */
export class SessionMcp implements CommandMcp {
	#servers: McpServers | null = null;
	#problems: readonly string[] = [];
	#isEnded = false;
	#isStarted = false;
	readonly #listeners = new Set<() => void>();
	#changed: NodeJS.Immediate | null = null;

	/** @internal */
	constructor(private readonly deps: SessionMcpDeps) {}

	/**
	 * Reads the files that define servers; call it once those of the project may be used, and again when they changed.
	 * @returns the names of the servers that it has started again
	 */
	async load(): Promise<readonly string[]> {
		const { code, warn } = this.deps;
		const { sources } = code.mcp;
		if (this.#isEnded || (sources.length === 0 && this.#servers === null)) return [];
		this.#servers ??= await this.#create();
		const known = this.#problems;
		const { problems, restarted } = await this.#servers.configure(sources);
		this.#problems = problems;
		for (const line of this.#problems) if (!known.includes(line)) warn(line);
		this.#isStarted = true;
		this.#update();
		return restarted;
	}

	async #create(): Promise<McpServers> {
		const { store, models, code, warn } = this.deps;
		const [{ McpServers }, { createLoginStore }, { AuthFile }] = await Promise.all([
			import("../mcp/servers.js"),
			import("../mcp/login-store.js"),
			import("../models/auth-file.js"),
		]);
		const { authFile, ...context } = code.mcpContext;
		const auth = new AuthFile(authFile, warn);
		return new McpServers({
			...context,
			tmpDir: store.tmpDir,
			user: () => this.#user(),
			loginOf: (url) => createLoginStore(auth, url),
			onChange: () => this.#update(),
			warn: (line) => warn(models.redact(line)),
		});
	}

	/** The user's dialogs; the session is busy with each while it is open. */
	#user(): McpUser | null {
		const ui = this.deps.ui();
		if (ui === null) return null;
		const open = async <T>(answer: Promise<T>): Promise<T> => {
			const dialog = this.deps.activity.begin("dialog", { name: "MCP" });
			return answer.finally(() => dialog.end());
		};
		return {
			canType: ui.canType ?? true,
			approve: (approval, dialog) => open(askApproval(ui, approval, dialog)),
			select: (title, options, dialog) => open(ui.select(title, options, dialog)),
			input: (title, placeholder, dialog) => open(ui.input(title, placeholder, dialog)),
			...(ui.selectMany
				? { selectMany: (...question) => open(ui.selectMany?.(...question) ?? Promise.resolve(null)) }
				: {}),
		};
	}

	/** Ends all servers. */
	async end(): Promise<void> {
		this.#isEnded = true;
		if (this.#changed) clearImmediate(this.#changed);
		await this.#servers?.close();
	}

	/** Starts the servers in the background. */
	need(): void {
		this.#servers?.need();
	}

	async ready(signal: AbortSignal): Promise<void> {
		await abortable(this.#servers?.ready() ?? Promise.resolve(), signal).catch(() => {});
	}

	get problems(): readonly string[] {
		return this.#problems;
	}

	/** The prompts of the servers, as commands. */
	get prompts(): readonly NamedResource[] {
		return this.#servers?.prompts ?? [];
	}

	/** True for a command that only a prompt of a server can be. */
	isPrompt(command: string): boolean {
		const at = command.indexOf(":");
		return at > 0 && this.#servers?.has(command.slice(0, at)) === true;
	}

	/** Fetches a prompt. @throws PiError `bad_arguments`, `command_failed` */
	async runPrompt(
		command: string,
		rest: string,
		signal: AbortSignal,
	): Promise<{ prompt: string; attachments?: Attachment[] }> {
		const found = await this.#require().runPrompt(command, rest, signal);
		const images = imageAttachments(command, found);
		return { prompt: found.text, ...(images.length > 0 ? { attachments: images } : {}) };
	}

	/** Completes the arguments of a prompt. */
	async completePrompt(command: string, typed: string, signal: AbortSignal): Promise<CompletionItem[]> {
		return (await this.#servers?.completePrompt(command, typed, signal)) ?? [];
	}

	/** Whether a prompt names resources of servers. */
	mentions(text: string): boolean {
		return this.#servers !== null && this.#mentionsIn(text).length > 0;
	}

	/** Reads the resources that a prompt names. @throws PiError `command_failed` */
	async readMentions(text: string, signal: AbortSignal): Promise<Attachment[]> {
		const servers = this.#require();
		const read = await Promise.all(
			this.#mentionsIn(text).map(async ({ server, uri }) => {
				const found = await servers.readResource(server, uri, signal);
				const fileName = `${server}:${uri}`;
				const images = imageAttachments(fileName, found);
				return found.text === "" ? images : [documentAttachment(fileName, found.text), ...images];
			}),
		);
		return read.flat();
	}

	/** Completes `server:uri`, and the names of servers with resources. */
	async completeResource(typed: string, signal: AbortSignal): Promise<ResourceCompletion[]> {
		const servers = this.#servers;
		if (!servers) return [];
		servers.need();
		const at = typed.indexOf(":");
		if (at < 0) {
			const names = servers.names.filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()));
			return names.map((name) => ({ value: `${name}:`, description: "resources of the MCP server" }));
		}
		const server = typed.slice(0, at);
		const query = typed.slice(at + 1).toLowerCase();
		const found = await servers.resources(server, signal);
		return found
			.filter(({ uri, name }) => uri.toLowerCase().includes(query) || name.toLowerCase().includes(query))
			.map(({ uri, name }) => ({ value: `${server}:${uri}`, description: name }));
	}

	/** At the end of a run, a line for each server that has not answered yet: nothing of it was used. */
	describeLate(): string[] {
		return (this.#servers?.late() ?? []).map(({ name, startingMs }) => {
			const since = startingMs === null ? "" : ` after ${formatDuration(startingMs)}`;
			return `The MCP server ${name} had not answered${since} when the run ended, so its tools were not used`;
		});
	}

	list(): McpServerStatus[] {
		return this.#servers?.report() ?? [];
	}

	async restart(name: string): Promise<void> {
		await this.#require().find(name).restart();
	}

	async setEnabled(name: string, isOn: boolean): Promise<void> {
		await this.#require().find(name).setEnabled(isOn);
	}

	log(name: string): string[] {
		return this.#require().find(name).logLines;
	}

	async logIn(name: string, dialogs: LoginDialogs, signal: AbortSignal): Promise<boolean> {
		const servers = this.#require();
		servers.find(name);
		const done = await logInThrough(name, dialogs, signal, async (steps) => {
			await servers.logIn(name, steps, steps.signal ?? signal);
			return true;
		});
		return done === true;
	}

	logOut(name: string): Promise<boolean> {
		return this.#require().logOut(name);
	}

	subscribe(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#require(): McpServers {
		if (this.#servers) return this.#servers;
		throw new PiError("bad_arguments", "No MCP server is configured", {
			hint: "define one in mcp.json, see docs/mcp.md",
		});
	}

	#mentionsIn(text: string): { server: string; uri: string }[] {
		const found = [...text.matchAll(MENTION)].map(([, quotedServer, quotedUri, server = "", uri = ""]) => ({
			server: quotedServer ?? server,
			uri: quotedUri ?? trimEndOf(uri, SENTENCE_END),
		}));
		const known = found.filter(({ server, uri }) => uri !== "" && this.#servers?.has(server));
		return known.filter((one, at) => known.findIndex((other) => isSame(one, other)) === at);
	}

	/** Offers the tools of the servers from the next request on. */
	#update(): void {
		const servers = this.#servers;
		if (!servers || this.#isEnded) return;
		const { code, warn, emit } = this.deps;
		const clashes = code.toolSwitch.useServers({
			tools: servers.tools,
			serverOf: (name) => servers.serverOf(name),
		});
		for (const line of clashes) warn(line);
		// Several changes in a row, such as those of servers that start together, are one event.
		this.#changed ??= setImmediate(() => {
			this.#changed = null;
			if (this.#isStarted) emit({ type: "registrations_changed" });
			for (const listener of this.#listeners) listener();
		});
	}
}

function isSame(a: { server: string; uri: string }, b: { server: string; uri: string }): boolean {
	return a.server === b.server && a.uri === b.uri;
}

function documentAttachment(fileName: string, text: string): Attachment {
	const size = Buffer.byteLength(text);
	return { id: fileName, type: "document", fileName, mimeType: "text/plain", size, content: "", extractedText: text };
}

function imageAttachments(fileName: string, { images }: ForeignText): Attachment[] {
	return images.map(({ data, mimeType }, at) => {
		const size = Buffer.byteLength(data, "base64");
		return { id: `${fileName}#${at + 1}`, type: "image", fileName, mimeType, size, content: data };
	});
}
