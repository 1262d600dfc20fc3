import { plural } from "../../util/format-amounts.js";
import type { SlashCommand } from "../command.js";
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
			`file       ${stats.sessionFile ?? "in memory"}`,
			`id         ${stats.sessionId}`,
			...(session.sessionName ? [`name       ${session.sessionName}`] : []),
			`messages   ${stats.totalMessages} (${stats.userMessages} user, ${stats.assistantMessages} assistant, ${plural(stats.toolCalls, "tool call")})`,
			`tokens     ${total} (${input} in, ${output} out, ${cacheRead} cache read, ${cacheWrite} cache write)`,
			`cost       $${stats.cost.toFixed(stats.cost > 0 && stats.cost < 1 ? 4 : 2)}`,
		]);
	},
};
