import { existsSync } from "node:fs";
import { sessionDirs } from "../../log/catalog.js";
import { UsageIndex } from "../../usage/usage-index.js";
import { usageLines, usageTitle } from "../../usage/usage-lines.js";
import { type FreeModels, findFreeModels, isLocalModel, startOfDay, UsageSums } from "../../usage/usage-report.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines, printNotices } from "../standard-io.js";
import type { Location, SubcommandContext } from "./location.js";

/** `pi usage`: prints tokens and cost of all sessions; with `--session-dir`, of those in that directory. */
export async function printUsage(
	{ by, days }: Extract<Subcommand, { name: "usage" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const { paths, sessionDir } = location;
	const dirs = options.sessionDir === undefined ? sessionDirs(paths.sessions) : [sessionDir];
	const index = new UsageIndex(paths.usageIndex, () => dirs);
	await index.refresh();
	await index.save();
	const notices = [...location.warnings];
	const sums = new UsageSums(index.requests(days === null ? 0 : startOfDay(Date.now(), days - 1)), by);
	const report = sums.report(await findFree(sums.modelsWithoutCost(), location, notices));
	if (options.json) await printJson(io, report);
	else {
		const columns = io.outIsTerminal ? process.stdout.columns : null;
		const display = { by, days, columns, home: paths.home };
		await printLines(io, [usageTitle(display), "", ...usageLines(report, display)]);
	}
	printNotices(io, notices);
	return 0;
}

/** Loads the list of models only if the price of one of these depends on it: that takes longer than the report. */
async function findFree(
	models: readonly string[],
	{ paths, env, settings }: Location,
	notices: string[],
): Promise<FreeModels> {
	if (models.length === 0 || (models.every(isLocalModel) && !existsSync(paths.models))) return findFreeModels([]);
	const { loadModelSources } = await import("../../models/model-sources.js");
	const { registry } = await loadModelSources({ paths, env, settings, onWarning: (line) => notices.push(line) });
	return findFreeModels(registry.all().map((model) => ({ model, isPriced: registry.isPriced(model) })));
}
