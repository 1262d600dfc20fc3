import { errorText } from "../../errors.js";
import { abortable, withTimeLimit } from "../../util/abort.js";
import { listAddress, type ProviderAccess, TIME_LIMIT_MS } from "./ask-provider.js";
import { KeyRefused, readAnswer } from "./read-answer.js";

/**
 * What a provider said about a key. `refused`: it does not accept the key; `doubtful`: it may accept it for other requests;
 * `untried`: it could not be asked. `reason`: one line, without secrets.
 */
export type KeyTrial = { state: "accepted" } | { state: "refused" | "doubtful" | "untried"; reason: string };

/** Tries a key with a request for the first page of the provider's list of models. Saves nothing and never throws. */
export async function tryKey(provider: string, key: string, access: ProviderAccess): Promise<KeyTrial> {
	const { registry, credentials, network, timeLimitMs = TIME_LIMIT_MS, signal } = access;
	const address = listAddress(provider, registry.ofProvider(provider));
	if (typeof address === "string") return { state: "untried", reason: address };
	const { url, format, headers } = address;
	try {
		await network.run(() =>
			withTimeLimit(timeLimitMs, [signal], async (limited) => {
				const auth = await abortable(credentials.authWith({ provider, id: "" }, key), limited);
				await readAnswer({ url, headers: { ...headers, ...format.headers(auth) }, signal: limited });
			}),
		);
		return { state: "accepted" };
	} catch (error) {
		const reason = credentials.redactSecrets(errorText(error));
		if (!(error instanceof KeyRefused)) return { state: "untried", reason };
		return { state: error.isCertain ? "refused" : "doubtful", reason };
	}
}
