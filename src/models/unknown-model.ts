import type { Api, Model } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { lastSegment, plainId } from "./id-words.js";
import { sortByLikelihood } from "./likelihood.js";
import { modelName, readPatterns } from "./model-match.js";
import { nearestResembling } from "./nearest-relative.js";

/** Maximum number of names that a hint lists. */
const MAX_NAMES = 3;

/**
 * Full names of the models that the user may have meant: those of a provider whose name was mistyped, the nearest relative, which is
 * the newest that fits, and those whose names are nearest to what was typed.
 * @param providers the names of all providers
 */
export function nearestNames(
	spec: string,
	models: readonly Model<Api>[],
	{ providers, of }: { providers: readonly string[]; of(provider: string): readonly Model<Api>[] },
): string[] {
	const name = readPatterns(spec).at(-1)?.name ?? spec;
	const slash = name.indexOf("/");
	const id = name.slice(slash + 1);
	const [meant] =
		slash > 0 && !providers.includes(name.slice(0, slash)) ? nearest(name.slice(0, slash), providers) : [];
	if (meant !== undefined && id !== "") {
		const known = of(meant).some((model) => model.id === id);
		return known ? [`${meant}/${id}`] : [`${meant}/${id}`, ...namesLike(id, of(meant))].slice(0, MAX_NAMES);
	}
	// In `gpt-5.5:hihg`, the part before the colon may be correct.
	return [...new Set([name, id, name.replace(/:[^:]*$/, "")].flatMap((word) => namesLike(word, models)))].slice(
		0,
		MAX_NAMES,
	);
}

function namesLike(word: string, models: readonly Model<Api>[]): string[] {
	// Of several names that are equally near, the newest comes first.
	const sorted = sortByLikelihood(models);
	const near = nearestResembling(word, sorted, sorted[0]);
	const sameModel = (model: Model<Api>) => near && plainId(lastSegment(model.id)) === plainId(lastSegment(near.id));
	const relative = sorted.find(sameModel);
	const names = new Map(
		sorted.toReversed().flatMap((model) => [
			[modelName(model), modelName(model)],
			[model.id, modelName(model)],
		]),
	);
	const similar = nearest(word, [...names.keys()].toReversed()).flatMap((found) => names.get(found) ?? []);
	return [...new Set([...(relative ? [modelName(relative)] : []), ...similar])];
}

/** The error for a name that no model has. @param problem what is wrong with models.json, which could define it */
export function unknownModel(
	message: string,
	{
		names,
		listHint,
		problem,
	}: { names: readonly string[]; listHint?: string | undefined; problem?: string | undefined },
): PiError {
	return new PiError("model_unknown", message, { hint: withProblem(nearHint(names, listHint), problem) });
}

/** Adds the first problem of models.json to a text about something that the file could have defined. */
export function withProblem(text: string, problem: string | undefined, position: "first" | "last" = "first"): string {
	if (problem === undefined) return text;
	const broken = `models.json has a problem: ${problem.split(" · ")[0]}`;
	return position === "first" ? `${broken} · ${text}` : `${text} · ${broken}`;
}

function nearHint(names: readonly string[], listHint = "list them with pi models list"): string {
	return names.length === 0 ? listHint : `did you mean ${names.join(", ")}?`;
}
