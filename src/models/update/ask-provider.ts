import type { Api, Model } from "@mariozechner/pi-ai";
import { trimEndOf } from "../../util/trim.js";
import type { RequestAuth } from "../credentials.js";
import { LIST_FORMATS, type ListFormat, NOT_ASKED } from "./list-formats.js";
import type { ListedModels } from "./listed-model.js";
import { readAnswer } from "./read-answer.js";

/** Maximum number of pages: a server that never ends its list must not keep pi busy. */
const MAX_PAGES = 50;
const MAX_MODELS = 20_000;

/** The address of a provider's list of models, and its format. */
export interface ListAddress {
	url: string;
	format: ListFormat;
	/** Headers that every request to the provider needs. */
	headers: Record<string, string>;
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
	const all: ListedModels = { models: [], ids: [], dropped: 0 };
	let page: string | null = "";
	for (let count = 0; page !== null && count < MAX_PAGES && all.models.length < MAX_MODELS; count++) {
		const answer = await readAnswer({ url: url + page, headers: { ...headers, ...format.headers(auth) }, signal });
		const { models, ids, dropped } = format.read(answer);
		all.models.push(...models);
		all.ids.push(...ids);
		all.dropped += dropped;
		const next = format.next(answer);
		page = next === page ? null : next;
	}
	return all;
}
