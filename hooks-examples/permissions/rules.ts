/**
 * Rules for tool calls. A rule is a tool, or a tool with a pattern for its command or path: `write`, `write(src/*)`,
 * `bash(npm test)`, `bash(git log *)`. `*` stands for any text, `\*` for a star, and ` *` at the end also for nothing.
 */
import type { PermissionAction } from "@mariozechner/pi-coding-agent/hooks";

/** What rules are compared with. */
export interface Call {
	readonly tool: string;
	/** The command, or every form of the path; empty text for other tools. The last one is shown. */
	readonly subjects: readonly string[];
}

/** Strictest first. */
export const ACTIONS = ["deny", "ask", "allow"] as const satisfies readonly PermissionAction[];
/** Characters that let a shell do more than run one program with literal arguments. */
export const SHELL_SYNTAX = /[;&|<>$`\n\r()\\]/;
const RULE = /^([\w-]+)(?:\(([\s\S]+)\))?$/;

/** Programs that read, print or create what their arguments name: no argument makes them run another program or change a file. */
const HARMLESS = new Set(
	"basename cat cmp comm cut date df diff dirname du echo grep head id jq ls md5sum mkdir nl printf pwd readlink realpath rev sha256sum stat tac tail touch tr true uname wc whoami which".split(
		" ",
	),
);
/** Subcommands that run no program that their arguments name; `run` is followed by the name of a script. */
const SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
	cargo: words("build check clippy doc fmt test"),
	docker: words("images logs ps"),
	git: words(
		"add blame branch checkout cherry-pick commit describe diff fetch log ls-files merge mv pull push reflog remote reset restore rev-parse revert rm shortlog show stash status switch tag",
	),
	kubectl: words("describe get logs"),
	npm: words("ls outdated run test view"),
	pnpm: words("ls outdated run test"),
	systemctl: words("status"),
	yarn: words("run test"),
};
/**
 * Long options of these programs that write to a file that they name, or run a program or use a configuration that they name. Programs
 * accept the beginnings of their names, too.
 */
const RISKY_OPTIONS = [
	"config context cwd dir exec ext extcmd git-dir globalconfig host kubeconfig manifest-path no-index node-options",
	"open-files-in-pager output prefix receive-pack script-shell shell textconv upload-pack use-yarnrc userconfig work-tree",
].flatMap((names) => names.split(" "));
/** Programs that run any other program, or any code that their arguments contain or name. */
const WRAPPERS = new Set(
	[
		"bash dash doas env eval exec fish ksh nice nohup npx parallel setsid sh ssh strace sudo su time timeout watch xargs zsh",
		"awk bunx find gawk lua node nodejs osascript perl php pwsh python python3 ruby sed uvx",
		"builtin busybox bwrap caffeinate chronic chroot command coproc cross-env direnv dotenv entr expect fakeroot firejail flock",
		"gdb gtimeout hyperfine ionice java julia ltrace make mawk nix perf pipx pkexec runuser screen script setarch source",
		"start-stop-daemon stdbuf systemd-run tar taskset tclsh tmux toybox ts-node tsx unbuffer unshare valgrind vi vim xvfb-run",
		". Rscript at conda crontab ed emacs less man more nvim rsync scp",
	].flatMap((names) => names.split(" ")),
);

function words(list: string): ReadonlySet<string> {
	return new Set(list.split(" "));
}

/** True if `text` is a tool, or a tool with a pattern in parentheses. */
export function isRule(text: string): boolean {
	return RULE.test(text);
}

/**
 * True if a rule covers a call. An allow rule with `*` never covers a command that could contain a second one, and it must
 * cover every form of a path; the other rules need to cover one of them.
 */
export function covers(rule: string, { tool, subjects }: Call, action: PermissionAction): boolean {
	const matches = (subject: string) => matchesRule(rule, tool, subject, action);
	return action === "allow" ? subjects.every(matches) : subjects.some(matches);
}

/** What the rules say about a call: deny wins over ask, and ask over allow. null: none covers it. */
export function actionOf(
	call: Call,
	rules: readonly { action: PermissionAction; rule: string }[],
): PermissionAction | null {
	const isCovered = (action: PermissionAction) =>
		action === "allow"
			? // Each form of a path may be covered by another rule.
				call.subjects.every((subject) => rules.some(covering(action, { ...call, subjects: [subject] })))
			: rules.some(covering(action, call));
	return ACTIONS.find(isCovered) ?? null;
}

function covering(action: PermissionAction, call: Call) {
	return (rule: { action: PermissionAction; rule: string }) =>
		rule.action === action && covers(rule.rule, call, action);
}

function matchesRule(rule: string, tool: string, subject: string, action: PermissionAction): boolean {
	const [, name, pattern] = RULE.exec(rule) ?? [];
	if (name !== tool) return false;
	if (pattern === undefined) return true;
	const parts = partsOf(pattern);
	if (parts.length === 1) return parts[0] === subject;
	const isCommand = tool === "bash";
	if (action === "allow" && isCommand && (SHELL_SYNTAX.test(subject) || hasRiskyOption(subject))) return false;
	// `git push *` is also the command without arguments.
	if (isCommand && parts.length === 2 && parts[1] === "" && parts[0] === `${subject} `) return true;
	return matchesParts(parts, subject);
}

/** Whether a command may have an option that makes more of it than its subcommand says. The shell joins quoted parts and expands braces. */
function hasRiskyOption(command: string): boolean {
	if (!Object.hasOwn(SUBCOMMANDS, baseName(/^\S*/.exec(command)?.[0] ?? ""))) return false;
	return (
		/[{}]/.test(command) ||
		command
			.replace(/["']/g, "")
			.split(/[ \t]+/)
			.some(isRiskyOption)
	);
}

function isRiskyOption(word: string): boolean {
	if (!word.startsWith("--")) return /^-[cCOox]/.test(word);
	const [name = ""] = word.slice(2).toLowerCase().split("=", 1);
	if (name === "") return false;
	return /[*?[]/.test(name) || RISKY_OPTIONS.some((option) => option.startsWith(name) || name.startsWith(option));
}

/** The texts between the stars of a pattern. */
function partsOf(pattern: string): string[] {
	return pattern.split(/(?<!\\)\*/).map((part) => part.replaceAll("\\*", "*"));
}

/** True if a text consists of the parts with any text between them. Without a regular expression: many stars would take long. */
function matchesParts(parts: readonly string[], text: string): boolean {
	const [first = "", ...rest] = parts;
	const last = rest.pop() ?? "";
	if (!text.startsWith(first)) return false;
	let at = first.length;
	for (const part of rest) {
		const found = text.indexOf(part, at);
		if (found < 0) return false;
		at = found + part.length;
	}
	return text.length - last.length >= at && text.endsWith(last);
}

/** A rule for exactly this call. */
export function exactRule({ tool, subjects }: Call): string {
	const subject = subjects.at(-1) ?? "";
	return subject === "" ? tool : `${tool}(${subject.replaceAll("*", "\\*")})`;
}

/** A rule that covers a call and calls like it: the same program and subcommand, or the same directory. */
export function proposeRule(call: Call): string {
	const { tool, subjects } = call;
	const subject = subjects.at(-1) ?? "";
	if (tool === "bash") {
		const prefix = SHELL_SYNTAX.test(subject) ? null : prefixOf(subject);
		return prefix === null ? exactRule(call) : `bash(${prefix} *)`;
	}
	const folder = subject.slice(0, subject.lastIndexOf("/") + 1);
	const isFile = tool === "edit" || tool === "write" || tool === "read";
	return isFile && folder.length > 1 ? `${tool}(${folder.replaceAll("*", "\\*")}*)` : exactRule(call);
}

/** Program and subcommand of a command whose arguments do no harm; null for one that only a rule for exactly it should cover. */
function prefixOf(command: string): string | null {
	const [program = "", subcommand = "", script = ""] = command.split(/[ \t]+/);
	if (HARMLESS.has(program)) return program;
	if (!Object.hasOwn(SUBCOMMANDS, program) || !SUBCOMMANDS[program]?.has(subcommand)) return null;
	const named = subcommand === "run" ? [program, subcommand, script] : [program, subcommand];
	const prefix = named.join(" ");
	// A rule covers the command as it is written.
	return command.startsWith(prefix) && /^[\w:.-]*$/.test(named.at(-1) ?? "") && !hasRiskyOption(command)
		? prefix
		: null;
}

function baseName(program: string): string {
	return program.slice(program.lastIndexOf("/") + 1);
}

/** Checks a rule that the user edited to allow a call for good. @returns why it cannot be used; null if it can */
export function checkRule(text: string, call: Call): string | null {
	const rule = text.trim();
	const [, tool, pattern = "*"] = RULE.exec(rule) ?? [];
	if (tool === undefined) return "write a tool, or a tool with a pattern in parentheses, such as bash(git push *)";
	if (tool !== call.tool) return `this rule is about ${tool}, and the call is ${call.tool}`;
	const [start = "", ...others] = partsOf(pattern);
	const hasPattern = call.subjects.some((subject) => subject !== "");
	if (hasPattern && others.length > 0) {
		if (/^\/?$/.test(start.trim())) return `this rule would allow every ${tool === "bash" ? "program" : "file"}`;
		const program = start.trim().split(" ", 1)[0] ?? "";
		if (tool === "bash" && !start.includes(" "))
			return `this rule would allow every program whose name begins with ${program}: put a blank before the star`;
		if (tool === "bash" && WRAPPERS.has(baseName(program)))
			return `${program} can run any other program: write the complete command`;
	}
	if (covers(rule, call, "allow")) return null;
	if (others.length > 0 && tool === "bash" && call.subjects.some(hasRiskyOption))
		return "a rule with * never covers an option that names a file to write, a program or a configuration";
	return others.length > 0 && tool === "bash" && SHELL_SYNTAX.test(call.subjects.join())
		? "a rule with * never covers a command with shell syntax, which could contain a second command"
		: `this rule does not cover this ${tool === "bash" ? "command" : "call"}`;
}
