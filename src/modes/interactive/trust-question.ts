import type { ProjectSet } from "../../config/trust.js";
import type { HookUI } from "../../hooks/types.js";
import type { TrustAnswer } from "../../session/project-code.js";
import { revealInvisible } from "../../util/reveal.js";
import type { Transcript } from "./transcript.js";

/** Shows what code of the project would run and asks whether it may. Cancelling means no. */
export async function askTrust(
	set: ProjectSet,
	ui: HookUI,
	transcript: Pick<Transcript, "page">,
): Promise<TrustAnswer> {
	transcript.page("This project has code that pi would run:", [
		...table(set),
		...set.unresolved.map(
			({ from, specifier, reason }) => `  ${revealInvisible(from)} loads ${revealInvisible(specifier)}: ${reason}`,
		),
	]);
	for (;;) {
		const answer = await ui.select<TrustAnswer | "view">("It can do anything you can. Run it?", [
			{ label: "no", value: "no", description: "go on without it" },
			{ label: "trust these contents", value: "trust", description: "asks again when they change" },
			{ label: "this run only", value: "once", description: "nothing is stored" },
			{ label: "view the code", value: "view", description: "then asks again" },
		]);
		if (answer !== "view") return answer ?? "no";
		for (const file of set.files) {
			if (file.state !== "trusted") transcript.page(file.rel, revealInvisible(file.bytes.toString("utf8")).split("\n"));
		}
	}
}

function table({ files }: ProjectSet): string[] {
	const names = files.map(({ rel }) => revealInvisible(rel));
	const width = Math.max(0, ...names.map((name) => name.length));
	return files.map(({ size, sha256, state }, at) => {
		const kilobytes = `${(size / 1024).toFixed(1)} KB`.padStart(9);
		return `  ${names[at]?.padEnd(width)} ${kilobytes}   ${sha256.slice(0, 12)}   ${state}`;
	});
}
