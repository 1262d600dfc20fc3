import { formatAge } from "../../util/age.js";
import { plural } from "../../util/format-amounts.js";
import type { ModelList } from "../model-list.js";
import { MAX_MODELS } from "./listed-model.js";
import type { ProviderReport, UpdateReport } from "./update-models.js";

/** Maximum number of ids in a line. */
const MAX_IDS = 5;
/** Maximum number of names of what failed. */
const MAX_FAILED = 2;
const DAY_MS = 24 * 3_600_000;

/** The result of one provider without its name: `2 new (claude-opus-6, claude-fable-6), 1 retired (claude-opus-4-5)`. */
export function describeReport(report: ProviderReport): string {
	if (report.state !== "updated") return `${report.state === "failed" ? "failed" : "not asked"}: ${report.reason}`;
	const { added, retired, changed, dropped, omitted } = report;
	const parts = [
		added.length > 0 && `${added.length} new (${shortened(added)})`,
		retired.length > 0 && `${retired.length} retired (${shortened(retired)})`,
		changed > 0 && `${changed} with another window or price`,
		dropped > 0 && `${plural(dropped, "unusable entry", "unusable entries")} ignored`,
		omitted > 0 && `${plural(omitted, "model")} beyond the first ${MAX_MODELS} ignored`,
	].filter((part) => part !== false);
	return parts.join(", ") || "up to date";
}

/** What the catalog delivered, without its name: `214 models of 2 providers`. */
export function describeCatalog({ providers, catalog, catalogFailure }: UpdateReport): string {
	if (catalog === null) return `failed: ${catalogFailure}`;
	const { models, missing } = catalog;
	const known = plural(providers.length - missing.length, "provider");
	return `${plural(models, "model")} of ${known}${missing.length > 0 ? `, none of ${shortened(missing)}` : ""}`;
}

/** The result of an update in one line, for a dialog: names what failed. */
export function summarizeUpdate({ providers, catalogFailure }: UpdateReport): string {
	const sum = (count: (report: ProviderReport) => number) => providers.reduce((all, report) => all + count(report), 0);
	const added = sum((report) => (report.state === "updated" ? report.added.length : 0));
	const retired = sum((report) => (report.state === "updated" ? report.retired.length : 0));
	const failed = [
		...providers.flatMap((report) =>
			report.state === "failed" ? [{ name: report.provider, reason: report.reason }] : [],
		),
		...(catalogFailure === null ? [] : [{ name: "the catalog", reason: catalogFailure }]),
	];
	// A narrow screen shows only the start: what failed counts more than the reasons.
	const failures =
		failed.length > 1
			? [describeFailed(failed.map(({ name }) => name)), ...failed.map(({ name, reason }) => `${name}: ${reason}`)]
			: failed.map(({ name, reason }) => `${name} failed: ${reason}`);
	return [`${added} new, ${retired} retired`, ...failures].join(" · ");
}

/** `anthropic failed`; several are counted. */
function describeFailed(names: readonly string[]): string {
	const left = names.length - MAX_FAILED;
	return `${names.slice(0, MAX_FAILED).join(", ")}${left > 0 ? ` and ${left} more` : ""} failed`;
}

/**
 * The age of a list and what the latest update could not ask: `updated 3 days ago · anthropic failed`, or `list of 22 Sep` if it
 * was never updated.
 * @param isUsed whether a failure of the provider matters
 */
export function describeListAge(
	{ madeAt, updatedAt, failed }: Pick<ModelList, "madeAt" | "updatedAt" | "failed">,
	now: number,
	isUsed: (provider: string) => boolean = () => true,
): string {
	const last = updatedAt();
	const age = last === null ? null : formatAge(last, now);
	const text =
		age === null ? `list of ${formatDay(madeAt, now)}` : age === "now" ? "updated now" : `updated ${age} ago`;
	const names = failed().filter(isUsed);
	return names.length > 0 ? `${text} · ${describeFailed(names)}` : text;
}

/** `today`, or the age: `3 days ago`. */
export function formatUpdateAge(at: number, now: number): string {
	const age = formatAge(at, now);
	return now - at < DAY_MS ? "today" : `${age} ago`;
}

/** `22 Sep 2026`; without the year if it is that of `now`. */
export function formatDay(at: number, now?: number): string {
	const [day, month, year] = new Date(at).toUTCString().split(" ").slice(1);
	const isThisYear = now !== undefined && String(new Date(now).getUTCFullYear()) === year;
	return isThisYear ? `${Number(day)} ${month}` : `${Number(day)} ${month} ${year}`;
}

function shortened(ids: readonly string[]): string {
	return ids.length > MAX_IDS ? `${ids.slice(0, MAX_IDS).join(", ")}, …` : ids.join(", ");
}
