import type { HookEventContext } from "../hooks/types.js";

/** What a footer of an extension shows and reads from nowhere else. */
export class FooterData {
	readonly #statuses = new Map<string, string>();
	readonly #listeners = new Set<() => void>();
	#branch: string | null = null;
	#isUsed = false;

	/** @param providers counts the providers whose key is known */
	constructor(private readonly providers: () => number) {}

	readonly view = Object.freeze({
		getGitBranch: () => this.#branch,
		/** Those of this extension: hooks do not see those of others. */
		getExtensionStatuses: (): ReadonlyMap<string, string> => this.#statuses,
		getAvailableProviderCount: () => this.providers(),
		onBranchChange: (listener: () => void) => {
			this.#listeners.add(listener);
			return () => void this.#listeners.delete(listener);
		},
	});

	setStatus(key: string, text: string | undefined): void {
		if (text === undefined) this.#statuses.delete(key);
		else this.#statuses.set(key, text);
	}

	/** Begins to read the branch, now and after each turn. */
	start(ctx: HookEventContext): void {
		this.#isUsed = true;
		void this.refresh(ctx);
	}

	/** Reads the branch again, if a footer uses it. Never rejects. */
	async refresh(ctx: HookEventContext): Promise<void> {
		if (!this.#isUsed) return;
		const branch = await ctx.exec("git", ["branch", "--show-current"]).then(
			({ code, stdout }) => (code === 0 && stdout.trim() !== "" ? stdout.trim() : null),
			() => null, // the session or the handler has ended
		);
		if (branch === this.#branch) return;
		this.#branch = branch;
		for (const listener of this.#listeners) listener();
	}
}
