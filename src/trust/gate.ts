import { describeError, errorText } from "../errors.js";
import { revealInvisible } from "../util/reveal.js";
import { copyProjectCode } from "./copies.js";
import type { ServerContext } from "./server-code.js";
import {
	findProjectSet,
	isTrusted,
	loadTrust,
	type ProjectFile,
	type ProjectSet,
	storeTrust,
	trustedText,
	untrust,
} from "./store.js";

/** The user's decision on the code of a project: trust these contents, run them once, or do not run them. */
export type TrustAnswer = "trust" | "once" | "no";

export interface ProjectCodeOptions {
	cwd: string;
	agentDir: string;
	/** What fills the variables of MCP servers. Default: the environment of the process. */
	servers?: ServerContext;
	/** A private directory for copies of accepted code. */
	copyDir: string;
	/**
	 * True with `--trust` and `PI_TRUST=1`: it runs in this process, nothing is stored. False: it does not run even if the
	 * user trusts it. Undefined: the user decides.
	 */
	trust: boolean | undefined;
	/** Asks the user; absent without a user interface. */
	ask?(set: ProjectSet): Promise<TrustAnswer>;
	/** For a sub-session: the code that its parent runs, which replaces a decision. */
	inherited?(): AcceptedCode | null;
}

/** The project's code that may run: the path of each file's copy, by the file's real path. */
export type AcceptedCode = ReadonlyMap<string, string>;

/** A file with code: a hook, a tool. */
interface LoadableFile {
	/** `project` for those of the project. */
	scope: string;
	path: string;
	realPath: string;
}

/**
 * Decides whether the project's own hooks and tools may run, with one question for all of them. Accepted code is copied
 * out of the project, so that exactly the reviewed bytes run.
 * @see docs/trust.md
 */
export class ProjectGate {
	readonly #decision: CodeDecision;
	#accepted: AcceptedCode | null = null;

	constructor(private readonly options: ProjectCodeOptions) {
		this.#decision = new CodeDecision(options);
	}

	/** The result of the last `accept`. */
	get accepted(): AcceptedCode | null {
		return this.#accepted;
	}

	/**
	 * Reads the project's current code and asks the user if necessary and possible; without an answer nothing runs.
	 * Never throws. @returns null when the code may not run
	 */
	async accept(onWarning: (line: string) => void): Promise<AcceptedCode | null> {
		this.#accepted = await this.#accept(onWarning);
		return this.#accepted;
	}

	async #accept(onWarning: (line: string) => void): Promise<AcceptedCode | null> {
		const { copyDir, trust, inherited } = this.options;
		if (trust === false) return null;
		if (inherited) return inherited();
		try {
			const set = await this.#find(onWarning);
			if (!(await this.#decision.mayRun(set, onWarning))) return null;
			return copyProjectCode(set, copyDir);
		} catch (error) {
			onWarning(`Project code was not run: ${describeError(error)}`);
			return null;
		}
	}

	/** @returns the lines of `/trust` */
	async describe(): Promise<string[]> {
		const warnings: string[] = [];
		const set = await this.#find((line) => warnings.push(line));
		if (set.files.length === 0)
			return [...warnings, `${set.root} has no hooks, tools, agents or MCP servers of its own`];
		const width = Math.max(...set.files.map(({ rel }) => revealInvisible(rel).length));
		return [
			...warnings,
			...(set.incomplete ? [`Cannot be trusted: it has ${set.incomplete}`] : []),
			...set.files.map((file) => describeFile(file, width)),
			set.trustedAt ? `Trusted on ${set.trustedAt.slice(0, 10)}` : "Nothing in this project is trusted",
		];
	}

	/** The next `accept` asks the user whatever was decided before. */
	askAgain(): void {
		this.#decision.askAgain();
	}

	/** Removes the stored decision. @returns whether one existed */
	async forget(): Promise<boolean> {
		this.#decision.forget();
		return untrust(this.options.agentDir, this.options.cwd);
	}

	async #find(onWarning: (line: string) => void): Promise<ProjectSet> {
		const store = loadTrust(this.options.agentDir);
		if (store.warning) onWarning(store.warning);
		return findProjectSet(this.options.cwd, store, this.options.servers);
	}
}

/** Decides whether one set of code may run, and remembers the answer for this process. */
export class CodeDecision {
	/** Digest of the contents that the user accepted for this process. */
	#onceDigest: string | null = null;
	#asksAlways = false;

