import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedFiles } from "../../../src/log/file-changes.js";
import { fileContentsDir } from "../../../src/log/file-contents.js";
import { removeSession } from "../../../src/log/manage-sessions.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempDir } from "../../helpers/temp.js";

const END = "The conversation is unchanged; /pop removes turns from the context";

/** A session in a repository whose only commit has `a.txt` (committed) and ignores `*.log`. */
async function startInRepository(options: TestSessionOptions = {}): Promise<TestSession> {
	const cwd = realpathSync(tempDir("pi-repository-"));
	writeFileSync(join(cwd, "a.txt"), "committed\n");
	writeFileSync(join(cwd, ".gitignore"), "*.log\n");
	git(cwd, "init", "-q");
	commit(cwd);
	return startSession({ cwd, ...options });
}

function git(cwd: string, ...args: string[]): void {
	execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "ignore" });
}

function commit(cwd: string): void {
	git(cwd, "add", "-A");
	git(cwd, "commit", "-qm", "all");
}

/** Lets the model make calls, one in each reply. */
async function run({ session, provider }: TestSession, ...calls: [name: string, args: Record<string, unknown>][]) {
	provider.reply(...calls.map(([name, args]) => ({ content: [toolCall(name, args)] })), "done");
	await session.prompt("go");
}

const bash = (command: string): [string, Record<string, unknown>] => ["bash", { command }];
const write = (path: string, content: string): [string, Record<string, unknown>] => ["write", { path, content }];

async function undo({ session }: TestSession): Promise<string[]> {
	const outcome = await session.prompt("/undo");
	return ("status" in outcome ? (outcome.status ?? "") : "").split("\n");
}

