import type { Api, Model } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { modelName, readPatterns } from "./model-match.js";

/** Maximum number of names that a hint lists. */
const MAX_NAMES = 3;

/** Full names of the models whose names are nearest to what the user typed. */
export function nearestNames(spec: string, models: readonly Model<Api>[]): string[] {
	const name = readPatterns(spec).at(-1)?.name ?? spec;
	// In `gpt-5.5:hihg`, the part before the colon may be correct.
	const written = [name, name.slice(name.indexOf("/") + 1), name.replace(/:[^:]*$/, "")];
	const names = new Map(
		models.flatMap((model) => [
			[modelName(model), modelName(model)],
			[model.id, modelName(model)],
		]),
	);
	const near = written.flatMap((word) => nearest(word, names.keys())).flatMap((word) => names.get(word) ?? []);
	return [...new Set(near)].slice(0, MAX_NAMES);
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

function nearHint(names: readonly string[], listHint = "run pi --list-models to list all"): string {
	return names.length === 0 ? listHint : `did you mean ${names.join(", ")}?`;
}
