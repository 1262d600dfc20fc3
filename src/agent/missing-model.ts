import { builtInModels } from "../models/built-in-models.js";
import { sortByLikelihood } from "../models/likelihood.js";
import type { KnownModel } from "../models/model-facts.js";
import { nearest } from "../util/nearest.js";
import { kindOfFailure } from "./failure-kinds.js";
import type { ResponseFacts } from "./response-facts.js";

/** Maximum number of ids in a suggestion. */
const MAX_IDS = 3;

/**
 * The failure of a request for a model that its provider does not have, in words that name both, with the provider's own in
 * parentheses: with similar ids if the user named it and no list has it, else as one that was offered before. Failures that may
 * have another reason, and those of providers whose models the user defines, are unchanged.
 * @param failure as `describeFailure` returns it
 */
export function describeMissingModel(
	failure: string,
	model: KnownModel,
	{ body }: Pick<ResponseFacts, "body"> = { body: null },
): string {
	if (!isMissing(failure, body ?? "", model)) return failure;
	const { provider, id, assumed, relative } = model;
	const { lists } = builtInModels();
	if (assumed) {
		const ids = sortByLikelihood(lists.of(provider)).map((known) => known.id);
		const similar = [...new Set([...(relative === undefined ? [] : [relative]), ...nearest(id, ids)])];
		return `${provider} does not know ${id} (${failure}) · did you mean ${similar.slice(0, MAX_IDS).join(", ")}?`;
	}
	const isListed = relative !== undefined || lists.find(provider, id) !== undefined;
	return isListed ? `${id} is no longer offered by ${provider} (${failure})` : failure;
}

/** A 404 can be a wrong address, a missing permission or a setting of the account too: the answer must speak of the model. */
function isMissing(failure: string, body: string, { id, retired }: KnownModel): boolean {
	const { name } = kindOfFailure(failure);
	if ((name !== "model" && name !== "not found") || OTHER_REASON.test(failure)) return false;
	const answer = `${failure} ${body}`;
	if (retired || /\bmodel_not_found\b/.test(answer)) return true;
	return (answer.includes(id) || /\bmodel\b/i.test(failure)) && GONE.test(answer);
}

/** What the user can change without another model. */
const OTHER_REASON = /\bverif|\bpolic(?:y|ies)\b|\bsettings\b|\bpermission|\bsubscri|\bupgrade\b/i;
const GONE =
	/not[_ ]found|(?:does )?not exist|no longer|no such model|(?:unknown|invalid|not a valid) model|is invalid|deprecated|retired/i;
