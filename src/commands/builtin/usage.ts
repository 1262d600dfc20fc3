import { homedir } from "node:os";
import { PiError } from "../../errors.js";
import { usageLines, usageTitle } from "../../usage/usage-lines.js";
import {
	createUsageReport,
	findFreeModels,
	GROUPINGS,
	startOfDay,
	type UsageGrouping,
} from "../../usage/usage-report.js";
import { didYouMean } from "../../util/nearest.js";
import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** Columns of the screen next to the text of the transcript. */
const MARGIN = 2;

/** `/usage [by] [days]`: shows tokens and cost of all sessions by day, model, project or session. */
export const usageCommand: SlashCommand = {
	name: "usage",
	argumentHint: "[by] [days]",
	description: "Show tokens and cost of all sessions by day, model, project or session",
	complete: (prefix) => GROUPINGS.filter((by) => by.startsWith(prefix)).map((value) => ({ value })),
	async run(context) {
		const { session, shell, args, signal } = context;
		const { by, days } = readArguments(args);
		const requests = await session.usageSince(days === null ? 0 : startOfDay(Date.now(), days - 1), signal);
		const columns = shell?.screen ? shell.screen().columns - MARGIN : null;
		const display = { by, days, columns, home: homedir() };
		const found = createUsageReport(requests, by, findFreeModels(session.models.offers()));
		return report(context, usageTitle(display), usageLines(found, display));
	},
};

function readArguments(args: readonly string[]): { by: UsageGrouping; days: number | null } {
	let by: UsageGrouping = "day";
	let days: number | null = null;
	for (const word of args) {
		const named = GROUPINGS.find((grouping) => grouping === word);
		if (named) by = named;
		else if (/^[1-9]\d{0,4}$/.test(word)) days = Number(word);
		else {
			throw new PiError("bad_arguments", `/usage ${word}: expected ${GROUPINGS.join(", ")} or a number of days`, {
				hint: didYouMean(word, GROUPINGS) ?? "use /usage model 7, for example",
			});
		}
	}
	return { by, days };
}
