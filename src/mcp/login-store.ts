import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { JsonObject } from "../config/json-file.js";
import type { AuthFile, ServerLogin } from "../models/auth-file.js";
import { withFileLock } from "../util/file-lock.js";
import type { LoginStore } from "./oauth.js";

/** Maximum wait for another pi that renews tokens, ms. */
const LOCK_MS = 60_000;

/** Keeps the login to the server at an address in auth.json. Another address, such as after an edit, has no login. */
export function createLoginStore(auth: AuthFile, url: string): LoginStore {
	return {
		read() {
			const { tokens, client } = auth.serverLogin(url);
			return {
				...(isTokens(tokens) ? { tokens } : {}),
				...(isClient(client) ? { client } : {}),
			};
		},
		write: (change) => auth.setServerLogin(url, { ...auth.serverLogin(url), ...toLogin(change) }),
		exclusively: (action) => withFileLock(`${auth.path}.renewal`, action, LOCK_MS),
	};
}

function toLogin(change: { tokens?: object; client?: object }): ServerLogin {
	return Object.fromEntries(
		Object.entries(change).map(([name, value]) => [name, value === undefined ? undefined : { ...value }]),
	);
}

function isTokens(value: JsonObject | undefined): value is JsonObject & StoredOAuthTokens {
	return typeof value?.access_token === "string" && typeof value.token_type === "string";
}

function isClient(value: JsonObject | undefined): value is JsonObject & StoredOAuthClientInformation {
	return typeof value?.client_id === "string";
}
