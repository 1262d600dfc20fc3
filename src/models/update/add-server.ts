import { type JsonObject, readJsonFile, updateJsonFile } from "../../config/json-file.js";
import { errorText, PiError } from "../../errors.js";
import { abortable, withTimeLimit } from "../../util/abort.js";
import { isRecord } from "../../util/is-record.js";
import { trimEndOf } from "../../util/trim.js";
import type { RequestAuth } from "../credentials.js";
import { isLoopback } from "../local-addresses.js";
import { askProvider, type ProviderAccess, TIME_LIMIT_MS } from "./ask-provider.js";
import { LIST_FORMATS } from "./list-formats.js";
import type { ListedModel, ListedModels } from "./listed-model.js";
import { KeyRefused } from "./read-answer.js";

const API = "openai-completions";
/** Servers without keys accept any text, but a provider needs one. */
const NO_KEY = "none";
/** Most such servers know the oldest form of a request only. */
const COMPAT = { supportsDeveloperRole: false, supportsStore: false, maxTokensField: "max_tokens" };

/** A server that speaks OpenAI's format. */
export interface NewServer {
	/** With or without the `/v1` at its end. */
	url: string;
	/** Empty: it needs none. */
	key: string;
	/** The model to use at exactly this address, for a server that does not list its models. */
	model?: string;
}

/**
 * Asks a server for its models, unless one is named, and writes them to models.json, and its key to auth.json. The lists in memory do
 * not change.
 * @param path models.json
 * @returns the name of the provider, which is made from the address
 * @throws PiError `bad_arguments` for an address that is none, `command_failed` if the server lists no models,
 * `config_invalid` and `config_write_failed` if models.json cannot be read or written
 */
export async function addServer(server: NewServer, path: string, access: ProviderAccess): Promise<string> {
	const { url, key } = server;
	const { registry, credentials } = access;
	const address = readAddress(url);
	// A file that cannot be read must not be replaced by one that has this server only.
	readJsonFile(path);
	const { baseUrl, models } = await findModels(address, server, access);
	const own = readJsonFile(path)?.value.providers;
	const taken = new Set([...registry.providers, ...(isRecord(own) ? Object.keys(own) : [])]);
	const isSame = (name: string) => isRecord(own) && isRecord(own[name]) && own[name].baseUrl === baseUrl;
	const start = address.host.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
	let name = start;
	for (let count = 2; taken.has(name) && !isSame(name); count++) name = `${start}-${count}`;
	await updateJsonFile(path, (current) => {
		const providers = isRecord(current.providers) ? current.providers : {};
		const old = providers[name];
		const before: JsonObject = isRecord(old) ? old : {};
		const keyless = key === "" && !isLoopback(baseUrl) && before.apiKey === undefined ? { apiKey: NO_KEY } : {};
		return {
			...current,
			providers: { ...providers, [name]: { compat: COMPAT, ...before, ...keyless, baseUrl, api: API, models } },
		};
	});
	if (key !== "") await credentials.saveKey(name, key);
	return name;
}

function readAddress(url: string): URL {
	const address = URL.canParse(url) ? new URL(url) : null;
	if (!address || !/^https?:$/.test(address.protocol) || address.username !== "" || address.search !== "") {
		throw new PiError("bad_arguments", "This is not the address of a server", {
			hint: "it looks like https://models.example/v1",
		});
	}
	return address;
}

/** Asks at the address, and at its `/v1`, unless a model is named. @throws PiError `command_failed` with the first reason */
async function findModels(
	address: URL,
	{ key, model }: NewServer,
	access: ProviderAccess,
): Promise<{ baseUrl: string; models: JsonObject[] }> {
	const { credentials, network, timeLimitMs = TIME_LIMIT_MS, signal } = access;
	const typed = trimEndOf(`${address.origin}${address.pathname}`, "/");
	if (model !== undefined) return { baseUrl: typed, models: [{ id: model }] };
	let failure: unknown;
	for (const baseUrl of typed.endsWith("/v1") ? [typed] : [`${typed}/v1`, typed]) {
		try {
			const ask = async (limited: AbortSignal) => {
				const auth = await abortable(credentials.authWith({ provider: address.host, id: "" }, key || NO_KEY), limited);
				return askList(baseUrl, auth, limited);
			};
			const listed = await network.run(() => withTimeLimit(timeLimitMs, [signal], ask));
			return { baseUrl, models: listed.models.map(modelOf) };
		} catch (error) {
			failure ??= error;
			if (error instanceof KeyRefused || signal?.aborted) break;
		}
	}
	const reason = credentials.redactSecrets(errorText(failure));
	throw new PiError("command_failed", `No models found: ${reason}`, { hint: "check the address and the key" });
}

async function askList(baseUrl: string, auth: RequestAuth, signal: AbortSignal): Promise<ListedModels> {
	const format = LIST_FORMATS.get(API);
	if (!format) throw new Error(`no list of models is known for ${API}`);
	return askProvider({ url: `${baseUrl}${format.path}`, format, headers: {} }, auth, signal);
}

/** A model as models.json names its fields; those that the server does not tell are absent. */
function modelOf({ id, facts: { released: _, relative: __, ...facts } }: ListedModel): JsonObject {
	return { id, ...facts };
}
