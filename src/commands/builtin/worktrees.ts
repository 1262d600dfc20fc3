import { PiError } from "../../errors.js";
import type { CommandResult } from "../../hooks/types.js";
import {
	describeLoss,
	describeWorktree,
	listWorktrees,
	removeWorktree,
	type Worktree,
} from "../../resources/git-worktrees.js";
import { isInside } from "../../tools/machine/readable-directories.js";
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
		const [action, ...words] = args;
		if (action !== undefined) {
			const isForced = words.at(-1) === "--force";
			const name = (isForced ? words.slice(0, -1) : words).join(" ");
			if (action !== "remove" || name === "") {
				throw new PiError("bad_arguments", "/worktrees expects nothing, or remove and the name of a worktree");
			}
			return remove(findTree(trees, name), isForced, context);
		}
		if (trees.length === 0) return { status: "There are no worktrees; pi --on worktree:<name> starts in a new one" };
		if (!shell) return report(context, TITLE, trees.map(describeWorktree));
		const options = trees.map((tree) => ({ label: describeWorktree(tree), value: tree }));
		const chosen = await ui.select("Remove which worktree?", options, { signal });
		if (!chosen) return undefined;
		const isClean = describeLoss(chosen) === null;
		if (isClean && !(await ui.confirm(`Remove ${chosen.name}?`, chosen.path, { signal }))) return undefined;
		return remove(chosen, false, context);
	},
};

/** @param name the name, branch or path of a worktree */
function findTree(trees: readonly Worktree[], name: string): Worktree {
	const named = [
		...new Set([...trees.filter((tree) => tree.name === name), ...trees.filter((tree) => tree.branch === name)]),
	];
	const found = named.length > 0 ? named : trees.filter(({ path }) => path === name);
	const [tree] = found;
	if (!tree) {
		const known = trees.map((candidate) => candidate.name).join(", ") || "none";
		throw new PiError("bad_arguments", `There is no worktree ${JSON.stringify(name)}`, { hint: `known: ${known}` });
	}
	if (found.length > 1) {
		const paths = found.map(({ path }) => path).join(", ");
		throw new PiError("bad_arguments", `${found.length} worktrees are meant by ${JSON.stringify(name)}`, {
			hint: `name one by its path: ${paths}`,
		});
	}
	return tree;
}

/** Removes a worktree; with changes only if the user says so. */
async function remove(
	tree: Worktree,
	isForced: boolean,
	{ session, shell, ui, signal }: BuiltinCommandContext,
): Promise<CommandResult | undefined> {
	const { name, path, branch, usedBy } = tree;
	const isHere = isInside(path, session.cwd);
	if (isHere || (usedBy !== null && !isForced)) {
		const user = isHere ? "this session" : `another pi, process ${usedBy},`;
		throw new PiError("bad_arguments", `Cannot remove ${path}: ${user} works there`, {
			hint: isHere ? "start pi in the repository, and use /worktrees there" : "end it first",
		});
	}
	let force = isForced;
	const loss = describeLoss(tree);
	if (loss !== null && !force) {
		if (!shell) {
			throw new PiError("bad_arguments", `Cannot remove ${name}: ${path} has ${loss}`, {
				hint: `commit them on a branch, or say /worktrees remove ${name} --force`,
			});
		}
		const options = [
			{ label: "Keep it", value: false },
			{ label: `Remove it, and lose ${loss}`, value: true },
		];
		force = (await ui.select(`${path} has ${loss}`, options, { signal })) === true;
		if (!force) return undefined;
	}
	await removeWorktree(session.cwd, tree, force);
	return { status: `Removed ${path}${branch === null ? "" : `; the branch ${branch} stays`}` };
}