describe("/undo", () => {
	test("restores what edit, write and bash changed, and tells the model", async () => {
		const started = await startInRepository({ files: { "b.txt": "untracked\n" } });
		const { cwd, provider, session } = started;
		await run(
			started,
			["edit", { path: "a.txt", oldText: "committed", newText: "edited" }],
			write("new.txt", "new\n"),
			bash("echo more >> b.txt; rm a.txt; echo made > made.txt"),
		);
		expect(existsSync(join(cwd, "a.txt"))).toBe(false);
		expect(await undo(started)).toEqual([
			"Undo",
			"restored a.txt",
			"deleted new.txt: it did not exist before",
			"restored b.txt",
			"deleted made.txt: it did not exist before",
			END,
		]);
		expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("committed\n");
		expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("untracked\n");
		expect(existsSync(join(cwd, "new.txt")) || existsSync(join(cwd, "made.txt"))).toBe(false);
		provider.reply("ok");
		await session.prompt("again");
		expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("The user undid your changes to: ");
	});

	test("goes back one prompt at a time", async () => {
		const started = await startInRepository();
		const file = join(started.cwd, "a.txt");
		await run(started, write("a.txt", "one\n"));
		await run(started, write("a.txt", "two\n"));
		await run(started, ["ls", {}]);
		await undo(started);
		expect(readFileSync(file, "utf8")).toBe("one\n");
		await undo(started);
		expect(readFileSync(file, "utf8")).toBe("committed\n");
		expect(await undo(started)).toEqual(["There are no changes to undo"]);
	});

	test("asks about a file that changed since, with the diff", async () => {
		const titles: string[] = [];
		let answer = "Leave it";
		const select = async (title: string) => {
			titles.push(title);
			return answer as never;
		};
		const started = await startInRepository({ ui: { select } });
		const file = join(started.cwd, "a.txt");
		await run(started, write("a.txt", "model\n"));
		writeFileSync(file, "user\n");
		expect(await undo(started)).toContain("left a.txt: it changed since");
		expect(readFileSync(file, "utf8")).toBe("user\n");
		expect(titles[0]).toMatch(/a\.txt changed since[\s\S]*-\s*1 user\n\+\s*1 committed/);
		await run(started, write("a.txt", "again\n"));
		writeFileSync(file, "mine\n");
		answer = "Restore it anyway";
		await undo(started);
		expect(readFileSync(file, "utf8")).toBe("user\n");
		const { entries } = started.session;
		const restored = entries.findLast((entry) => entry.type === "files_restored");
		expect(restored).toMatchObject({ files: [{ path: file, before: expect.stringMatching(/^[0-9a-f]{64}$/) }] });
	});

	test("restores nothing if the user cancels a question, and can be called again", async () => {
		let answer: string | null = null;
		const started = await startInRepository({ ui: { select: async () => answer as never } });
		const file = (name: string) => readFileSync(join(started.cwd, name), "utf8");
		await run(started, write("a.txt", "model\n"), write("b.txt", "model\n"));
		writeFileSync(join(started.cwd, "b.txt"), "user\n");
		expect(await undo(started)).toEqual([
			"Undo",
			"left a.txt: the undo was canceled",
			"left b.txt: the undo was canceled",
			END,
		]);
		expect([file("a.txt"), file("b.txt")]).toEqual(["model\n", "user\n"]);
		answer = "Leave it";
		expect(await undo(started)).toEqual(["Undo", "restored a.txt", "left b.txt: it changed since", END]);
	});

	test("leaves a changed file where nobody can be asked, and restores it later", async () => {
		const started = await startInRepository();
		const file = join(started.cwd, "a.txt");
		await run(started, write("a.txt", "model\n"));
		writeFileSync(file, "user\n");
		expect(await undo(started)).toContain("left a.txt: it changed since, and nobody can be asked");
		writeFileSync(file, "model\n");
		expect(await undo(started)).toContain("restored a.txt");
		expect(readFileSync(file, "utf8")).toBe("committed\n");
	});

	test("works without git, where it says that changes of commands are unknown", async () => {
		const started = await startSession({ files: { "a.txt": "old\n" } });
		await run(started, write("a.txt", "new\n"), bash("echo x > b.txt"));
		expect(await undo(started)).toEqual([
			"Undo",
			"restored a.txt",
			"Changes of shell commands are unknown: the working directory is not in a git repository",
			END,
		]);
		expect(readFileSync(join(started.cwd, "a.txt"), "utf8")).toBe("old\n");
		await run(started, bash("echo y >> b.txt"));
		expect(await undo(started)).toEqual([
			"Undo",
			"Changes of shell commands are unknown: the working directory is not in a git repository",
			END,
		]);
	});

	test("restores what a checkout, a commit and a stash changed", async () => {
		const started = await startInRepository();
		const { cwd } = started;
		const file = join(cwd, "a.txt");
		writeFileSync(file, "dirty\n");
		await run(started, bash("git stash -q"));
		expect(readFileSync(file, "utf8")).toBe("committed\n");
		await undo(started);
		expect(readFileSync(file, "utf8")).toBe("dirty\n");
		git(cwd, "checkout", "-q", "a.txt");
		await run(started, bash("echo next > a.txt; git -c user.name=a -c user.email=a@b commit -qam next"));
		expect(await undo(started)).toContain("restored a.txt");
		expect(readFileSync(file, "utf8")).toBe("committed\n");
	});

	test("restores an executable file as executable, and does not delete files that were ignored", async () => {
		const started = await startInRepository({ files: { "old.log": "log\n" } });
		const { cwd } = started;
		writeFileSync(join(cwd, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
		commit(cwd);
		// So that the file is older than the command by more than the clocks of a file system differ.
		await expect.poll(() => Date.now() - statSync(join(cwd, "old.log")).ctimeMs).toBeGreaterThan(60);
		await run(started, bash("rm run.sh .gitignore"));
		await undo(started);
		expect(statSync(join(cwd, "run.sh")).mode & 0o111).not.toBe(0);
		expect(readFileSync(join(cwd, "old.log"), "utf8")).toBe("log\n");
	});

	test("records nothing when the setting is off", async () => {
		const started = await startInRepository({ userSettings: { undo: { enabled: false } } });
		await run(started, write("a.txt", "new\n"));
		expect(await undo(started)).toEqual(["There are no changes to undo"]);
	});

	test("runs neither the file system monitor nor the filters of a repository, nor writes its index", async () => {
		const started = await startInRepository();
		const { cwd } = started;
		git(cwd, "config", "core.fsmonitor", `touch ${join(cwd, "ran")}; false`);
		const index = readFileSync(join(cwd, ".git/index"));
		writeFileSync(join(cwd, "a.txt"), "committed\n"); // other times, same content
		await run(started, bash("true"));
		git(cwd, "config", "filter.own.clean", `touch ${join(cwd, "ran")}; cat`);
		writeFileSync(join(cwd, ".git/info/attributes"), "* filter=own\n");
		writeFileSync(join(cwd, "a.txt"), "committed\n");
		await run(started, bash("true"));
		expect(existsSync(join(cwd, "ran"))).toBe(false);
		expect(readFileSync(join(cwd, ".git/index")).equals(index)).toBe(true);
	});
});

describe("kept contents", () => {
	test("are private, belong to a branch too, and are deleted with the session", async () => {
		const started = await startInRepository({ session: { kind: "new" } });
		const { session, cwd } = started;
		await run(started, write("a.txt", "one\n"));
		await run(started, ["ls", {}]);
		const source = session.sessionFile ?? "";
		expect(statSync(fileContentsDir(source)).mode & 0o777).toBe(0o700);
		const last = session.branchTargets().at(-1)?.entryIndex ?? -1;
		await session.branch(last);
		expect(session.sessionFile).not.toBe(source);
		removeSession(source);
		expect(existsSync(fileContentsDir(source))).toBe(false);
		expect(await undo(started)).toContain("restored a.txt");
		expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("committed\n");
	});

	test("that are gone are reported", async () => {
		const started = await startInRepository({ session: { kind: "new" } });
		await run(started, write("a.txt", "one\n"));
		rmSync(fileContentsDir(started.session.sessionFile ?? ""), { recursive: true });
		expect(await undo(started)).toContain("left a.txt: its earlier content is no longer kept");
	});
});

test("ctx.undo restores a range of entries", async () => {
	const hook = `import { changedFiles } from "@mariozechner/pi-coding-agent/hooks";
export default (pi) => pi.command("back", { async handler(ctx) {
	const range = { from: 0, to: ctx.entries.length };
	const { restored } = await ctx.undo(range);
	return { status: restored.length + " restored, " + changedFiles(ctx.entries, range).length + " left" };
} });`;
	const started = await startInRepository({ hooks: { "back.ts": hook } });
	await run(started, write("a.txt", "one\n"));
	await run(started, write("b.txt", "two\n"));
	expect(await started.session.prompt("/back")).toMatchObject({ status: "2 restored, 0 left" });
	expect(changedFiles(started.session.entries, { from: 0, to: 1000 })).toEqual([]);
});

const FILES = ["a.txt", "b.txt", "dir/c.txt"];

/** What the model or somebody else does to one of three files. */
const step = fc.record({
	by: fc.constantFrom("write", "edit", "bash", "delete", "user"),
	file: fc.constantFrom(...FILES),
	text: fc.constantFrom("x\n", "y\r\n", "z", ""),
});

test("the undo of all prompts restores the bytes of the beginning", { timeout: 120_000 }, async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
			async (prompts) => {
				const started = await startInRepository({
					files: { "b.txt": "untracked\n" },
					ui: { select: async () => "Restore it anyway" as never },
				});
				const { cwd } = started;
				const contentOf = (file: string) =>
					existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), "utf8") : null;
				const state = () => FILES.map(contentOf);
				const atFirst = state();
				/** Files that the model has changed, so that an undo restores them whatever the user does to them. */
				const changed = new Set<string>();
				for (const steps of prompts) {
					for (const { by, file, text } of steps) {
						if (by === "user" && changed.has(file) && existsSync(join(cwd, file, "..")))
							writeFileSync(join(cwd, file), text);
					}
					const calls = steps.flatMap(({ by, file, text }): [string, Record<string, unknown>][] => {
						if (by === "user") return [];
						if (by === "write") return [write(file, text)];
						if (by === "edit") return [["edit", { path: file, oldText: "t", newText: `[${text}]`, replaceAll: true }]];
						if (by === "delete") return [bash(`rm -f ${file}`)];
						return [bash(`mkdir -p dir; printf '%s' '${text}more' >> ${file}`)];
					});
					const before = state();
					await run(started, ...calls);
					for (const [at, content] of state().entries()) if (content !== before[at]) changed.add(FILES[at] ?? "");
				}
				for (let left = prompts.length + 1; left > 0; left--) await undo(started);
				expect(state()).toEqual(atFirst);
				await started.session.dispose();
			},
		),
		{ numRuns: 12 },
	);
});
