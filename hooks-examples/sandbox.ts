/**
 * `pi --on sandbox:` runs tools and `!` commands in a sandbox: bubblewrap on Linux, sandbox-exec on macOS. They can write to
 * the working directory and a temporary directory of their own, and read the rest without your credentials. They have no
 * network unless you add `--sandbox-net`. pi itself, its requests to the model and hooks are outside. See docs/hosts.md.
 *
 * A program in the sandbox must not influence what runs outside: paths are resolved again for each command, programs are
 * started by absolute paths that it cannot write, and bubblewrap itself gets an empty environment.
 */
import { type StdioOptions, spawn } from "node:child_process";
import {
	accessSync,
	closeSync,
	constants,
	lstatSync,
	openSync,
	readdirSync,
	readFileSync,
	realpathSync,
	type Stats,
	statSync,
} from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { PiError } from "@mariozechner/pi-coding-agent";
import type {
	HookAPI,
	ShellEngine,
	ToolHost,
	ToolHostContext,
	ToolHostSpec,
} from "@mariozechner/pi-coding-agent/hooks";

/** Files and directories in the home directory that the sandbox hides. */
const HOME_SECRETS = words`
	.ssh .aws .gnupg .azure .kube .docker .oci .fly .cloudflared .ngrok2 .snowflake .kaggle .password-store .1password .age
	.config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/rclone .config/doctl .config/hcloud .config/heroku
	.config/stripe .config/ngrok .config/sops .config/.wrangler .config/git/credentials .config/containers/auth.json
	.config/composer/auth.json .config/pip/pip.conf .config/github-copilot .config/filezilla .config/Slack .config/discord
	.config/Signal .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .mozilla .thunderbird
	.var/app snap/firefox snap/chromium .local/share/keyrings .local/share/kwalletd .local/share/opencode .local/share/TelegramDesktop
	.claude .claude.json .codex .gemini .pi/agent .netrc .npmrc .yarnrc .yarnrc.yml .pypirc .git-credentials .vault-token
	.terraformrc .terraform.d/credentials.tfrc.json .cargo/credentials .cargo/credentials.toml .gem/credentials
	.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .composer/auth.json .nuget/NuGet/NuGet.Config
	.s3cfg .boto .pgpass .my.cnf .databrickscfg .cache/huggingface/token .huggingface/token .bitcoin .electrum .ethereum
	.bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history .psql_history .mysql_history
	.Xauthority .ICEauthority Library/Keychains Library/Cookies Library/Safari Library/Messages Library/Mail
	Library/Application%Support/Google/Chrome Library/Application%Support/Firefox Library/Application%Support/BraveSoftware
`.map((path) => path.replaceAll("%", " "));

/** Secrets of the system, which are hidden if the user can read them; a name that ends with `*` is the start of names. */
const SYSTEM_SECRETS = words`
	/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/ssh/ssh_host_*
	/etc/krb5.keytab /etc/wireguard /etc/NetworkManager/system-connections
`;

/** Environment variables that name files or directories with secrets. */
const SECRET_PATH_VARIABLES = words`
	PI_CODING_AGENT_DIR GNUPGHOME AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_WEB_IDENTITY_TOKEN_FILE AZURE_CONFIG_DIR
	CLAUDE_CONFIG_DIR CLOUDSDK_CONFIG CODEX_HOME DOCKER_CONFIG GH_CONFIG_DIR GOOGLE_APPLICATION_CREDENTIALS KUBECONFIG NETRC
	NPM_CONFIG_USERCONFIG PASSWORD_STORE_DIR PGPASSFILE REGISTRY_AUTH_FILE SSH_AUTH_SOCK XAUTHORITY
`;

/** Environment variables that programs in the sandbox receive. All others stay outside: any of them could be a secret. */
const VARIABLES = new Set(words`
	PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR EDITOR VISUAL PAGER CI
	GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
	NODE_ENV NODE_PATH NODE_EXTRA_CA_CERTS NVM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR
	PYTHONPATH PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV RBENV_ROOT GEM_HOME GEM_PATH
	JAVA_HOME MAVEN_HOME GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT
	GOPATH GOROOT GOBIN CARGO_HOME RUSTUP_HOME RUSTFLAGS LD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH
	CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS SSL_CERT_FILE SSL_CERT_DIR NIX_PATH NIX_SSL_CERT_FILE
	XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_DIRS
`);
const PROXY_VARIABLES = new Set(
	words`http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY`,
);

