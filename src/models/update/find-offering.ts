import type { Api, Model } from "@mariozechner/pi-ai";
import type { Network } from "../../network/network.js";
import type { Credentials } from "../credentials.js";
import { WELL_KNOWN_PROVIDERS } from "../default-model.js";
import type { ModelRegistry } from "../models.js";
import { askProvider, listAddress } from "./ask-provider.js";

/** Time limit of one provider, ms. */
const TIME_LIMIT_MS = 10_000;

export interface FindOfferingOptions {
	registry: ModelRegistry;
	credentials: Credentials;
	network: Network;
	timeLimitMs?: number;
}

/**
 * Asks the providers with keys whether they have a model that pi's lists lack, all at the same time. The first in the order of
 * well-known providers counts. Never throws: providers that fail do not have the model.
 * @returns the model, with the facts of its nearest relative; undefined if no provider lists the id
 */
export async function findOffering(id: string, options: FindOfferingOptions): Promise<Model<Api> | undefined> {
	const { registry, credentials, network, timeLimitMs = TIME_LIMIT_MS } = options;
	const rank = (provider: string) => WELL_KNOWN_PROVIDERS.indexOf(provider) + 1 || Number.MAX_SAFE_INTEGER;
	const withKey = registry.providers
		.filter((provider) => ["key", "login"].includes(credentials.keyState(provider)))
		.sort((a, b) => rank(a) - rank(b));
	const canceled = new AbortController();
	const answers = withKey.map(async (provider): Promise<string | undefined> => {
		const address = listAddress(provider, registry.ofProvider(provider));
		if (typeof address === "string" || credentials.hookOf(provider) !== undefined) return undefined;
		try {
			const { ids } = await network.run(async () => {
				const auth = await credentials.requestAuth({ provider, id: "" });
				return askProvider(address, auth, AbortSignal.any([canceled.signal, AbortSignal.timeout(timeLimitMs)]));
			});
			return ids.includes(id) ? provider : undefined;
		} catch {
			return undefined; // the search goes on with the other providers
		}
	});
	try {
		for (const answer of answers) {
			const provider = await answer;
			if (provider !== undefined) return registry.findOrAssume(provider, id);
		}
		return undefined;
	} finally {
		canceled.abort();
	}
}
