import type { CommandTrust } from "../commands/command.js";
import {
	findProjectSet,
	isTrusted,
	loadTrust,
	type ProjectFile,
	type ProjectSet,
	storeTrust,
	trustedText,
	untrust,
} from "../config/trust.js";
import { describeError, errorText } from "../errors.js";
import type { HookFile } from "../hooks/discover.js";
import { revealInvisible } from "../util/reveal.js";
import { copyProjectCode } from "./project-copy.js";

/** What a person says to the code of a project: trust these contents, run them this once, or leave them out. */
export type TrustAnswer = "trust" | "once" | "no";

/** How the code of a project comes to run. */
export interface ProjectCodeOptions {
	cwd: string;
	agentDir: string;
	/** A private directory for copies of what was accepted. */
	copyDir: string;
	/** `--trust`, `PI_TRUST=1`: this run only, nothing is stored. */
	trustOnce: boolean;
	/** Asks the user; absent where nobody can be asked. */
	ask?(set: ProjectSet): Promise<TrustAnswer>;
}

/** The project's code that may run: for a file's real path, its copy with the bytes that were accepted. */
export type AcceptedCode = ReadonlyMap<string, string>;

/**
 * Decides whether the project's own hooks and tools may run, by one question for all of them. What is accepted is
 * copied away from the project, so that the bytes that were looked at are those that run.
 * @see docs/trust.md
 */
export class ProjectGate implements CommandTrust {
	/** Contents that a person let in for this run, as `digest` names them. */
	#onceDigest: string | null = null;
	#asksAlways = false;

	constructor(private readonly options: ProjectCodeOptions) {}

	/**
	 * Looks at the project's code as it is now and asks where that is needed and possible; without an answer nothing runs.
	 * Never throws. @returns null when it may not run
	 */
	async accept(onWarning: (line: string) => void): Promise<AcceptedCode | null> {
		const { agentDir, copyDir } = this.options;
		try {
			const set = await this.#find(onWarning);
			if (!(await this.#mayRun(set, agentDir, onWarning))) return null;
			return copyProjectCode(set, copyDir);
		} catch (error) {
			onWarning(`Project code was not run: ${describeError(error)}`);
			return null;
		}
	}

	async describe(): Promise<string[]> {
		const warnings: string[] = [];
		const set = await this.#find((line) => warnings.push(line));
		if (set.files.length === 0) return [...warnings, `${set.root} has no hooks and tools of its own`];
		const width = Math.max(...set.files.map(({ rel }) => revealInvisible(rel).length));
		return [
			...warnings,
			...(set.incomplete ? [`Never trusted: it has ${set.incomplete}`] : []),
			...set.files.map((file) => describeFile(file, width)),
			set.trustedAt ? `Trusted on ${set.trustedAt.slice(0, 10)}` : "Nothing in this project is trusted",
		];
	}

	askAgain(): void {
		this.#asksAlways = true;
	}

	async forget(): Promise<boolean> {
		this.#onceDigest = null;
		return untrust(this.options.agentDir, this.options.cwd);
	}

	async #find(onWarning: (line: string) => void): Promise<ProjectSet> {
		const store = loadTrust(this.options.agentDir);
		if (store.warning) onWarning(store.warning);
		return findProjectSet(this.options.cwd, store);
	}

	async #mayRun(set: ProjectSet, agentDir: string, onWarning: (line: string) => void): Promise<boolean> {
		const { trustOnce, ask } = this.options;
		const asksAlways = this.#asksAlways && ask !== undefined;
		this.#asksAlways = false;
		const digest = JSON.stringify(set.files.map(({ rel, sha256 }) => [rel, sha256]));
		if (set.incomplete) {
			onWarning(`Project code was not run: it has ${set.incomplete} · remove what does not belong under .pi`);
			return false;
		}
		if (!asksAlways && (trustOnce || isTrusted(set) || digest === this.#onceDigest)) return true;
		const answer = ask ? await ask({ ...set, files: set.files.map((file) => withTrustedText(file, agentDir)) }) : "no";
		this.#onceDigest = answer === "once" ? digest : null;
		if (answer === "trust") await remember(set, agentDir, onWarning);
		if (answer === "no") onWarning(describeSkipped(set, ask !== undefined));
		return answer !== "no";
	}
}

/**
 * The hook or tool files that may be loaded: a project's own with their accepted copy as `realPath`, none of them
 * without `accepted`.
 * @param onWarning hears of files that were not part of what was accepted
 */
export function withCopies(
	files: readonly HookFile[],
	accepted: AcceptedCode | null,
	onWarning: (line: string) => void,
): HookFile[] {
	return files.flatMap((file) => {
		if (file.scope !== "project") return [file];
		const copy = accepted?.get(file.realPath);
		if (copy !== undefined) return [{ ...file, realPath: copy }];
		if (accepted)
			onWarning(`${file.path} was not run: it was not among the files that were shown · /reload asks again`);
		return [];
	});
}

function withTrustedText(file: ProjectFile, agentDir: string): ProjectFile {
	if (file.state !== "changed" || file.trustedSha256 === undefined) return file;
	const before = trustedText(agentDir, file.trustedSha256);
	return before === undefined ? file : { ...file, trustedText: before };
}

/** Where the answer cannot be kept it still counts for this run. */
async function remember(set: ProjectSet, agentDir: string, onWarning: (line: string) => void): Promise<void> {
	try {
		const { keptAside } = await storeTrust(agentDir, set);
		if (keptAside !== undefined) onWarning(`The unreadable trust.json was kept as ${keptAside}`);
	} catch (error) {
		onWarning(`The project is trusted for this run only: ${errorText(error)}`);
	}
}

function describeFile({ rel, size, sha256, state }: ProjectFile, width: number): string {
	return `${revealInvisible(rel).padEnd(width)}   ${size} bytes   ${sha256.slice(0, 12)}   ${state}`;
}

function describeSkipped(set: ProjectSet, asked: boolean): string {
	const files = set.files.filter(({ state }) => state !== "trusted").map(({ rel }) => revealInvisible(rel));
	const list = files.length > 4 ? `${files.slice(0, 4).join(", ")} and ${files.length - 4} more` : files.join(", ");
	const next = asked
		? "/reload asks again"
		: "look at them, then start pi in a terminal, or pass --trust to run them this once";
	return `Project code was not run, it is not trusted: ${list || "all of it"} · ${next}`;
}
