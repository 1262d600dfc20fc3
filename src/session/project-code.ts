import { findProjectSet, isTrusted, loadTrust, type ProjectSet, storeTrust } from "../config/trust.js";

/** What a person says to the code of a project: trust these contents, run them this once, or leave them out. */
export type TrustAnswer = "trust" | "once" | "no";

/** How the code of a project comes to run. */
export interface ProjectCodeOptions {
	cwd: string;
	agentDir: string;
	/** `--trust`, `PI_TRUST=1`: this run only, nothing is stored. */
	trustOnce: boolean;
	/** Asks the user; absent where nobody can be asked. */
	ask?(set: ProjectSet): Promise<TrustAnswer>;
	onWarning(line: string): void;
}

/** Decides whether the project's own hooks and tools may run. Asks where it can; without an answer they do not. */
export async function mayRunProjectCode(options: ProjectCodeOptions): Promise<boolean> {
	const { agentDir, cwd, trustOnce, ask, onWarning } = options;
	if (trustOnce) return true;
	const store = loadTrust(agentDir);
	if (store.warning) onWarning(store.warning);
	const set = await findProjectSet(cwd, store);
	if (isTrusted(set)) return true;
	const answer = ask ? await ask(set) : "no";
	if (answer === "trust") await storeTrust(agentDir, set);
	if (answer === "no") onWarning(describeSkipped(set, ask !== undefined));
	return answer !== "no";
}

function describeSkipped(set: ProjectSet, asked: boolean): string {
	const files = set.files.filter(({ state }) => state !== "trusted").map(({ rel }) => rel);
	const list = files.length > 4 ? `${files.slice(0, 4).join(", ")} and ${files.length - 4} more` : files.join(", ");
	const next = asked
		? "/reload asks again"
		: "look at them, then start pi in a terminal, or pass --trust to run them this once";
	return `Project code was not run, it is not trusted: ${list} · ${next}`;
}
