/**
 * Allows, asks or denies tool calls by rules, which it remembers for each project in permissions.json of your agent directory,
 * never in the project. Without a rule, read, grep, find and ls run inside the project, the task list and the tool of question.ts
 * run, and everything else asks: once, or for good. `/permissions` lists the rules and removes one; `/permissions allow|ask|deny <rule>` adds one.
 *
 * A rule is a tool, or a tool with a pattern for its command or path: `write`, `write(src/*)`, `bash(npm test)`,
 * `bash(git log *)`. `*` stands for any text. Deny wins over ask, and ask over allow. Paths are relative to the project, after
 * links are resolved; outside of the project they are absolute.
 *
 * An RPC client receives the questions. In print and JSON mode nobody can answer, and a call that would ask is blocked. If the
 * file cannot be read, every call is blocked.
 *
 * Limits: rules prevent accidents, not attacks. The text of a command does not show what it does (see permission-gate.ts):
 * `npm test` runs whatever the project defines, and a deny rule for `bash(rm *)` does not stop `/bin/rm`. Therefore an allow
 * rule with `*` never covers a command that could contain a second one. Links that another program changes between the
 * question and the call are not detected. For protection, run pi in a container or as a separate user.
 */
import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import {
	agentDir,
	type CommandContext,
	type CommandResult,
	describeInput,
	type HookAPI,
	type ToolCallEvent,
	withFileLock,
} from "@mariozechner/pi-coding-agent/hooks";

const ACTIONS = ["deny", "ask", "allow"] as const;
type Action = (typeof ACTIONS)[number];
type Rules = Record<Action, string[]>;
type RulesByProject = Record<string, Rules>;