/** Directories of sockets and temporary files of other programs, which the sandbox replaces. */
const TEMP_DIRS = ["/tmp", "/var/tmp"];
const RUN_DIRS = ["/run", "/var/run"];
/** What programs need from /run: the system on NixOS, drivers, and the file to which /etc/resolv.conf may link. */
const RUN_NEEDS = ["/run/current-system", "/run/opengl-driver", "/etc/resolv.conf"];
/** Directories in which nothing may be writable, because programs outside use what they contain. */
const SYSTEM_DIRS = words`/bin /boot /dev /etc /lib /lib32 /lib64 /proc /run /sbin /sys /usr/bin /usr/lib /usr/sbin`;

/** In the flags of /proc/self/fdinfo: a file that programs do not inherit. */
const O_CLOEXEC = 0o2000000;

/** pi removes directories of sandboxes whose pi was killed after this time. */
const STALE_MS = 24 * 60 * 60 * 1000;

export default function sandbox(pi: HookAPI): void {
	pi.flag("sandbox-net", { type: "boolean", description: "let the sandbox of --on sandbox: use the network" });
	pi.toolHost("sandbox", openSandbox);
}

async function openSandbox({ rest, text }: ToolHostSpec, ctx: ToolHostContext): Promise<ToolHost> {
	if (rest !== "") {
		throw new PiError("bad_arguments", `The host ${text} has an address, but a sandbox is on this machine`, {
			hint: "use --on sandbox:",
		});
	}
	const cwd = realpathSync(ctx.cwd);
	const surroundings = {
		platform: process.platform,
		cwd,
		// A program that pi starts with another HOME can still find the one of the user's account.
		homes: distinct([homedir(), userInfo().homedir].map(realPath)),
		env: process.env,
		sessionDir: ctx.sessionFile === null ? null : realPath(dirname(ctx.sessionFile)),
		hasNetwork: ctx.flags["sandbox-net"] === true,
		hasGit: exists(join(cwd, ".git")),
	};
	checkDirectory(surroundings);
	const program = findEngine(surroundings);
	const engine = createEngine(program, { ...surroundings, state: await makeState(cwd) }, await findRipgrep());
	try {
		return await ctx.shellHost(engine, { cwd, signal: ctx.signal });
	} catch (error) {
		await engine.dispose?.();
		ctx.signal.throwIfAborted();
		const reason = error instanceof Error ? error.message : String(error);
		throw new PiError("host_unreachable", `The sandbox does not work here, and pi runs nothing outside it: ${reason}`, {
			cause: error,
			hint: namespaceHint(),
		});
	}
}

/** What surrounds a sandbox; all paths are real paths. */
interface Surroundings {
	platform: NodeJS.Platform;
	cwd: string;
	/** Home directories: the first is that of the environment. */
	homes: readonly string[];
	env: NodeJS.ProcessEnv;
	/** Directory of the session file; null if there is none. */
	sessionDir: string | null;
	hasNetwork: boolean;
	/** True if the working directory was that of a repository or work tree when the sandbox started. */
	hasGit: boolean;
}

/** A sandbox and its surroundings. */
interface SandboxPlace extends Surroundings {
	/** A private directory with `tmp`, the temporary directory of the sandbox, `hidden-file` and `hidden-dir`. */
	state: string;
}

