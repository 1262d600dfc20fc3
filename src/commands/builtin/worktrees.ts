import { PiError } from "../../errors.js";
import type { CommandResult } from "../../hooks/types.js";
import { describeWorktree, listWorktrees, removeWorktree, type Worktree } from "../../resources/git-worktrees.js";
import { isInside } from "../../tools/machine/readable-directories.js";
import { plural } from "../../util/format-amounts.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { report } from "./report.js";

const TITLE = "Worktrees";

/** `/worktrees [remove name [--force]]`: lists the git worktrees of the repository, and removes one. */
export const worktreesCommand: SlashCommand = {
	name: "worktrees",
	argumentHint: "[remove name]",
	description: "List and remove git worktrees",
	async run(context) {
		const { session, shell, ui, args, signal } = context;
		const trees = await listWorktrees(session.cwd);
		const [action, name] = args;
		if (action !== undefined) {
			const isForced = args[2] === "--force";
			if (action !== "remove" || name === undefined || args.length > (isForced ? 3 : 2)) {
				throw new PiError("bad_arguments", "/worktrees expects nothing, or remove and the name of a worktree");
			}
			const tree = trees.find((candidate) => candidate.name === name);
			if (!tree) {
				const known = trees.map((candidate) => candidate.name).join(", ") || "none";
				throw new PiError("bad_arguments", `There is no worktree ${JSON.stringify(name)}`, { hint: `known: ${known}` });
			}
			return remove(tree, isForced, context);
		}
		if (trees.length === 0) return { status: "There are no worktrees; pi --on worktree:<name> starts in a new one" };
		if (!shell) return report(context, TITLE, trees.map(describeWorktree));
		const options = trees.map((tree) => ({ label: describeWorktree(tree), value: tree }));
		const chosen = await ui.select("Remove which worktree?", options, { signal });
		if (!chosen) return undefined;
		const isClean = chosen.changes === 0;
		if (isClean && !(await ui.confirm(`Remove ${chosen.name}?`, chosen.path, { signal }))) return undefined;
		return remove(chosen, false, context);
	},
};

/** Removes a worktree; with changes only if the user says so. */
async function remove(
	tree: Worktree,
	isForced: boolean,
	{ session, shell, ui, signal }: BuiltinCommandContext,
): Promise<CommandResult | undefined> {
	const { name, path, branch, changes } = tree;
	if (isInside(path, session.cwd)) {
		throw new PiError("bad_arguments", `Cannot remove ${path}: this session works there`, {
			hint: "start pi in the repository, and use /worktrees there",
		});
	}
	let force = isForced;
	if (changes !== 0 && changes !== null && !force) {
		const loss = `${path} has ${plural(changes, "changed file")} that no commit has.`;
		if (!shell) {
			throw new PiError("bad_arguments", `Cannot remove ${name}: ${loss.slice(0, -1)}`, {
				hint: `commit them, or say /worktrees remove ${name} --force`,
			});
		}
		force = await ui.confirm(`Remove ${name} with its changes?`, loss, { signal });
		if (!force) return undefined;
	}
	await removeWorktree(session.cwd, tree, force);
	return { status: `Removed ${path}${branch === null ? "" : `; the branch ${branch} stays`}` };
}
