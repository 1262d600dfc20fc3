import { builtInModels } from "../models/built-in-models.js";
import type { KnownModel } from "../models/model-facts.js";
import { nearest } from "../util/nearest.js";
import { kindOfFailure } from "./failure-kinds.js";

/** Maximum number of ids in a suggestion. */
const MAX_IDS = 3;

/**
 * The failure of a request for a model that its provider does not have, in words that name both: with similar ids if the user
 * named it and no list has it, else as one that was offered before. Other failures, and those of providers whose models the
 * user defines, are unchanged.
 * @param failure as `describeFailure` returns it
 */
export function describeMissingModel(failure: string, model: KnownModel): string {
	if (!isMissing(failure, model)) return failure;
	const { provider, id, assumed, relative } = model;
	const { lists } = builtInModels();
	if (assumed) {
		const ids = lists.of(provider).map((known) => known.id);
		const similar = [...new Set([...(relative === undefined ? [] : [relative]), ...nearest(id, ids)])];
		return `${provider} does not know ${id} · did you mean ${similar.slice(0, MAX_IDS).join(", ")}?`;
	}
	const isListed = relative !== undefined || lists.find(provider, id) !== undefined;
	return isListed ? `${id} is no longer offered by ${provider}` : failure;
}

/** A wrong address is a 404 too, but does not name the model: of an id that worked before, that is not enough. */
function isMissing(failure: string, { id, assumed }: KnownModel): boolean {
	const { name } = kindOfFailure(failure);
	const isOfModel = name === "model" || name === "not found";
	const isNamed = assumed || failure.includes(id) || /\bmodel\b/i.test(failure);
	return isOfModel && isNamed && GONE.test(failure);
}

/** Not access that the account lacks. */
const GONE =
	/^404\b|not[_ ]found|(?:does )?not exist|no longer|no such model|(?:unknown|invalid|not a valid) model|is invalid|deprecated|retired/i;
