import { chmodSync, statSync } from "node:fs";
import type { OAuthCredentials } from "@mariozechner/pi-ai";
import { type JsonObject, readJsonObject, updateJsonFile } from "../config/json-file.js";
import { describeError } from "../errors.js";
import { isRecord } from "../util/is-record.js";

/** An API key that the user entered, or the tokens of a login. */
export type StoredCredential = { type: "api_key"; key: string } | ({ type: "oauth" } & OAuthCredentials);

/** The login to an MCP server: what its authorization server issued. The client library of MCP checks the fields. */
export interface ServerLogin {
	tokens?: JsonObject;
	/** The registration of pi. */
	client?: JsonObject;
}

/** Prefix of the keys of `ServerLogin`s, which the address of the server follows. */
const SERVER_PREFIX = "mcp:";
/** Members of a login whose values are secret. */
const SECRET_MEMBERS = ["access_token", "refresh_token", "id_token", "client_secret"];

/** The keys and logins in auth.json. The file is read again when it changes, so changes by other processes apply. */
export class AuthFile {
	#entries: ReadonlyMap<string, StoredCredential> = new Map();
	#servers: ReadonlyMap<string, ServerLogin> = new Map();
	#version = "";

	constructor(
		readonly path: string,
		private readonly onNotice: (line: string) => void,
	) {}

	/** All credentials by provider. An unreadable file contains none and is reported once. */
	entries(): ReadonlyMap<string, StoredCredential> {
		const version = this.#currentVersion();
		if (version !== this.#version) {
			this.#version = version;
			this.#entries = this.#load();
		}
		return this.#entries;
	}

	get(provider: string): StoredCredential | undefined {
		return this.entries().get(provider);
	}

	/** The login to the MCP server at an address. */
	serverLogin(url: string): ServerLogin {
		this.entries();
		return this.#servers.get(url) ?? {};
	}

	/** Saves the login to an MCP server. @throws PiError `config_write_failed` */
	async setServerLogin(url: string, login: ServerLogin): Promise<void> {
		const { tokens, client } = login;
		if (!tokens && !client) await this.remove(SERVER_PREFIX + url);
		else await this.#write(SERVER_PREFIX + url, { type: "mcp", ...(tokens && { tokens }), ...(client && { client }) });
	}

	/** The secrets of the logins to MCP servers. */
	serverSecrets(): string[] {
		this.entries();
		const parts = [...this.#servers.values()].flatMap(({ tokens = {}, client = {} }) => [tokens, client]);
		const values = parts.flatMap((part) => SECRET_MEMBERS.map((name) => part[name]));
		return values.filter((value) => typeof value === "string");
	}

	/** @throws PiError `config_write_failed` */
	async set(provider: string, credential: StoredCredential): Promise<void> {
		await this.#write(provider, credential);
	}

	async #write(name: string, value: object): Promise<void> {
		const { keptAside } = await updateJsonFile(this.path, (current) => ({ ...current, [name]: value }));
		if (keptAside) this.onNotice(`${this.path} was invalid and is kept as ${keptAside}`);
		this.#version = "";
	}

	/**
	 * @returns false if the provider had no entry
	 * @throws PiError `config_write_failed`, or `config_invalid` if the file cannot be parsed
	 */
	async remove(provider: string): Promise<boolean> {
		readJsonObject(this.path); // the update would take what cannot be parsed for empty
		let found = false;
		await updateJsonFile(this.path, (current) => {
			found = Object.hasOwn(current, provider);
			if (!found) return null;
			const { [provider]: _removed, ...rest } = current;
			return rest;
		});
		this.#version = "";
		return found;
	}

	#currentVersion(): string {
		try {
			const stats = statSync(this.path, { bigint: true, throwIfNoEntry: false });
			return stats ? `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.mode}` : "none";
		} catch {
			return "unreadable"; // #load reports why
		}
	}

	#load(): ReadonlyMap<string, StoredCredential> {
		const entries = new Map<string, StoredCredential>();
		const servers = new Map<string, ServerLogin>();
		this.#servers = servers;
		try {
			this.#restrictAccess();
			for (const [provider, value] of Object.entries(readJsonObject(this.path) ?? {})) {
				const credential = readCredential(value);
				const login = provider.startsWith(SERVER_PREFIX) ? readServerLogin(value) : undefined;
				if (login) servers.set(provider.slice(SERVER_PREFIX.length), login);
				else if (credential) entries.set(provider, credential);
				else this.onNotice(`${this.path}: ignored the entry for "${provider}": expected an API key or a login`);
			}
		} catch (error) {
			this.onNotice(describeError(error));
		}
		return entries;
	}

	/** Removes the permissions of other users. */
	#restrictAccess(): void {
		if (process.platform === "win32") return;
		const stats = statSync(this.path, { throwIfNoEntry: false });
		if (!stats?.isFile() || (stats.mode & 0o077) === 0) return;
		try {
			chmodSync(this.path, 0o600);
			this.onNotice(`${this.path} was readable by other users; now only you can read it`);
		} catch {
			this.onNotice(`${this.path} is readable by other users, and its mode cannot be changed · run chmod 600 on it`);
		}
		this.#version = this.#currentVersion();
	}
}

function readServerLogin(value: unknown): ServerLogin | undefined {
	if (!isRecord(value) || value.type !== "mcp") return undefined;
	const { tokens, client } = value;
	return { ...(isRecord(tokens) && { tokens }), ...(isRecord(client) && { client }) };
}

function readCredential(value: unknown): StoredCredential | undefined {
	if (!isRecord(value)) return undefined;
	if (value.type === "api_key" && typeof value.key === "string" && value.key !== "") {
		return { type: "api_key", key: value.key };
	}
	const { access, refresh, expires } = value;
	if (
		value.type === "oauth" &&
		typeof access === "string" &&
		typeof refresh === "string" &&
		typeof expires === "number"
	) {
		return { ...value, type: "oauth", access, refresh, expires };
	}
	return undefined;
}
