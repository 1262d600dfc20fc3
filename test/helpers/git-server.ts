import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeRequest, type HttpFault, sendOrFail } from "./http-fault.js";
import { type FileMap, writePackage } from "./package-files.js";
import { listen } from "./proxy.js";
import { tempDir } from "./temp.js";

const run = promisify(execFile);

/** A repository that the server offers. */
export interface GitRepository {
	/** Its address, such as `http://127.0.0.1:1234/demo.git`. */
	readonly url: string;
	/**
	 * Commits files on a branch, which is created from the last commit if it does not exist.
	 * @param files all files of the commit: those that are missing here are deleted
	 * @returns the id of the commit, 40 hexadecimal digits
	 */
	commit(files: FileMap, branch?: string): Promise<string>;
	/** Tags the last commit, or moves the tag there. */
	tag(name: string): Promise<void>;
	/** Replaces all commits of a branch by one, as a forced push does. @returns the id of the commit */
	rewrite(files: FileMap, branch?: string): Promise<string>;
	/** Makes all requests for the repository fail; undefined: no longer. */
	fail(fault: HttpFault | undefined): void;
}

/** A server of git repositories on loopback, which the real `git` reaches over http, to push as well. */
export interface GitServer {
	readonly url: string;
	/** Added to an environment, makes git ignore the configuration of the machine. */
	readonly env: Readonly<Record<string, string>>;
	/** Requests so far, such as `GET /demo.git/info/refs?service=git-upload-pack`. */
	readonly requests: string[];
	/** Creates a repository whose default branch is `main`. @param name may contain slashes, such as `user/demo` */
	create(name: string): Promise<GitRepository>;
}

/** Starts a server without repositories for the running test. Its commits have fixed authors and dates. */
export async function startGitServer(): Promise<GitServer> {
	const root = tempDir("pi-git-");
	const repositories = join(root, "repositories");
	const home = join(root, "home");
	for (const dir of [repositories, home]) mkdirSync(dir);
	const env = { HOME: home, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
	const author = { NAME: "Pat", EMAIL: "pat@example.com", DATE: "2026-01-01T00:00:00Z" };
	const identity = Object.entries(author).flatMap(([key, value]) => [
		[`GIT_AUTHOR_${key}`, value],
		[`GIT_COMMITTER_${key}`, value],
	]);
	const own = { PATH: process.env.PATH, ...env, ...Object.fromEntries(identity) };
	const git = async (cwd: string, ...args: string[]) => (await run("git", args, { cwd, env: own })).stdout.trim();

	const requests: string[] = [];
	const faults = new Map<string, HttpFault>();
	const server = createServer((request, response) => {
		requests.push(describeRequest(request));
		const path = request.url ?? "/";
		const [, fault] = [...faults].find(([name]) => path.startsWith(`/${name}/`)) ?? [];
		void sendOrRun(request, response, fault, (body) => runBackend(request, body, { ...own, root: repositories }));
	});
	const url = `http://127.0.0.1:${await listen(server)}`;

	async function create(name: string): Promise<GitRepository> {
		const bare = join(repositories, `${name}.git`);
		await git(root, "init", "--quiet", "--bare", "--initial-branch=main", bare);
		// As the public servers allow it: a commit can be fetched by its id, and without its history or files.
		await git(bare, "config", "uploadpack.allowAnySHA1InWant", "true");
		await git(bare, "config", "uploadpack.allowFilter", "true");
		await git(bare, "config", "http.receivepack", "true");
		const work = join(root, "work", name);
		await git(root, "clone", "--quiet", bare, work);
		const replaceFiles = (files: FileMap) => {
			for (const entry of readdirSync(work)) {
				if (entry !== ".git") rmSync(join(work, entry), { recursive: true });
			}
			writePackage(work, files);
		};
		const commitFiles = async (files: FileMap, branch: string, ...options: string[]) => {
			replaceFiles(files);
			await git(work, "add", "--all", "--force");
			await git(work, "commit", "--quiet", "--allow-empty", "--message", "Change files");
			await git(work, "push", "--quiet", ...options, "origin", `HEAD:refs/heads/${branch}`);
			return git(work, "rev-parse", "HEAD");
		};
		return {
			url: `${url}/${name}.git`,
			async commit(files, branch = "main") {
				const exists = await git(work, "ls-remote", "origin", `refs/heads/${branch}`);
				if (exists) await git(work, "checkout", "--quiet", "--force", "-B", branch, `origin/${branch}`);
				else if (branch !== "main") await git(work, "checkout", "--quiet", "--force", "-b", branch);
				return commitFiles(files, branch);
			},
			async tag(tag) {
				await git(work, "tag", "--force", tag);
				await git(work, "push", "--quiet", "--force", "origin", `refs/tags/${tag}`);
			},
			async rewrite(files, branch = "main") {
				await git(work, "checkout", "--quiet", "--orphan", "rewritten");
				const id = await commitFiles(files, branch, "--force");
				await git(work, "checkout", "--quiet", "--force", "-B", branch);
				await git(work, "branch", "--quiet", "--delete", "--force", "rewritten");
				return id;
			},
			fail(fault) {
				if (fault) faults.set(`${name}.git`, fault);
				else faults.delete(`${name}.git`);
			},
		};
	}
	return { url, env: { ...env, GIT_TERMINAL_PROMPT: "0" }, requests, create };
}

/** The answer of `git http-backend`. */
interface Answer {
	status: number;
	headers: Record<string, string>;
	body: Buffer;
}

async function sendOrRun(
	request: IncomingMessage,
	response: ServerResponse,
	fault: HttpFault | undefined,
	answer: (body: Buffer) => Promise<Answer>,
): Promise<void> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk);
	const { status, headers, body } = await answer(Buffer.concat(chunks));
	if (fault) return sendOrFail(response, fault, headers["content-type"] ?? "text/plain", body);
	response.writeHead(status, headers).end(body);
}

/** Runs git's own server for one request, as a web server does (CGI). */
async function runBackend(
	{ url = "/", method = "GET", headers }: IncomingMessage,
	body: Buffer,
	{ root, ...env }: NodeJS.ProcessEnv & { root: string },
): Promise<Answer> {
	const { pathname, search } = new URL(url, "http://localhost");
	const child = spawn("git", ["http-backend"], {
		env: {
			...env,
			GIT_PROJECT_ROOT: root,
			GIT_HTTP_EXPORT_ALL: "1",
			PATH_INFO: decodeURIComponent(pathname),
			QUERY_STRING: search.slice(1),
			REQUEST_METHOD: method,
			CONTENT_TYPE: headers["content-type"] ?? "",
			CONTENT_LENGTH: String(body.length),
			HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
			GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
		},
		stdio: ["pipe", "pipe", "ignore"],
	});
	child.stdin.on("error", () => {}); // it does not read the content of a request that it refuses
	child.stdin.end(body);
	const chunks: Buffer[] = [];
	for await (const chunk of child.stdout) chunks.push(chunk);
	const output = Buffer.concat(chunks);
	const end = output.indexOf("\r\n\r\n");
	const lines = output.subarray(0, Math.max(0, end)).toString().split("\r\n");
	const sent = Object.fromEntries(
		lines.map((line): [string, string] => {
			const [name = "", ...value] = line.split(": ");
			return [name.toLowerCase(), value.join(": ")];
		}),
	);
	const { status = "200", ...rest } = sent;
	return { status: end < 0 ? 500 : Number.parseInt(status, 10), headers: rest, body: output.subarray(end + 4) };
}