/** Refuses a working directory that would let programs out of the sandbox. @throws PiError `bad_arguments` */
function checkDirectory(surroundings: Surroundings): void {
	const { cwd, homes } = surroundings;
	const reason = () => {
		if (homes.some((home) => contains(cwd, home))) return "shells run files of your home directory";
		const system = SYSTEM_DIRS.find((dir) => contains(cwd, dir) || contains(realPath(dir), cwd));
		if (system) return `programs outside use ${system}`;
		if (TEMP_DIRS.some((dir) => contains(cwd, realPath(dir)))) return "other programs keep sockets and files there";
		const secret = secretPaths({ ...surroundings, sessionDir: null }).find((path) => contains(realPath(path), cwd));
		if (secret) return `the sandbox hides ${secret}`;
		if (lstatSync(join(cwd, ".git"), { throwIfNoEntry: false })?.isSymbolicLink()) return "its .git is a link";
		return null;
	};
	const problem = reason();
	if (problem === null) return;
	throw new PiError("bad_arguments", `The sandbox cannot make ${cwd} writable: ${problem}`, {
		hint: "start pi in the directory of a project",
	});
}

/**
 * Finds the program that makes the sandbox.
 * @throws PiError `host_unreachable` if it is missing
 */
function findEngine({ platform, env, cwd }: Surroundings): string {
	if (platform === "darwin") return "/usr/bin/sandbox-exec";
	if (platform !== "linux") {
		throw new PiError("host_unreachable", `There is no sandbox for ${platform}, and pi runs nothing outside it`, {
			hint: "use --on ssh://, docker: or podman:, or start pi without --on sandbox:",
		});
	}
	for (const dir of (env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
		const path = realPath(join(dir, "bwrap"));
		// A program that the sandbox could have written must not make the next sandbox.
		if (isFile(path) && ![cwd, ...TEMP_DIRS].some((writable) => contains(writable, path))) return path;
	}
	throw new PiError(
		"host_unreachable",
		"The sandbox needs bubblewrap: there is no bwrap in PATH, and pi runs nothing outside it",
		{
			hint: "install the package bubblewrap",
		},
	);
}

/** How to make user namespaces available, from the settings of the kernel. */
function namespaceHint(): string {
	if (process.platform !== "linux") return "see docs/hosts.md";
	const setting = (name: string) => readText(`/proc/sys/${name}`).trim();
	if (setting("kernel/unprivileged_userns_clone") === "0") return "sysctl -w kernel.unprivileged_userns_clone=1";
	if (setting("user/max_user_namespaces") === "0") return "sysctl -w user.max_user_namespaces=15000";
	if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1") {
		return "AppArmor allows user namespaces only with a profile for bwrap; see docs/hosts.md";
	}
	return "see docs/hosts.md; a container needs permission to create user namespaces";
}

function createEngine(program: string, place: SandboxPlace, ripgrep: string | null): ShellEngine {
	const env = sandboxEnvironment(place, ripgrep);
	if (place.platform === "darwin") {
		return {
			name: "sandbox",
			note: describeSandbox(place),
			sharesFiles: true,
			spawn: (command) =>
				spawn(program, ["-p", seatbeltProfile(place), ...command], { cwd: place.cwd, env, detached: true }),
			dispose: () => removeState(place.state),
		};
	}
	const knownSockets = openSockets();
	const inherited = inheritedFiles();
	return {
		name: "sandbox",
		note: describeSandbox(place),
		sharesFiles: true,
		spawn(command) {
			const nothing = openSync("/dev/null", "r+");
			const stdio: StdioOptions = ["pipe", "pipe", "pipe"];
			for (let fd = 3; fd <= Math.max(0, ...inherited); fd++) stdio.push(inherited.includes(fd) ? nothing : "ignore");
			// bubblewrap starts outside: a variable such as LD_LIBRARY_PATH must not make it load a file of the project.
			const options = { cwd: "/", env: {}, detached: true, stdio };
			const child = spawn(program, bubblewrapArguments(place, env, knownSockets, command), options);
			closeSync(nothing);
			const { stdin, stdout, stderr } = child;
			if (!stdin || !stdout || !stderr) throw new Error(`${program} could not be started`);
			return Object.assign(child, { stdin, stdout, stderr });
		},
		dispose: () => removeState(place.state),
	};
}

/** Files that pi has inherited and that its children would inherit, too: such as one that a script opened before it started pi. */
function inheritedFiles(): number[] {
	const isKept = (fd: number) =>
		(Number.parseInt(/^flags:\s*(\d+)/m.exec(readText(`/proc/self/fdinfo/${fd}`))?.[1] ?? "0", 8) & O_CLOEXEC) === 0;
	return readdirSync("/proc/self/fd")
		.map(Number)
		.filter((fd) => fd > 2 && exists(`/proc/self/fd/${fd}`) && isKept(fd));
}

