import { delimiter, join } from "node:path";
import { words } from "./files.js";
import type { SandboxSetup } from "./secrets.js";

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

/** The environment of programs in the sandbox. */
export function sandboxEnvironment({ env, platform, state, hasNetwork, ripgrep }: SandboxSetup): NodeJS.ProcessEnv {
	const isPassed = (name: string, value: string) =>
		VARIABLES.has(name) || name.startsWith("LC_") || (hasNetwork && PROXY_VARIABLES.has(name) && !value.includes("@"));
	return {
		...Object.fromEntries(Object.entries(env).filter(([name, value = ""]) => isPassed(name, value))),
		PATH: [env.PATH ?? "/usr/bin:/bin", ...(ripgrep === null ? [] : [ripgrep])].join(delimiter),
		TMPDIR: platform === "darwin" ? join(state, "tmp") : "/tmp",
	};
}
