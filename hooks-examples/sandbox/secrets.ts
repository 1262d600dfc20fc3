import { delimiter, isAbsolute, join } from "node:path";
import { agentDir } from "@mariozechner/pi-coding-agent/hooks";
import { canRead, distinct, realPath, startingWith, words } from "./files.js";

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
	GNUPGHOME AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_WEB_IDENTITY_TOKEN_FILE AZURE_CONFIG_DIR
	CLAUDE_CONFIG_DIR CLOUDSDK_CONFIG CODEX_HOME DOCKER_CONFIG GH_CONFIG_DIR GOOGLE_APPLICATION_CREDENTIALS KUBECONFIG NETRC
	NPM_CONFIG_USERCONFIG PASSWORD_STORE_DIR PGPASSFILE REGISTRY_AUTH_FILE SSH_AUTH_SOCK XAUTHORITY
`;

/** What is known before a sandbox starts; all paths are real paths. */
export interface SandboxFacts {
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

/** What a sandbox is started with. */
export interface SandboxSetup extends SandboxFacts {
	/** A private directory with `tmp`, the temporary directory of the sandbox, `hidden-file` and `hidden-dir`. */
	state: string;
	/** The directory of pi's ripgrep, which programs in the sandbox can read; null for a copy of the hook without pi's packages. */
	ripgrep: string | null;
}

/** Paths with secrets, whether or not they exist. */
export function secretPaths({ env, homes, sessionDir }: SandboxFacts): string[] {
	const named = SECRET_PATH_VARIABLES.flatMap((name) => (env[name] ?? "").split(delimiter)).filter(isAbsolute);
	const moved = MOVED_DIRS.flatMap(([dir, name]) => {
		const chosen = env[name] ?? "";
		const below = HOME_SECRETS.filter((path) => path.startsWith(`${dir}/`));
		return isAbsolute(chosen) ? below.map((path) => join(chosen, path.slice(dir.length))) : [];
	});
	const inHomes = homes.flatMap((home) => HOME_SECRETS.map((path) => join(home, path)));
	return [
		...inHomes,
		agentDir(env, homes[0]),
		...moved,
		...named,
		...systemSecrets(),
		...(sessionDir === null ? [] : [sessionDir]),
	];
}

/** Secrets of the system that this user can read: none, unless it is root. */
export function systemSecrets(): string[] {
	return SYSTEM_SECRETS.flatMap((path) => (path.endsWith("*") ? startingWith(path.slice(0, -1)) : [path])).filter(
		(path) => !path.endsWith(".pub") && canRead(path),
	);
}

/** Directories of the home directory that a variable can replace. */
const MOVED_DIRS = [
	[".config", "XDG_CONFIG_HOME"],
	[".local/share", "XDG_DATA_HOME"],
	[".cargo", "CARGO_HOME"],
] as const;

export function agentDirs(env: NodeJS.ProcessEnv, homes: readonly string[]): string[] {
	return distinct([...homes.map((home) => join(home, ".pi", "agent")), agentDir(env, homes[0])].map(realPath));
}