/** The sentence of the system prompt. */
function describeSandbox({ cwd, hasNetwork }: SandboxPlace): string {
	const network = hasNetwork
		? "The network is available."
		: "There is no network, and each command has processes and a loopback interface of its own.";
	return (
		`Tools and commands run in a sandbox: they can write only to ${cwd} (except .git) and to the temporary directory, ` +
		`and credentials are hidden. ${network} ` +
		"If this makes a task impossible, tell the user instead of looking for a way around it."
	);
}

/** The arguments of bwrap for a command. The file system changes, so that they are computed for each command. */
export function bubblewrapArguments(
	place: SandboxPlace,
	env: NodeJS.ProcessEnv,
	knownSockets: readonly string[],
	command: readonly string[],
): string[] {
	const { cwd, homes, state, hasNetwork, hasGit } = place;
	const temp = join(state, "tmp");
	const temps = distinct(TEMP_DIRS.map(realPath).filter(exists));
	const runs = distinct(RUN_DIRS.map(realPath).filter(exists));
	const git = join(cwd, ".git");
	const isReplaced = (path: string) => [...temps, ...runs].some((dir) => contains(dir, path));
	const hidden = hiddenPaths(place, knownSockets, isReplaced);
	return [
		// Namespaces of its own: no process, socket or shared memory of others. No terminal, no capability, and no new ones.
		...["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--cap-drop", "ALL"],
		...["--new-session", "--die-with-parent"],
		...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
		// Root could change the kernel there even without capabilities, such as the program that it starts for a crash.
		...(process.getuid?.() === 0 ? ["--remount-ro", "/proc"] : []),
		...runs.flatMap((dir) => ["--tmpfs", dir]),
		...distinct(
			RUN_NEEDS.map(realPath).filter((path) => exists(path) && runs.some((dir) => contains(dir, path))),
		).flatMap((path) => ["--ro-bind", path, path]),
		...runs.flatMap((dir) => ["--remount-ro", dir]),
		...temps.flatMap((dir) => ["--bind", temp, dir]),
		...homes.filter(isReplaced).flatMap((home) => ["--ro-bind", home, home]),
		...["--bind", cwd, cwd],
		// A directory that contains a mount can be renamed, and the next command would find other files there: a mount cannot.
		...distinct(hidden.flatMap((path) => directoriesBetween(cwd, path))).flatMap((dir) => ["--bind", dir, dir]),
		// git runs hooks and commands of its configuration, also when the user or pi only asks for the state of the repository.
		...(hasGit && exists(git) ? ["--ro-bind", git, git] : []),
		...hidden.flatMap((path) => hide(path, place)),
		...Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
		...["--chdir", cwd, "--", "setsid", ...command],
	];
}

/** Arguments of bwrap that hide a path. The model may read the skills in the agent directory. */
function hide(path: string, { env, homes, state }: SandboxPlace): string[] {
	if (!isDirectory(path)) return ["--ro-bind", join(state, "hidden-file"), path];
	const skills = realPath(join(path, "skills"));
	if (!agentDirs(env, homes).includes(path) || !isDirectory(skills)) {
		return ["--ro-bind", join(state, "hidden-dir"), path];
	}
	return ["--tmpfs", path, "--ro-bind", skills, join(path, "skills"), "--remount-ro", path];
}

/** Real paths that exist and that the sandbox hides; none is in another. */
function hiddenPaths(
	place: SandboxPlace,
	knownSockets: readonly string[],
	isReplaced: (path: string) => boolean,
): string[] {
	const { cwd, homes } = place;
	// A socket that can only be read can be used. Those that programs in the sandbox have made in the project remain.
	const sockets = openSockets().filter((path) => !contains(cwd, path) || knownSockets.includes(path));
	// Most do not exist: a check is cheaper than the real path.
	const paths = distinct([...secretPaths(place), ...sockets].filter(exists).map(realPath)).filter(
		(path) =>
			exists(path) && !contains(path, cwd) && (!isReplaced(path) || [cwd, ...homes].some((dir) => contains(dir, path))),
	);
	return paths.filter((path) => !paths.some((other) => other !== path && contains(other, path)));
}