const READING = ["read", "grep", "find", "ls"];
/** Tools that open no file and run nothing: those of the task list and of question.ts. */
const HARMLESS = ["tasks", "question"];
/** Characters that let a shell do more than run one program with literal arguments. */
const SHELL_SYNTAX = /[;&|<>$`\n\r()\\]/;
const RULE = /^([\w-]+)(?:\(([\s\S]+)\))?$/;
const MAX_LINKS = 40;

export default function permissions(pi: HookAPI): void {
	pi.command("permissions", {
		description: "List, remove or add the rules of this project",
		argumentHint: "[allow | ask | deny <rule>]",
		complete: (prefix) =>
			ACTIONS.filter((name) => name.startsWith(prefix.trim())).map((value) => ({ value: `${value} ` })),
		handler: (ctx) => (ctx.argsRaw.trim() === "" ? listRules(ctx) : addRule(ctx)),
	});

	pi.on("tool_call", async (event, ctx) => {
		const rules = (await readRules())[projectOf(ctx.cwd)];
		const subjects = subjectsOf(event, ctx.cwd);
		const action = decide(event.toolName, subjects, rules);
		if (action === "allow") return undefined;
		if (action === "deny")
			return { block: true, reason: "A rule of the user denies this call. Do not try another way." };
		const [subject = ""] = subjects.slice(-1);
		const rule = subject === "" ? event.toolName : `${event.toolName}(${escapeStars(subject)})`;
		const once = "Yes, once";
		const always = `Yes, always ${rule}`;
		const never = `No, never ${rule}`;
		// A rule for an empty command would cover all commands.
		const options = rule === "bash" ? [once, "No"] : [once, always, "No", never];
		const answer = await ctx.ui.select(questionOf(event, subject), options);
		if (ctx.signal.aborted) return { block: true, reason: "The user stopped the run." };
		if (answer === always) await saveRule(ctx.cwd, "allow", rule);
		if (answer === never) await saveRule(ctx.cwd, "deny", rule);
		if (answer === once || answer === always) return undefined;
		const isPresent = ctx.hasUI || ctx.mode === "rpc";
		return {
			block: true,
			reason: isPresent
				? "The user refused this call. Ask what to do instead."
				: "This call needs permission, but no user is present. Use read, grep, find and ls inside the project.",
		};
	});
}

/** Everything that the call gets, complete: you can scroll a question that does not fit. */
function questionOf({ toolName, input }: ToolCallEvent, subject: string): string {
	const { [toolName === "bash" ? "command" : "path"]: _, ...others } = input;
	return `Allow ${toolName}? ${[subject, describeInput(others)].filter(Boolean).join("\n")}`;
}

/** @param subjects the command, or every form of the path; empty text for other tools */
function decide(tool: string, subjects: readonly string[], rules: Rules | undefined): Action {
	const covers = (action: Action) => (subject: string) =>
		(rules?.[action] ?? []).some((rule) => matchesRule(rule, tool, subject, action));
	if (subjects.some(covers("deny"))) return "deny";
	if (subjects.some(covers("ask"))) return "ask";
	if (subjects.every(covers("allow"))) return "allow";
	const isInside = (path: string) => !isAbsolute(path) && path !== ".." && !path.startsWith("../");
	const isSafe = HARMLESS.includes(tool) || (READING.includes(tool) && subjects.every(isInside));
	return isSafe ? "allow" : "ask";
}

function matchesRule(rule: string, tool: string, subject: string, action: Action): boolean {
	const [, name, pattern] = RULE.exec(rule) ?? [];
	if (name !== tool) return false;
	if (pattern === undefined) return true;
	const parts = pattern.split(/(?<!\\)\*/).map((part) => part.replaceAll("\\*", "*"));
	if (parts.length === 1) return parts[0] === subject;
	if (action === "allow" && tool === "bash" && SHELL_SYNTAX.test(subject)) return false;
	const source = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s\\S]*");
	return new RegExp(`^${source}$`).test(subject);
}

/** What the pattern of a rule is compared with; the last one is shown. */
function subjectsOf({ toolName, input }: ToolCallEvent, cwd: string): string[] {
	if (toolName === "bash") return [String(input.command).trim()];
	const path = typeof input.path === "string" ? input.path : READING.includes(toolName) ? "." : null;
	if (path === null) return [""];
	const root = projectOf(cwd);
	const absolutes = possiblePaths(cwd, path).map((absolute) => realPath(absolute));
	return [...new Set(absolutes.map((absolute) => relativeTo(root, absolute)))];
}

function relativeTo(root: string, path: string): string {
	const inside = relative(root, path);
	const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
	return isOutside ? path : inside.split(sep).join("/") || ".";
}

/** The paths that a tool may resolve `path` to: `~` is the home directory, and users mark files with a leading `@`. */
function possiblePaths(cwd: string, path: string): string[] {
	const expanded = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
	return path.startsWith("@") ? [expanded, ...possiblePaths(cwd, path.slice(1))] : [expanded];
}

/** Resolves links as far as the path exists, including a link with a missing target, which a write would create. */
function realPath(path: string, links = 0): string {
	if (existsSync(path)) return realpathSync(path);
	const parent = dirname(path);
	if (parent === path || links > MAX_LINKS) return path;
	const here = join(realPath(parent, links), basename(path));
	const target = readLink(here);
	return target === null ? here : realPath(resolve(dirname(here), target), links + 1);
}

/** @returns null if the path is not a link */
function readLink(path: string): string | null {
	try {
		return readlinkSync(path);
	} catch {
		return null;
	}
}

async function listRules(ctx: CommandContext): Promise<CommandResult | undefined> {
	const rules = (await readRules())[projectOf(ctx.cwd)];
	const labels = ACTIONS.flatMap((action) => (rules?.[action] ?? []).map((rule) => `${action} ${rule}`));
	if (labels.length === 0)
		return { status: "This project has no rules: read-only tools run inside it, the others ask" };
	if (!ctx.hasUI && ctx.mode !== "rpc") return { status: labels.join("\n") };
	const chosen = await ctx.ui.select("Rules of this project: choose one to remove", labels);
	if (chosen === null) return undefined;
	await changeRules(ctx.cwd, (saved) => {
		for (const action of ACTIONS) saved[action] = saved[action].filter((rule) => `${action} ${rule}` !== chosen);
	});
	return { status: `Removed ${chosen}` };
}

async function addRule(ctx: CommandContext): Promise<CommandResult> {
	const [, word = "", rule = ""] = /^\s*(\S+)\s*([\s\S]*?)\s*$/.exec(ctx.argsRaw) ?? [];
	const action = ACTIONS.find((name) => name === word);
	if (!action || !RULE.test(rule)) return { status: "Usage: /permissions allow|ask|deny <tool>(<pattern>)" };
	await saveRule(ctx.cwd, action, rule);
	return { status: `Saved ${action} ${rule} for this project` };
}

async function saveRule(cwd: string, action: Action, rule: string): Promise<void> {
	await changeRules(cwd, (rules) => {
		if (!rules[action].includes(rule)) rules[action].push(rule);
	});
}

/** Questions of parallel calls, and of other pi processes, may be answered at the same time: the changes wait for each other. */
function changeRules(cwd: string, change: (rules: Rules) => void): Promise<void> {
	const path = rulesPath();
	return withFileLock(path, async () => {
		const all = await readRules();
		const rules = all[projectOf(cwd)] ?? { deny: [], ask: [], allow: [] };
		change(rules);
		await writeFile(`${path}.tmp`, `${JSON.stringify({ ...all, [projectOf(cwd)]: rules }, null, "\t")}\n`, {
			mode: 0o600,
		});
		await rename(`${path}.tmp`, path);
	});
}

/** @throws Error that names the file if it is malformed: a lost deny rule must not let a call run */
async function readRules(): Promise<RulesByProject> {
	const path = rulesPath();
	const json = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return "{}";
		throw error;
	});
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch {
		throw new Error(`${path} is not valid JSON`);
	}
	if (!isRecord(value) || !Object.values(value).every(isRules))
		throw new Error(`${path} does not contain lists of rules`);
	return value as RulesByProject;
}

function isRules(value: unknown): boolean {
	const isRule = (rule: unknown) => typeof rule === "string" && RULE.test(rule);
	return isRecord(value) && ACTIONS.every((name) => Array.isArray(value[name]) && value[name].every(isRule));
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escapeStars(text: string): string {
	return text.replaceAll("*", "\\*");
}

function rulesPath(): string {
	return join(agentDir(), "permissions.json");
}

function projectOf(cwd: string): string {
	return realpathSync(cwd);
}