	constructor(private readonly options: Pick<ProjectCodeOptions, "agentDir" | "trust" | "ask">) {}

	/** The next time, the user is asked whatever was decided before. */
	askAgain(): void {
		this.#asksAlways = true;
	}

	forget(): void {
		this.#onceDigest = null;
	}

	/**
	 * Asks the user if necessary and possible.
	 * @param onWarning receives the reason if the code may not run
	 * @param notes finds out what the question says about a package
	 */
	async mayRun(
		set: ProjectSet,
		onWarning: (line: string) => void,
		notes?: () => Promise<readonly string[]>,
	): Promise<boolean> {
		const { agentDir, trust, ask } = this.options;
		const asksAlways = this.#asksAlways && ask !== undefined;
		this.#asksAlways = false;
		const digest = JSON.stringify(set.files.map(({ rel, sha256 }) => [rel, sha256]));
		if (set.incomplete) {
			const next = set.isIncompleteForServers
				? "remove the MCP server that needs them from mcp.json, or what it does not need"
				: "remove files that do not belong in .pi";
			onWarning(`Project code was not run: it has ${set.incomplete} · ${next}`);
			return false;
		}
		if (!asksAlways && (trust || isTrusted(set) || digest === this.#onceDigest)) return true;
		const answer = ask ? await ask(await describeQuestion(set, agentDir, notes)) : "no";
		this.#onceDigest = answer === "once" ? digest : null;
		if (answer === "trust") await storeAnswer(set, agentDir, onWarning);
		if (answer === "no") onWarning(describeSkipped(set, ask !== undefined));
		return answer !== "no";
	}
}

/**
 * Selects the hook or tool files that may be loaded. Project files get their accepted copy as `realPath`; without
 * `accepted` they are dropped.
 * @param onWarning receives a line for each project file that was not part of the accepted code
 */
export function withCopies<T extends LoadableFile>(
	files: readonly T[],
	accepted: AcceptedCode | null,
	onWarning: (line: string) => void,
): T[] {
	return files.flatMap((file) => {
		if (file.scope !== "project") return [file];
		const copy = accepted?.get(file.realPath);
		if (copy !== undefined) return [{ ...file, realPath: copy }];
		if (accepted) onWarning(`${file.path} was not run: it was not part of the code you accepted · /reload asks again`);
		return [];
	});
}

async function describeQuestion(
	set: ProjectSet,
	agentDir: string,
	notes?: () => Promise<readonly string[]>,
): Promise<ProjectSet> {
	const files = set.files.map((file) => withTrustedText(file, agentDir));
	return { ...set, files, ...(set.package && notes && { package: { ...set.package, notes: await notes() } }) };
}

function withTrustedText(file: ProjectFile, agentDir: string): ProjectFile {
	if (file.state !== "changed" || file.trustedSha256 === undefined) return file;
	const text = trustedText(agentDir, file.trustedSha256);
	return text === undefined ? file : { ...file, trustedText: text };
}

/** Stores the trust. If that fails, the answer still applies to this process. */
async function storeAnswer(set: ProjectSet, agentDir: string, onWarning: (line: string) => void): Promise<void> {
	try {
		const { keptAside } = await storeTrust(agentDir, set);
		if (keptAside !== undefined) onWarning(`trust.json cannot be read; pi renamed it to ${keptAside}`);
	} catch (error) {
		onWarning(`The project is trusted for this run only: ${errorText(error)}`);
	}
}

/** A row of `/trust`. */
export function describeFile({ title, rel, size, sha256, state }: ProjectFile, width: number): string {
	return `${revealInvisible(title ?? rel).padEnd(width)}   ${size} bytes   ${sha256.slice(0, 12)}   ${state}`;
}

function describeSkipped(set: ProjectSet, asked: boolean): string {
	const open = set.files.filter(({ state }) => state !== "trusted");
	const files = open.map(({ title, rel }) => revealInvisible(title ?? rel));
	const list = files.length > 4 ? `${files.slice(0, 4).join(", ")} and ${files.length - 4} more` : files.join(", ");
	const next = asked
		? "/reload asks again"
		: "review them, then start pi in a terminal, or pass --trust to run them once";
	if (set.package) return `Package ${set.package.name} was not loaded: it is not trusted · ${next}`;
	return `Project code was not run because it is not trusted: ${list || "all files"} · ${next}`;
}
