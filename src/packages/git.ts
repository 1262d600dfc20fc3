import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PiError } from "../errors.js";
import { type ProgramOptions, runProgram } from "./run-program.js";

/** Settings that keep git from running anything that the repository brings. */
const SAFE = [
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.attributesFile=/dev/null",
	"protocol.ext.allow=never",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"transfer.fsckObjects=true",
	"gc.auto=0",
	"advice.detachedHead=false",
	"init.defaultBranch=main",
].flatMap((setting) => ["-c", setting]);

const COMMIT = /^[0-9a-f]{7,64}$/i;

/**
 * Fetches one commit of a repository into a directory, without its history, submodules and `.git`.
 * @param url an address that `parseSource` accepted
 * @returns the commit
 * @throws PiError `package_failed` with the reason in one sentence
 */
export async function fetchWithGit(
	{ url, ref }: { url: string; ref?: string },
	dir: string,
	options: Omit<ProgramOptions, "cwd">,
): Promise<string> {
	mkdirSync(dir, { recursive: true, mode: 0o700 });
	const git = (...args: string[]) =>
		runProgram("git", [...SAFE, ...args], {
			...options,
			cwd: dir,
			variables: { GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1", GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file" },
		});
	const run = async (...args: string[]) => {
		const result = await git(...args);
		if (result.code !== 0) throw describeFailure(url, ref, result.stderr);
		return result.stdout.trim();
	};
	await run("init", "--quiet", "--template=", ".");
	await run("remote", "add", "--", "origin", url);
	const shallow = await git(
		"fetch",
		"--quiet",
		"--depth=1",
		"--no-tags",
		"--no-recurse-submodules",
		"origin",
		ref ?? "HEAD",
	);
	if (shallow.code === 0) await run("checkout", "--quiet", "--detach", "FETCH_HEAD");
	else if (ref !== undefined && COMMIT.test(ref)) {
		// A server may not send a commit by its id, and never by a part of it.
		await run("fetch", "--quiet", "--tags", "--no-recurse-submodules", "origin", "+refs/heads/*:refs/remotes/origin/*");
		await run("checkout", "--quiet", "--detach", ref);
	} else throw describeFailure(url, ref, shallow.stderr);
	const commit = await run("rev-parse", "HEAD");
	rmSync(join(dir, ".git"), { recursive: true, force: true });
	return commit;
}

function describeFailure(url: string, ref: string | undefined, stderr: string): PiError {
	const fail = (reason: string, hint: string) =>
		new PiError("package_failed", `Cannot install git:${url}: ${reason}`, { hint });
	if (/couldn't find remote ref|unknown revision|did not match any|bad revision|unable to read tree/i.test(stderr)) {
		return ref === undefined
			? fail("the repository is empty", "check the address")
			: fail(`it has no branch, tag or commit ${ref}`, "check the part after @");
	}
	if (/not found|does not exist|does not appear to be a git repository|404/i.test(stderr)) {
		return fail("there is no such repository, or you have no access", "check the address and your access");
	}
	if (/authentication failed|could not read (?:username|password)|permission denied|403|401/i.test(stderr)) {
		return fail("the server denies access", "set up a credential helper or an SSH key");
	}
	if (
		/could not resolve host|connection refused|timed out|unable to access|network is unreachable|connection reset/i.test(
			stderr,
		)
	) {
		return fail("the server cannot be reached", "check the network and the proxy");
	}
	const line = stderr.split("\n").find((text) => /^(?:fatal|error):/.test(text)) ?? stderr.split("\n")[0] ?? "";
	return fail(`git failed: ${line.replace(/^(?:fatal|error): /, "")}`, "check the address");
}
