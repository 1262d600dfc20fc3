import { trustKey } from "../../services/code/package-code.js";
import { untrustRoot } from "../../trust/store.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { withPackages } from "./with-packages.js";

/** `pi remove <name>`: removes a package and the trust in it. @throws PiError `bad_arguments` if there is no such package */
export function runRemove(
	{ package: word, local }: Extract<Subcommand, { name: "remove" }>,
	context: SubcommandContext,
): Promise<number> {
	const { paths } = context.location;
	return withPackages(context, async (manager) => {
		const removed = await manager.remove(word, local ? "project" : "user");
		await untrustRoot(paths.agentDir, trustKey(removed, paths.cwd));
		if (context.options.json) return printJson(context.io, { name: removed.name, scope: removed.scope });
		return printLines(context.io, [`Removed ${removed.name}${local ? " from this project" : ""}`]);
	});
}
