import { PiError } from "../../errors.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { report } from "./report.js";

const ACTIONS = ["ask", "forget"] as const;
type Action = (typeof ACTIONS)[number];

/** `/trust [ask|forget]`: shows which code of project and packages may run, asks again or revokes the trust. */
export const trustCommand: SlashCommand = {
	name: "trust",
	argumentHint: "[ask|forget]",
	description: "Show which code of project and packages may run; ask again or forget",
	complete: (prefix) => ACTIONS.filter((action) => action.startsWith(prefix)).map((value) => ({ value })),
	async run(context) {
		const { session, rest, shell, ui } = context;
		const { trust } = session;
		if (!trust) return { status: "There is no code that needs trust" };
		if (rest) return change(context, toAction(rest));
		const lines = await trust.describe();
		if (!shell) return { status: ["Trust", ...lines].join("\n") };
		report(context, "Trust", lines);
		const action = await ui.select<Action>("Code of project and packages", [
			{ label: "ask again", value: "ask", description: "show the code, then reload what you accept" },
			{ label: "forget", value: "forget", description: "revoke the trust in this project and in all packages" },
		]);
		return action === null ? undefined : change(context, action);
	},
};

function toAction(text: string): Action {
	const action = ACTIONS.find((candidate) => candidate === text);
	if (!action) throw new PiError("bad_arguments", `/trust expects ask or forget, not "${text}"`);
	return action;
}

async function change({ session }: BuiltinCommandContext, action: Action): Promise<{ status: string }> {
	if (action === "ask") {
		session.trust?.askAgain();
		return { status: await session.reload() };
	}
	const found = await session.trust?.forget();
	return {
		status: found
			? "Project and packages are no longer trusted; loaded code runs until /reload"
			: "Nothing was trusted",
	};
}
