/**
 * After each edit or write, runs the project's type checker and linter and appends their findings about that file to the
 * tool result, where tools work. It runs the npm scripts of package.json that are named in SCRIPTS, or COMMAND.
 *
 * Findings about other files are omitted. Nothing is appended if there are no findings, the scripts do not exist, or they
 * take too long. If the scripts in package.json have changed since the session started, none of them runs, because the
 * model may have written them.
 */
import { isAbsolute, join, relative, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

/** Runs instead of the scripts, such as `["npx", "tsc", "--noEmit", "--pretty", "false"]`. */
const COMMAND: readonly string[] | null = null;

/** The first existing script of each group runs. */
const SCRIPTS: readonly (readonly string[])[] = [["typecheck", "check"], ["lint"]];

const TIMEOUT_MS = 20_000;
const MAX_LINES = 30;
const MAX_CHARACTERS = 4000;

interface Check {
	name: string;
	command: readonly string[];
}

/** The scripts when each session started. Shared, because `/reload` loads this file again. */
const shared: typeof globalThis & { diagnosticsScripts?: WeakMap<object, string | null> } = globalThis;
shared.diagnosticsScripts ??= new WeakMap();
const atStart = shared.diagnosticsScripts;

export default function diagnostics(pi: HookAPI): void {
	let scripts: string | null = null;
	let warned = false;

	pi.on("session", async (event, ctx) => {
		if (event.reason !== "start") return;
		if (!atStart.has(ctx.session)) atStart.set(ctx.session, await readScripts(ctx));
		scripts = atStart.get(ctx.session) ?? null;
	});

	pi.on("tool_result", async (event, ctx) => {
		if ((event.toolName !== "edit" && event.toolName !== "write") || event.isError) return undefined;
		const { path } = event.input;
		const { cwd } = ctx.toolHost;
		const file = typeof path === "string" ? relative(cwd, isAbsolute(path) ? path : join(cwd, path)) : "";
		// The scripts do not check files outside the project.
		if (file === "" || file.split(sep)[0] === ".." || isAbsolute(file)) return undefined;
		if (!COMMAND && (await readScripts(ctx)) !== scripts) return undefined;

		const results = await Promise.all(listChecks(scripts).map((check) => runCheck(check, file, ctx)));
		if (ctx.signal.aborted) return undefined;
		const slow = results.find(({ timedOut }) => timedOut);
		if (slow && !warned) {
			warned = true;
			ctx.ui.notify(`${slow.name} timed out after ${TIMEOUT_MS / 1000} s; its findings are omitted`, "warning");
		}
		const findings = results
			.filter(({ text }) => text !== "")
			.map(({ name, text }) => `${name} reports for ${file}:\n${text}`);
		if (findings.length === 0) return undefined;
		return { content: [...event.content, { type: "text", text: findings.join("\n\n") }] };
	});
}

async function runCheck({ name, command }: Check, file: string, ctx: HookEventContext) {
	const [program = "", ...args] = command;
	const { code, stdout, stderr, killed } = await ctx.exec(program, args, {
		timeout: TIMEOUT_MS,
		onHost: true,
		env: { NO_COLOR: "1", FORCE_COLOR: "0" },
	});
	const failed = code !== 0 && code !== 126 && code !== 127 && !killed;
	const text = failed ? pickFindings(`${stdout}\n${stderr}`, file, ctx.toolHost.cwd) : "";
	return { name, text, timedOut: killed === true };
}

/** The lines that name the file, each with the indented lines below it, as compilers and linters group their output. */
function pickFindings(output: string, file: string, cwd: string): string {
	const names = [file, file.split(sep).join("/"), join(cwd, file)].map((name) => name.replace(/[^\w/]/g, "\\$&"));
	// `a.ts` must not match `lib/a.ts` or `a.tsx`.
	const named = new RegExp(`(?:^|[\\s"'\`(])(?:\\./)?(?:${names.join("|")})(?![\\w-])`);
	const picked: string[] = [];
	let inside = false;
	for (const line of stripVTControlCharacters(output).split(/\r?\n/)) {
		if (line.trim() === "") continue;
		inside = named.test(line) || (inside && /^\s/.test(line));
		if (inside) picked.push(line);
	}
	const shown = picked.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS).toWellFormed();
	const isCut = shown.length < picked.join("\n").length;
	return isCut ? `${shown}\n[… truncated]` : shown;
}

/** @param scripts result of `readScripts` */
function listChecks(scripts: string | null): Check[] {
	if (COMMAND) return [{ name: COMMAND.join(" "), command: COMMAND }];
	const names = new Set(Object.keys(scripts === null ? {} : JSON.parse(scripts)));
	return SCRIPTS.flatMap((group) => group.find((name) => names.has(name)) ?? []).map((name) => ({
		name,
		command: ["npm", "run", "--silent", name],
	}));
}

/** The scripts of package.json as JSON; null if there are none. */
async function readScripts(ctx: HookEventContext): Promise<string | null> {
	const { stdout } = await ctx.exec("cat", ["package.json"], { onHost: true });
	try {
		const manifest: unknown = JSON.parse(stdout);
		if (typeof manifest !== "object" || manifest === null || !("scripts" in manifest)) return null;
		const { scripts } = manifest;
		return typeof scripts === "object" && scripts !== null ? JSON.stringify(scripts) : null;
	} catch {
		// package.json is missing or invalid: no scripts.
		return null;
	}
}
