import { PiError } from "../../errors.js";
import type { BranchTarget, BuiltinCommandContext, SlashCommand } from "../command.js";

/** `/branch [entry]`: starts a new session from an earlier message and puts that message into the editor. */
export const branchCommand: SlashCommand = {
	name: "branch",
	argumentHint: "[entry]",
	description: "Start a new session from an earlier message",
	complete: (prefix, session) =>
		session
			.branchTargets()
			.map(({ entryIndex, text }) => ({ value: String(entryIndex), description: firstLine(text) }))
			.filter(({ value }) => value.startsWith(prefix)),
	async run(context) {
		const { session, shell, rest, signal } = context;
		const targets = session.branchTargets();
		if (targets.length === 0) return { status: "No message to branch from yet" };
		const entryIndex = rest ? Number(rest) : await pickTarget(targets, context);
		if (entryIndex === null) return;
		if (!targets.some((target) => target.entryIndex === entryIndex)) {
			throw new PiError("bad_arguments", `Entry ${rest} is not a user message`, {
				hint: `use one of ${targets.map((target) => target.entryIndex).join(", ")}`,
			});
		}
		if ((await shell?.confirmEnd?.("Start a new session from that message?", signal)) === false) return;
		const text = await session.branch(entryIndex);
		if (text === null) return { status: session.describeCanceled("branch") };
		shell?.setEditorText(text);
		const isKept = session.branchTargets().some((target) => target.entryIndex === entryIndex);
		return {
			status: isKept
				? `New session with all entries: a hook kept those from ${entryIndex} on`
				: `New session, branched before entry ${entryIndex}`,
		};
	},
};

async function pickTarget(
	targets: readonly BranchTarget[],
	{ session, ui, shell, signal }: BuiltinCommandContext,
): Promise<number | null> {
	if (shell?.pickBranch) return shell.pickBranch(await session.branchRows(), signal);
	const options = targets.toReversed().map(({ entryIndex, text }) => ({
		label: firstLine(text),
		value: entryIndex,
		description: `entry ${entryIndex}`,
	}));
	return ui.select("Branch from which message?", options);
}

function firstLine(text: string): string {
	return text.trim().split("\n")[0] ?? "";
}