/** Paths with secrets, whether or not they exist. */
function secretPaths({ env, homes, sessionDir }: Surroundings): string[] {
	const named = SECRET_PATH_VARIABLES.flatMap((name) => (env[name] ?? "").split(delimiter)).filter(isAbsolute);
	const system = SYSTEM_SECRETS.flatMap((path) =>
		path.endsWith("*") ? startingWith(path.slice(0, -1)) : [path],
	).filter((path) => !path.endsWith(".pub") && canRead(path));
	const moved = MOVED_DIRS.flatMap(([dir, name]) => {
		const chosen = env[name] ?? "";
		const below = HOME_SECRETS.filter((path) => path.startsWith(`${dir}/`));
		return isAbsolute(chosen) ? below.map((path) => join(chosen, path.slice(dir.length))) : [];
	});
	const inHomes = homes.flatMap((home) => HOME_SECRETS.map((path) => join(home, path)));
	return [...inHomes, ...moved, ...named, ...system, ...(sessionDir === null ? [] : [sessionDir])];
}

/** Directories of the home directory that a variable can replace. */
const MOVED_DIRS = [
	[".config", "XDG_CONFIG_HOME"],
	[".local/share", "XDG_DATA_HOME"],
	[".cargo", "CARGO_HOME"],
] as const;

function agentDirs(env: NodeJS.ProcessEnv, homes: readonly string[]): string[] {
	const chosen = env.PI_CODING_AGENT_DIR?.trim();
	return [...homes.map((home) => join(home, ".pi", "agent")), ...(chosen ? [resolve(chosen)] : [])].map(realPath);
}

/** Paths of the sockets that are open in the network namespace of pi. */
function openSockets(): string[] {
	return readText("/proc/net/unix")
		.split("\n")
		.flatMap((line) => / (\/.*)$/.exec(line)?.[1] ?? []);
}

/** The profile of sandbox-exec, which allows nothing that it does not name; of several rules that match, the last counts. */
export function seatbeltProfile(place: SandboxPlace): string {
	const { cwd, state, hasNetwork, hasGit } = place;
	const subpaths = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(" ");
	const secrets = distinct(secretPaths(place).flatMap((path) => [path, realPath(path)])).filter(
		(path) => !contains(path, cwd),
	);
	const skills = agentDirs(place.env, place.homes).map((dir) => join(dir, "skills"));
	return [
		"(version 1)",
		"(deny default)",
		"(allow process-exec process-fork sysctl-read ipc-posix-sem)",
		"(allow signal process-info* (target same-sandbox))",
		`(allow mach-lookup ${MACH_SERVICES.map((name) => `(global-name "${name}")`).join(" ")})`,
		"(allow file-read*)",
		`(allow file-write* ${subpaths([cwd, join(state, "tmp")])})`,
		'(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/fd/"))',
		...(hasGit ? [`(deny file-write* ${subpaths([join(cwd, ".git")])})`] : []),
		`(deny file-read* file-write* ${subpaths(secrets)})`,
		`(allow file-read* ${subpaths(skills)})`,
		...secrets
			.flatMap((path) => directoriesBetween(cwd, path))
			.map((dir) => `(deny file-write* (literal ${JSON.stringify(dir)}))`),
		...(hasNetwork
			? [
					'(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))',
					'(allow network-bind network-inbound (local ip "*:*"))',
					"(allow system-socket)",
				]
			: []),
	].join("\n");
}

/** Services of macOS that most programs need, such as for names of users. None of them starts programs. */
const MACH_SERVICES = words`
	com.apple.system.opendirectoryd.libinfo com.apple.system.opendirectoryd.membership com.apple.bsd.dirhelper
	com.apple.system.notification_center com.apple.system.logger com.apple.SystemConfiguration.configd com.apple.trustd.agent
`;

