import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/context`: what the model sees, message by message, and what is hidden by what. */
export const contextCommand: SlashCommand = {
	name: "context",
	description: "Show what the model sees",
	run: async (context) => report(context, "Context of the next request", context.session.describeContext()),
};
