/**
 * Expands `:name:` in your prompts and `!` commands, from a file of yours, macros.json in the agent directory:
 *
 *     { "tests": "npm test -- --reporter=dot", "brief": "Answer in at most three sentences." }
 *
 * The file is read for each prompt, so a change applies at once. Unknown names are not replaced. The session keeps what you
 * typed next to what was sent. Works in every mode, since no dialog is needed; prompts of hooks are not expanded.
 *
 * If the file is invalid, pi reports it and sends the text unchanged; a `!` command with a macro is not run then.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentDir, type HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Not in times (12:30:45), and not next to another colon (std::tests::run). */
const MACRO = /(?<![\w:]):([a-z][\w-]*):(?![\w:])/gi;

export default function macros(pi: HookAPI): void {
	pi.on("prompt", async ({ text, source }) => {
		if (source === "hook") return undefined;
		const expanded = await expand(text);
		return expanded === text ? undefined : { text: expanded };
	});

	pi.on("user_bash", async ({ command }) => {
		try {
			const expanded = await expand(command);
			return expanded === command ? undefined : { command: expanded };
		} catch (error) {
			return { block: true, reason: error instanceof Error ? error.message : String(error) };
		}
	});
}

async function expand(text: string): Promise<string> {
	if (text.search(MACRO) < 0) return text;
	const known = await readMacros();
	return text.replace(MACRO, (typed, name: string) => known.get(name) ?? typed);
}

/** @throws Error that names the file if it exists and is not an object of texts */
async function readMacros(): Promise<ReadonlyMap<string, string>> {
	const path = join(agentDir(), "macros.json");
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
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${path} is not an object`);
	const entries = Object.entries(value);
	const wrong = entries.find(([, text]) => typeof text !== "string");
	if (wrong) throw new Error(`${path}: ${wrong[0]} is not a text`);
	return new Map(entries);
}