/** The directory of pi's ripgrep, which programs in the sandbox can read; null for a copy of this file without pi's packages. */
async function findRipgrep(): Promise<string | null> {
	try {
		const { rgPath } = await import("@vscode/ripgrep");
		return dirname(rgPath);
	} catch {
		return null;
	}
}

/** The environment of programs in the sandbox. */
function sandboxEnvironment(
	{ env, platform, state, hasNetwork }: SandboxPlace,
	ripgrep: string | null,
): NodeJS.ProcessEnv {
	const isPassed = (name: string, value: string) =>
		VARIABLES.has(name) || name.startsWith("LC_") || (hasNetwork && PROXY_VARIABLES.has(name) && !value.includes("@"));
	return {
		...Object.fromEntries(Object.entries(env).filter(([name, value = ""]) => isPassed(name, value))),
		PATH: [env.PATH ?? "/usr/bin:/bin", ...(ripgrep === null ? [] : [ripgrep])].join(delimiter),
		TMPDIR: platform === "darwin" ? join(state, "tmp") : "/tmp",
	};
}

/** Makes a private directory that no program in the sandbox can write to, except for its `tmp`. */
async function makeState(cwd: string): Promise<string> {
	const base = [tmpdir(), ...TEMP_DIRS].map(realPath).find((dir) => !contains(cwd, dir)) ?? "/tmp";
	await removeStale(base);
	const state = await mkdtemp(join(base, `pi-sandbox-${process.pid}-`));
	await Promise.all([
		mkdir(join(state, "tmp"), { mode: 0o700 }),
		mkdir(join(state, "hidden-dir")).then(() => chmod(join(state, "hidden-dir"), 0)),
		writeFile(join(state, "hidden-file"), "", { mode: 0 }),
	]);
	return state;
}

async function removeState(state: string): Promise<void> {
	await rm(state, { recursive: true, force: true, maxRetries: 3 }).catch(() => {
		// Files of a directory without permissions remain, as in any temporary directory.
	});
}

/** Removes the directories of sandboxes whose pi was killed. */
async function removeStale(base: string): Promise<void> {
	for (const name of await readdir(base)) {
		const pid = Number(/^pi-sandbox-(\d+)-/.exec(name)?.[1]);
		if (!pid) continue;
		const path = join(base, name);
		const found = kindOf(path);
		// The age is for a process of another container with the same temporary directory.
		if (found?.uid !== userInfo().uid || Date.now() - found.mtimeMs < STALE_MS || isRunning(pid)) continue;
		await removeState(path);
	}
}

function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}

/** The directories between two, outermost first, without both. */
function directoriesBetween(outer: string, inner: string): string[] {
	const dirs: string[] = [];
	for (let dir = dirname(inner); contains(outer, dir) && dir !== outer; dir = dirname(dir)) dirs.unshift(dir);
	return dirs;
}

function contains(dir: string, path: string): boolean {
	return path === dir || path.startsWith(dir.endsWith("/") ? dir : `${dir}/`);
}

/** The real path of what exists, else the path. */
function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

function exists(path: string): boolean {
	return kindOf(path) !== null;
}

function canRead(path: string): boolean {
	try {
		accessSync(path, constants.R_OK);
		return true;
	} catch {
		return false;
	}
}

function isDirectory(path: string): boolean {
	return kindOf(path)?.isDirectory() === true;
}

function isFile(path: string): boolean {
	return kindOf(path)?.isFile() === true;
}

/** null for what does not exist or what the user cannot reach, and therefore no program in the sandbox either. */
function kindOf(path: string): Stats | null {
	try {
		return statSync(path, { throwIfNoEntry: false }) ?? null;
	} catch {
		return null;
	}
}

/** Paths whose names start with the last part of a path. */
function startingWith(path: string): string[] {
	const dir = dirname(path);
	if (!isDirectory(dir)) return [];
	return readdirSync(dir).flatMap((name) => (join(dir, name).startsWith(path) ? [join(dir, name)] : []));
}

function readText(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}

function distinct(paths: readonly string[]): string[] {
	return [...new Set(paths)];
}

function words([text = ""]: TemplateStringsArray): string[] {
	return text.trim().split(/\s+/);
}
