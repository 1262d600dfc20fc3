import type { Api, Model } from "@mariozechner/pi-ai";
import { abortable, linkSignals, sleep } from "../../util/abort.js";
import { WELL_KNOWN_PROVIDERS } from "../default-model.js";
import { askWithKey, type ProviderAccess } from "./ask-provider.js";

/** Time that providers of a higher rank have once another one has the id, ms. */
const GRACE_MS = 1000;
/** Maximum number of providers in a list. */
const MAX_NAMES = 3;
/** After this time, the user learns which providers pi waits for, ms. */
const PATIENCE_MS = 2000;

export interface FindOfferingOptions extends ProviderAccess {
	graceMs?: number;
	patienceMs?: number;
	/** Receives a line that names the providers which have not answered after a while. */
	onWait?: ((line: string) => void) | undefined;
}

/** What the providers with keys say about an id. */
export interface Offering {
	/** With the facts of its nearest relative; null: no provider is known to have it. */
	model: Model<Api> | null;
	/** The providers that may have it but could not be asked, as one line; null: all answered. */
	unasked: string | null;
}

/** A provider that could not be asked. */
interface FailedProvider {
	provider: string;
	/** One line. */
	reason: string;
}

/** The providers with a key that can have models which pi's lists lack, in the order in which they count. */
function providersToAsk({ registry, credentials }: Pick<ProviderAccess, "registry" | "credentials">): string[] {
	const rank = (provider: string) => WELL_KNOWN_PROVIDERS.indexOf(provider) + 1 || Number.MAX_SAFE_INTEGER;
	return registry.providers
		.filter((provider) => ["key", "login"].includes(credentials.keyState(provider)))
		.filter((provider) => credentials.hookOf(provider) === undefined)
		.sort((a, b) => rank(a) - rank(b));
}

/**
 * Asks the providers with keys whether they have a model that pi's lists lack, all at the same time. Once one has it, those
 * that count more get another second: a slow provider does not keep the user waiting, and usual delays do not change the choice.
 * @throws the reason of `signal` when it aborts
 */
export async function findOffering(id: string, options: FindOfferingOptions): Promise<Offering> {
	const { registry, signal, onWait, graceMs = GRACE_MS, patienceMs = PATIENCE_MS } = options;
	signal?.throwIfAborted();
	const providers = providersToAsk(options);
	const answers = new Map<string, boolean | FailedProvider>();
	const decided = new AbortController();
	const over = linkSignals(signal, decided.signal);
	const asked = providers.map(async (provider): Promise<boolean> => {
		const answer = await askWithKey(provider, { ...options, signal: over.signal });
		const isListed = "listed" in answer && answer.listed.ids.includes(id);
		answers.set(provider, "listed" in answer ? isListed : { provider, reason: answer.reason });
		return isListed;
	});
	const inOrder = async () => {
		for (const answer of asked) if (await answer) return;
	};
	const afterGrace = asked.map(async (answer) => {
		if (!(await answer)) throw new Error("not listed");
		await sleep(graceMs, over.signal);
	});
	const waiting = sleep(patienceMs, over.signal).then(() => {
		onWait?.(`Waiting for ${listNames(providers.filter((each) => !answers.has(each)))}, which pi asked for ${id}`);
	});
	waiting.catch(() => {}); // decided before
	try {
		// If no provider has the id, all have answered.
		await abortable(Promise.race([inOrder(), Promise.any(afterGrace).catch(inOrder)]), over.signal);
	} finally {
		decided.abort();
	}
	const offering = providers.find((provider) => answers.get(provider) === true);
	return {
		model: (offering !== undefined && registry.findOrAssume(offering, id)) || null,
		unasked: describeUnasked(id, {
			failed: providers.map((provider) => answers.get(provider)).filter((answer) => typeof answer === "object"),
			without: providers.filter((provider) => answers.get(provider) === false),
		}),
	};
}

/** What is known of an id while no provider may be asked. */
export function offlineOffering(id: string, access: Pick<ProviderAccess, "registry" | "credentials">): Offering {
	const failed = providersToAsk(access).map((provider) => ({ provider, reason: "offline" }));
	return { model: null, unasked: describeUnasked(id, { failed, without: [] }) };
}

function describeUnasked(
	id: string,
	{ failed, without }: { failed: readonly FailedProvider[]; without: readonly string[] },
): string | null {
	const [first] = failed;
	if (!first) return null;
	const reasons = [...new Set(failed.map(({ reason }) => reason))].map((reason) => {
		const providers = failed.filter((each) => each.reason === reason).map(({ provider }) => provider);
		return `${listNames(providers)} could not be asked (${reason})`;
	});
	const lacking = without.length > 0 ? [`not offered by ${listNames(without)}`] : [];
	return [...lacking, ...reasons, `${first.provider}/${id} would be used as given`].join(" · ");
}

function listNames(providers: readonly string[]): string {
	const left = providers.length - MAX_NAMES;
	return [...providers.slice(0, MAX_NAMES), ...(left > 0 ? [`${left} more`] : [])].join(", ");
}
