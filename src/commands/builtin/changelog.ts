import { join } from "node:path";
import { joinWrapped, loadChangelog } from "../../resources/changelog.js";
import { packageRoot, packageVersion } from "../../util/package-root.js";
import type { SlashCommand } from "../command.js";

/** `/changelog`: shows the changes of all versions; without a screen, of the latest one. */
export const changelogCommand: SlashCommand = {
	name: "changelog",
	description: "Show what is new in pi",
	async run({ shell, signal }) {
		const sections = await loadChangelog(join(packageRoot(), "CHANGELOG.md"));
		const title = `Changes · this is pi ${packageVersion()}`;
		if (sections.length === 0) return { status: `${title}: CHANGELOG.md is missing from this installation` };
		const [latest] = sections;
		if (!shell?.showText) {
			const lines = joinWrapped(latest?.lines ?? []).map((line) => line.replace(/^#+ /, ""));
			return { status: [title, "", latest?.version ?? "", ...lines].join("\n") };
		}
		const text = sections.flatMap(({ version, lines }) => [`## ${version}`, "", ...joinWrapped(lines), ""]).join("\n");
		await shell.showText({ title, text }, signal);
		return undefined;
	},
};
