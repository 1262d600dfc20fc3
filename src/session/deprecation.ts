import type { Api, Model } from "@mariozechner/pi-ai";
import { formatDay } from "../models/update/describe-update.js";

/**
 * What the headers of a response say about the end of a model, as one line: `deprecation` and `sunset`, as RFC 9745 and RFC
 * 8594 define them. Null if they say nothing.
 */
export function describeDeprecation(
	{ provider, id }: Pick<Model<Api>, "provider" | "id">,
	headers: Readonly<Record<string, string>>,
): string | null {
	const { deprecation, sunset } = headers;
	const isDeprecated = deprecation !== undefined && !/^(?:false|\?0)?$/i.test(deprecation.trim());
	const end = sunset === undefined ? Number.NaN : Date.parse(sunset);
	if (!isDeprecated && Number.isNaN(end)) return null;
	const since = isDeprecated ? dayOf(deprecation) : null;
	const ends = Number.isNaN(end) ? "" : ` and ends on ${formatDay(end)}`;
	const state = `${id} is deprecated by ${provider}${since === null ? "" : ` since ${since}`}${ends}`;
	return `${state} · choose another model · pi models update reads the current list`;
}

/** `@1798675200`, or a date as earlier drafts define it. */
function dayOf(deprecation: string): string | null {
	const seconds = /^@(\d{1,11})$/.exec(deprecation.trim())?.[1];
	const at = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1000;
	return Number.isNaN(at) ? null : formatDay(at);
}
