import { basename, delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../config/paths.js";

/** Longest text in which words are searched; a longer one is reported. */
export const MAX_TEXT = 20_000;

/** Replaces `${NAME}` and `${NAME:-default}`. @param onVariable receives each; undefined: it has no value */
export function fillVariables(
	text: string,
	env: Environment,
	onVariable: (name: string, value: string | undefined) => void = () => {},
): string {
	let filled = "";
	let from = 0;
	for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", Math.max(at + 2, from))) {
		// Without an end, no variable follows.
		const end = text.indexOf("}", at);
		if (end === -1) break;
		const [, name, fallback] = VARIABLE.exec(text.slice(at + 2, end)) ?? [];
		if (name === undefined) continue;
		const value = env[name] || fallback;
		onVariable(name, value);
		filled += text.slice(from, at) + (value ?? "");
		from = end + 1;
	}
	return filled + text.slice(from);
}

/** What is between the braces. */
const VARIABLE = /^([A-Za-z_]\w*)(?::-(.*))?$/s;

/** Variables as a shell writes them; a default is a value that they may have. */
const SHELL_VARIABLE = /\$(?:\{([A-Za-z_]\w{0,100})(?::?[-=+]([^}]{0,500}))?\}|([A-Za-z_]\w{0,100}))/g;
const COMPUTED = /\$|`|[*?]|\[[^\]]/;

/** Replaces the variables of a shell's text. @returns `isComputed`: the shell computes more of it */
export function fillShellText(text: string, variables: Environment): { text: string; isComputed: boolean } {
	const filled = text.replace(
		SHELL_VARIABLE,
		(written, braced: string, fallback: string | undefined, plain: string) => {
			return variables[braced ?? plain] ?? fallback ?? written;
		},
	);
	return { text: filled, isComputed: COMPUTED.test(filled) };
}

/** The words of a text that a shell, an option or a list of options may contain; too many rather than too few. */
export function wordsOf(text: string): string[] {
	return text.split(/[\s;&|<>()`"'{},]/).filter((word) => word !== "");
}

/** The words in the text of a shell script. The directory of the script is often computed before a path. */
export function wordsOfScript(text: string): string[] {
	return wordsOf(text).map((word) => word.replace(/^\$\w{1,100}(?=\/)/, "").replace(/^\/+/, "./"));
}

/** The paths that a word may name: itself, and the value of an option such as `--config=./a`, `-r./a`, `@a` and `file:///a`. */
export function pathsOf(word: string): string[] {
	const value = word.slice(word.indexOf("=") + 1);
	const found = new Set([word, value]);
	for (const one of [word, value]) {
		if (one.startsWith("file://")) found.add(pathOfUrl(one));
		if (/^-[A-Za-z]/.test(one)) found.add(one.slice(2));
		if (one.startsWith("@")) found.add(one.slice(1));
		if (one.includes(delimiter)) for (const part of one.split(delimiter)) found.add(part);
	}
	found.delete("");
	return [...found];
}

function pathOfUrl(url: string): string {
	try {
		return fileURLToPath(url);
	} catch {
		return "";
	}
}

const INTERPRETERS = new Set(
	(
		"node nodejs bun bunx deno tsx ts-node npx python pythonw pypy ipython uv uvx pipx poetry sh bash dash ash zsh ksh fish " +
		"busybox ruby perl php lua luajit rscript java pwsh powershell osascript tclsh env timeout nice nohup sudo stdbuf xvfb-run " +
		"awk gawk sed groovy scala kotlin julia elixir erl guile racket go"
	).split(" "),
);

/** Whether a program runs a script with any name that follows it. */
export function isInterpreter(program: string): boolean {
	return INTERPRETERS.has(programName(program));
}

/** Whether a program runs a directory by its package.json; programs that run packages take directories as data. */
export function runsDirectories(program: string): boolean {
	return /^(?:node|nodejs|bun|deno|tsx|ts-node)$/.test(programName(program));
}

/** Options of Node whose value is loaded as by an import. */
const LOAD_OPTION = /^(?:-r|--require|--import|--(?:experimental-)?loader|--preload)(?:=|$)/;

/** Whether a word is the value of an option that loads it. @param before the word before */
export function isLoaded(word: string, before: string): boolean {
	return LOAD_OPTION.test(word) || LOAD_OPTION.test(before);
}

/** Whether a program runs Python code. */
export function isPythonProgram(program: string): boolean {
	return /^(?:pythonw?|pypy|ipython|uv|poetry|pipenv|hatch|pdm|pipx|py)$/.test(programName(program));
}

export function isShell(program: string): boolean {
	return /^(?:sh|bash|dash|ash|zsh|ksh|fish|busybox)$/.test(programName(program));
}

/** Files of its directory that a program reads without being told. */
const MANIFESTS: readonly { programs: string; files: string; isFollowed: boolean }[] = [
	{
		programs: "npm pnpm yarn bun",
		// npm start runs server.js if package.json has no script with this name.
		files: "package.json .npmrc .pnpmfile.cjs .yarnrc .yarnrc.yml bunfig.toml server.js",
		isFollowed: true,
	},
	{ programs: "npx pnpx bunx", files: ".npmrc bunfig.toml", isFollowed: true },
	{ programs: "--run", files: "package.json", isFollowed: true },
	{ programs: "--test find xargs parallel", files: "", isFollowed: false },
	{ programs: "ruby perl php lua luajit java julia", files: "", isFollowed: false },
	{ programs: "deno", files: "deno.json deno.jsonc", isFollowed: true },
	{ programs: "uv poetry pipenv hatch pdm", files: "pyproject.toml", isFollowed: true },
	{ programs: "make gmake", files: "GNUmakefile makefile Makefile", isFollowed: false },
	{ programs: "just", files: "justfile Justfile .justfile", isFollowed: false },
	{ programs: "rake", files: "Rakefile", isFollowed: false },
	{ programs: "task", files: "Taskfile.yml Taskfile.yaml", isFollowed: false },
	{ programs: "cargo", files: "Cargo.toml build.rs", isFollowed: false },
	{ programs: "go", files: "go.mod", isFollowed: false },
	{
		programs: "docker podman docker-compose",
		files: "compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile",
		isFollowed: false,
	},
];

/** @returns `isFollowed`: false if what the files let the program run cannot be found */
export function manifestsOf(program: string): { files: string[]; isFollowed: boolean } | null {
	const found = MANIFESTS.find(({ programs }) => programs.split(" ").includes(programName(program)));
	return found ? { files: found.files.split(" ").filter((name) => name !== ""), isFollowed: found.isFollowed } : null;
}

/** Without its directory, version and ending: `python` for `/usr/bin/python3.12`. */
function programName(program: string): string {
	const name = basename(program).toLowerCase();
	if (name.length > 100) return "";
	return name.replace(/\.exe$/, "").replace(/-?[\d.]{1,20}$/, "");
}
