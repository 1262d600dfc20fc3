/**
 * Brings git into the editor: `^` and a word complete to a recent commit, and `/changes` inserts the changed files at the
 * cursor. Without a screen there is nothing to complete; `/changes` then returns the list.
 *
 * The commits are those at the start and after each run. Outside of a repository the hook does nothing.
 */
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

const MAX_COMMITS = 300;
const MAX_SUGGESTIONS = 20;

interface Commit {
	hash: string;
	title: string;
}

export default function gitContext(pi: HookAPI): void {
	let commits: Promise<readonly Commit[]> = Promise.resolve([]);

	pi.on("session", async (event, ctx) => {
		if (event.reason !== "start") return;
		commits = listCommits(ctx);
		ctx.ui.addAutocompleteProvider((current) => ({
			async getSuggestions(lines, line, column, options) {
				const typed = /(?:^|\s)\^([^\s^]*)$/.exec((lines[line] ?? "").slice(0, column));
				if (!typed) return current.getSuggestions(lines, line, column, options);
				const word = (typed[1] ?? "").toLowerCase();
				const items = (await commits)
					.filter(({ hash, title }) => hash.startsWith(word) || title.toLowerCase().includes(word))
					.slice(0, MAX_SUGGESTIONS)
					.map(({ hash, title }) => ({ value: hash, label: title, description: hash }));
				return items.length > 0 ? { prefix: `^${typed[1] ?? ""}`, items } : null;
			},
			// The caret is not part of what the model reads.
			applyCompletion: (...completion) => current.applyCompletion(...completion),
		}));
		await commits;
	});

	pi.on("agent_settled", async (_, ctx) => {
		commits = listCommits(ctx);
		await commits;
	});

	pi.command("changes", {
		description: "Insert the changed files at the cursor",
		async handler(ctx) {
			const status = await git(ctx, "status", "--porcelain", "--no-renames", "-z");
			if (status === null) return { status: "This is not a git repository" };
			const files = status.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
			if (files.length === 0) return { status: "No changed files" };
			if (ctx.mode !== "interactive" && ctx.mode !== "rpc") return { status: files.join("\n") };
			const text = files.map((file) => (/\s/.test(file) ? `@"${file}"` : `@${file}`)).join(" ");
			ctx.ui.pasteToEditor(/\S$/.test(ctx.ui.getEditorText()) ? ` ${text} ` : `${text} `);
			return undefined;
		},
	});
}

/** The newest commits of the branch; empty if git fails. */
async function listCommits(ctx: HookEventContext): Promise<Commit[]> {
	const log = (await git(ctx, "log", `--max-count=${MAX_COMMITS}`, "--format=%h %s")) ?? "";
	return log.split("\n").flatMap((line) => {
		const [, hash, title = ""] = /^([0-9a-f]+) (.*)$/.exec(line) ?? [];
		return hash === undefined ? [] : [{ hash, title }];
	});
}

/** @returns stdout of git; null if it failed */
async function git(ctx: HookEventContext, ...args: string[]): Promise<string | null> {
	const { code, stdout } = await ctx.exec("git", ["-c", "core.fsmonitor=false", ...args], {
		signal: ctx.signal,
		onHost: true,
	});
	return code === 0 ? stdout : null;
}
