import { basename, dirname } from "node:path";
import { findFreeModels } from "../../usage/usage-report.js";
import { plural } from "../../util/format-amounts.js";
import type { CommandSession, SessionStats, SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/session`: shows size and cost of the session. */
export const sessionCommand: SlashCommand = {
	name: "session",
	description: "Show file, messages, tokens and cost of the session",
	async run(context) {
		const { session } = context;
		const stats = session.stats();
		const { input, output, cacheRead, cacheWrite, total } = stats.tokens;
		return report(context, "Session", [
			// A complete path is broken into two lines on most screens, and is no path when it is copied.
			...(stats.sessionFile === null
				? ["file       in memory"]
				: [`folder     ${dirname(stats.sessionFile)}`, `file       ${basename(stats.sessionFile)}`]),
			`id         ${stats.sessionId}`,
			...(session.sessionName ? [`name       ${session.sessionName}`] : []),
			`messages   ${stats.totalMessages} (${stats.userMessages} user, ${stats.assistantMessages} assistant, ${plural(stats.toolCalls, "tool call")})`,
			`tokens     ${total} (${input} in, ${output} out, ${cacheRead} cache read, ${cacheWrite} cache write)`,
			`cost       ${describeCost(stats, session)}`,
		]);
	},
};

function describeCost({ cost, unreported, tokens }: SessionStats, { model, models }: CommandSession): string {
	if (unreported > 0 && tokens.total === 0) return "unknown: the server sent no usage";
	const isFree = model !== null && findFreeModels(models.offers())(`${model.provider}/${model.id}`);
	if (cost === 0 && tokens.total > 0 && !isFree) return "– unknown price, or a subscription";
	const known = `$${cost.toFixed(cost > 0 && cost < 1 ? 4 : 2)}`;
	return unreported === 0 ? known : `${known} and ${plural(unreported, "reply", "replies")} without usage`;
}
