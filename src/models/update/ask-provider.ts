import type { Api, Model } from "@mariozechner/pi-ai";
import { errorText } from "../../errors.js";
import type { Network } from "../../network/network.js";
import { abortable, withTimeLimit } from "../../util/abort.js";
import { trimEndOf } from "../../util/trim.js";
import type { Credentials, RequestAuth } from "../credentials.js";
import type { ModelRegistry } from "../models.js";
import { LIST_FORMATS, type ListFormat, type ListPage, NOT_ASKED } from "./list-formats.js";
import { type ListedModels, limitModels } from "./listed-model.js";
import { MAX_ANSWER_BYTES, readAnswer } from "./read-answer.js";

/** Maximum number of pages: a server that never ends its list must not keep pi busy. */
const MAX_PAGES = 50;

/** The address of a provider's list of models, and its format. */
export interface ListAddress {
	url: string;
	format: ListFormat;
	/** Headers that every request to the provider needs. */
	headers: Record<string, string>;
}

/** How a provider is reached. */
export interface ProviderAccess {
	registry: ModelRegistry;
	credentials: Credentials;
	network: Network;
	/** Time limit of one provider, ms. Default 10,000. */
	timeLimitMs?: number | undefined;
	signal?: AbortSignal | undefined;
}

/** A provider without a list of its models. */
export interface NoAnswer {
	state: "failed" | "not_asked";
	/** One line, without secrets. */
	reason: string;
}

/** Time limit of one provider, ms. */
export const TIME_LIMIT_MS = 10_000;

/** Asks a provider for its models with the key of the session. Never throws. */
export async function askWithKey(
	provider: string,
	access: ProviderAccess,
): Promise<{ listed: ListedModels } | NoAnswer> {
	const { registry, credentials, network, timeLimitMs = TIME_LIMIT_MS, signal } = access;
	const address = listAddress(provider, registry.ofProvider(provider));
	if (typeof address === "string") return { state: "not_asked", reason: address };
	try {
		const ask = async (limited: AbortSignal) =>
			askProvider(address, await abortable(credentials.requestAuth({ provider, id: "" }), limited), limited);
		return { listed: await network.run(() => withTimeLimit(timeLimitMs, [signal], ask)) };
	} catch (error) {
		return { state: "failed", reason: credentials.redactSecrets(errorText(error)) };
	}
}

/** Where to ask for the models of a provider. @returns the reason if it cannot be asked */
export function listAddress(provider: string, models: readonly Model<Api>[]): ListAddress | string {
	if (Object.hasOwn(NOT_ASKED, provider)) return NOT_ASKED[provider] ?? "";
	for (const [api, format] of LIST_FORMATS) {
		const model = models.find((candidate) => candidate.api === api && candidate.baseUrl !== "");
		if (!model) continue;
		if (model.baseUrl.includes("{")) return "its address contains your account";
		const url = `${trimEndOf(model.baseUrl, "/")}${format.path}`;
		return { url, format, headers: { ...model.headers } };
	}
	return "its servers have no known list of models";
}

/**
 * Asks a provider for all its models.
 * @throws Error with one line that says why there is no list
 */
export async function askProvider(
	{ url, format, headers }: ListAddress,
	auth: RequestAuth,
	signal: AbortSignal,
): Promise<ListedModels> {
	const pages: ListPage[] = [];
	let bytesLeft = MAX_ANSWER_BYTES;
	let page: string | null = "";
	while (page !== null && pages.length < MAX_PAGES) {
		const sent = { ...headers, ...format.headers(auth) };
		const { answer, bytes } = await readAnswer({ url: url + page, headers: sent, signal, maxBytes: bytesLeft });
		bytesLeft -= bytes;
		pages.push(format.read(answer));
		const next = format.next(answer);
		page = next === page ? null : next;
	}
	if (pages.every(({ ids }) => ids.length === 0)) throw new Error("its list of models is empty");
	return {
		...limitModels(pages.flatMap(({ models }) => models)),
		ids: pages.flatMap(({ ids }) => ids),
		dropped: pages.reduce((sum, { dropped }) => sum + dropped, 0),
		isComplete: page === null,
	};
}
