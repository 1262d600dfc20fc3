/**
 * After an edit or a write, runs the project's own type checker and linter and tells the model what they say about that
 * file, together with the tool's result. They are the npm scripts of package.json named in SCRIPTS, or COMMAND.
 *
 * What they say about other files is left out, and nothing is added when they have nothing to say, are not there, or take
 * too long. They are programs of the project: a script that was changed since the session began is not run, for the model
 * may have written it.
 */
import { readFileSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

/** Runs in place of the scripts, such as `["npx", "tsc", "--noEmit", "--pretty", "false"]`. */
const COMMAND: readonly string[] | null = null;

/** Of each group the first script that the project has. */
const SCRIPTS: readonly (readonly string[])[] = [["typecheck", "check"], ["lint"]];

const TIMEOUT_MS = 20_000;
const MAX_LINES = 30;
const MAX_CHARACTERS = 4000;

interface Check {
	name: string;
	command: readonly string[];
}

export default function diagnostics(pi: HookAPI): void {
	let scripts: string | null = null;
	let warned = false;

	pi.on("session", (event, ctx) => {
		if (event.reason === "start") scripts = readScripts(ctx.cwd);
	});

	pi.on("tool_result", async (event, ctx) => {
		if ((event.toolName !== "edit" && event.toolName !== "write") || event.isError) return undefined;
		const { path } = event.input;
		const file = typeof path === "string" ? relative(ctx.cwd, isAbsolute(path) ? path : join(ctx.cwd, path)) : "";
		// The project's programs know nothing of files outside of it.
		if (file === "" || file.split(sep)[0] === ".." || isAbsolute(file)) return undefined;
		if (!COMMAND && readScripts(ctx.cwd) !== scripts) return undefined;

		const results = await Promise.all(listChecks(scripts).map((check) => runCheck(check, file, ctx)));
		if (ctx.signal.aborted) return undefined;
		const slow = results.find(({ timedOut }) => timedOut);
		if (slow && !warned) {
			warned = true;
			ctx.ui.notify(`${slow.name} takes more than ${TIMEOUT_MS / 1000} seconds: it is of no use here`, "warning");
		}
		const findings = results
			.filter(({ text }) => text !== "")
			.map(({ name, text }) => `${name} says of ${file}:\n${text}`);
		if (findings.length === 0) return undefined;
		return { content: [...event.content, { type: "text", text: findings.join("\n\n") }] };
	});
}

async function runCheck({ name, command }: Check, file: string, ctx: HookEventContext) {
	const [program = "", ...args] = command;
	const { code, stdout, stderr, killed } = await ctx.exec(program, args, {
		timeout: TIMEOUT_MS,
		env: { NO_COLOR: "1", FORCE_COLOR: "0" },
	});
	const failed = code !== 0 && code !== 126 && code !== 127 && !killed;
	const text = failed ? pickFindings(`${stdout}\n${stderr}`, file, ctx.cwd) : "";
	return { name, text, timedOut: killed === true };
}

/** The lines that name the file, each with the indented ones below it: so compilers and linters group what they say. */
function pickFindings(output: string, file: string, cwd: string): string {
	const names = [file, file.split(sep).join("/"), join(cwd, file)].map((name) => name.replace(/[^\w/]/g, "\\$&"));
	// `lib/a.ts` is not `a.ts`, and `a.tsx` neither.
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
	return isCut ? `${shown}\n[… cut; there is more]` : shown;
}

/** @param scripts what `readScripts` gave */
function listChecks(scripts: string | null): Check[] {
	if (COMMAND) return [{ name: COMMAND.join(" "), command: COMMAND }];
	const names = new Set(Object.keys(scripts === null ? {} : JSON.parse(scripts)));
	return SCRIPTS.flatMap((group) => group.find((name) => names.has(name)) ?? []).map((name) => ({
		name,
		command: ["npm", "run", "--silent", name],
	}));
}

/** The scripts of package.json as JSON; null when there are none. */
function readScripts(cwd: string): string | null {
	try {
		const manifest: unknown = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
		if (typeof manifest !== "object" || manifest === null || !("scripts" in manifest)) return null;
		const { scripts } = manifest;
		return typeof scripts === "object" && scripts !== null ? JSON.stringify(scripts) : null;
	} catch {
		// No package.json, or one that cannot be read: there is nothing to run.
		return null;
	}
}
