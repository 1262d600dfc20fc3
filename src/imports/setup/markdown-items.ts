import { basename, join } from "node:path";
import { parseMarkdown } from "../../resources/front-matter.js";
import { isResourceName } from "../../resources/skills.js";
import { meantTool } from "../../tools/foreign-calls.js";
import { BUILTIN_TOOLS } from "../../tools/index.js";
import { isRecord } from "../../util/is-record.js";
import { type SetupItem, withoutCounterpart } from "./setup-item.js";
import { folderName, markdownName, type SourceFile, type SourceFiles } from "./source-files.js";

const BLOCK = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;
/** A field on one line; its value has no quotes although YAML reads it as something else than text. */
const UNQUOTED = /^(description|argument-hint):[ \t]+((?![|>"'])(?:[[{*&!%@`]|(?=.*(?:: | #)))[^\n]*)$/gm;
/** Fields of commands that pi reads. */
const COMMAND_FIELDS = ["description", "argument-hint"];
/** Fields of agents that pi reads, or that are named in another way or only for the screen. */
const AGENT_FIELDS = ["name", "description", "tools", "model", "color", "mode", "permission"];
const AGENT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
/** Tools that an agent of pi has unless its definition names some; without those of others. */
const ALL_TOOLS = BUILTIN_TOOLS.map(({ name }) => name);
const MAX_SKILL_BYTES = 8 * 1024 * 1024;

/** Commands: each becomes a prompt template. @param dir of pi */
export async function findCommands(files: SourceFiles, from: string, dir: string): Promise<SetupItem[]> {
	const taken = new Set<string>();
	const items: SetupItem[] = [];
	// Those in directories have their own name as long as no other one has it.
	const depth = ({ rel }: SourceFile) => rel.split("/").length;
	const sorted = files.list(from, "command").sort((a, b) => depth(a) - depth(b));
	for (const { path, rel } of sorted.filter(isMarkdown)) {
		const plain = markdownName(rel);
		const name = taken.has(plain) ? `${folderName(rel)}-${plain}` : plain;
		const item = { kind: "command", scope: files.scope, name: `/${name}`, source: path } as const;
		const text = files.text(path, "command");
		if (text === null) continue;
		taken.add(name);
		const quoted = text.replace(BLOCK, (block) =>
			block.replace(UNQUOTED, (_, field: string, value: string) => `${field}: ${JSON.stringify(value.trim())}`),
		);
		const { fields, body, problem } = await parseMarkdown(quoted);
		if (!isResourceName(name)) items.push(withoutCounterpart(item, "its name cannot be a command of pi"));
		else if (body === "") items.push(withoutCounterpart(item, "it has no text"));
		else {
			const ignored = Object.keys(fields).filter((field) => !COMMAND_FIELDS.includes(field));
			const notes = [
				...(ignored.length > 0 ? [`pi ignores ${ignored.join(", ")}`] : []),
				...(/!`[^`]+`/.test(body) ? ["its !`commands` do not run, their text is sent"] : []),
				...(problem === undefined ? [] : [`its front matter is malformed in line ${problem}`]),
			];
			const change = { type: "file", path: join(dir, "prompts", `${name}.md`), bytes: Buffer.from(quoted) } as const;
			items.push({ ...item, changes: [change], note: notes.join("; ") || null });
		}
	}
	return items;
}

/** Agents: each becomes a sub-agent of the bundled hook `agents`. @param dir of pi */
export async function findAgents(files: SourceFiles, from: string, dir: string): Promise<SetupItem[]> {
	const items: SetupItem[] = [];
	for (const { path, rel } of files.list(from, "agent").filter(isMarkdown)) {
		const text = files.text(path, "agent");
		if (text === null) continue;
		const { fields, body, problem } = await parseMarkdown(text);
		const read = problem === undefined ? fields : lineFields(text);
		const name = textIn(read.name) || markdownName(rel);
		const item = { kind: "agent", scope: files.scope, name, source: path } as const;
		const description = textIn(read.description).replaceAll("\\n", " ").replace(/\s+/g, " ").trim();
		const { tools, dropped } = toolsOf(read);
		const reason = refusalOf({ name, description, body, tools, fields: read });
		if (reason !== null) {
			items.push(withoutCounterpart(item, reason));
			continue;
		}
		const head = [`name: ${name}`, `description: ${JSON.stringify(description)}`];
		if (tools) head.push(`tools: ${tools.join(", ")}`);
		const ignored = Object.keys(read).filter((field) => !AGENT_FIELDS.includes(field));
		const notes = [
			...(ignored.length > 0 ? [`pi ignores ${ignored.join(", ")}`] : []),
			...(dropped.length > 0 ? [`without the tools ${dropped.join(", ")}`] : []),
			...(textIn(read.model) === "" || read.model === "inherit" ? [] : ["its model is that of the session"]),
		];
		const bytes = Buffer.from(["---", ...head, "---", body, ""].join("\n"));
		items.push({
			...item,
			changes: [
				{ type: "file", path: join(dir, "agents", `${name}.md`), bytes },
				{ type: "hook", name: "agents" },
			],
			note: notes.join("; ") || null,
		});
	}
	return items;
}

/** Skills: directories with a SKILL.md. @param dir of pi */
export function findSkills(files: SourceFiles, from: string, dir: string): SetupItem[] {
	const all = files.list(from, "skill");
	const roots = all
		.filter(({ rel }) => /^[^/.][^/]*\/SKILL\.md$/.test(rel))
		.map(({ rel }) => rel.slice(0, -"/SKILL.md".length));
	const folders = new Set(all.flatMap(({ rel }) => /^([^/.][^/]*)\//.exec(rel)?.[1] ?? []));
	const incomplete = [...folders].filter((name) => !roots.includes(name));
	const unused = incomplete.map((name) =>
		withoutCounterpart(
			{ kind: "skill", scope: files.scope, name, source: join(from, name) },
			"no counterpart: it has no SKILL.md",
		),
	);
	const skills = roots.flatMap((name): SetupItem[] => {
		const own = all.filter(({ rel }) => rel.startsWith(`${name}/`));
		const item = { kind: "skill", scope: files.scope, name, source: join(from, name) } as const;
		let left = MAX_SKILL_BYTES;
		const changes: SetupItem["changes"][number][] = [];
		for (const { path, rel, isExecutable } of own) {
			const bytes = files.bytes(path, "skill", left);
			if (bytes === null) return [withoutCounterpart(item, `a file of it cannot be read, or it is larger than 8 MB`)];
			left -= bytes.length;
			changes.push({ type: "file", path: join(dir, "skills", rel), bytes, isExecutable });
		}
		return [{ ...item, changes, note: null }];
	});
	return [...skills, ...unused];
}

/** Instructions of the user for every project. @param dir of pi */
export function findMemory(files: SourceFiles, path: string, dir: string): SetupItem[] {
	const text = files.text(path, "memory");
	if (text === null || text.trim() === "") return [];
	const imports = /^[ \t]*@[~./\w]/m.test(text) ? "pi does not read the files that it names with @" : null;
	return [
		{
			...{ kind: "memory", scope: files.scope, name: basename(path), source: path },
			changes: [{ type: "file", path: join(dir, "AGENTS.md"), bytes: Buffer.from(text) }],
			note: imports,
		},
	];
}

function isMarkdown({ rel }: SourceFile): boolean {
	return rel.endsWith(".md") && !/(^|\/)README\.md$/i.test(rel);
}

/** Fields of a front matter that is no YAML, as other programs read it: line by line. */
function lineFields(text: string): Record<string, unknown> {
	const [, block = ""] = BLOCK.exec(text) ?? [];
	return Object.fromEntries(
		[...block.matchAll(/^([\w-]+):[ \t]*(.*)$/gm)].map(([, name, value]) => [name, value?.trim()]),
	);
}

function textIn(value: unknown): string {
	return typeof value === "string" ? value.trim() : "";
}

/** Why an agent has no counterpart. An agent of pi never may do more than it could before. */
function refusalOf(agent: {
	name: string;
	description: string;
	body: string;
	tools: string[] | null;
	fields: Readonly<Record<string, unknown>>;
}): string | null {
	if (!AGENT_NAME.test(agent.name)) return "its name must be up to 64 letters, digits, _ and -";
	if (agent.fields.mode === "primary") return "pi has no agents that replace the main one";
	if (agent.description === "") return "it has no description, which tells the model when to use it";
	if (agent.body === "") return "it has no text";
	if (agent.fields.disallowedTools !== undefined) return "pi cannot forbid single tools; write its tools instead";
	return agent.tools?.length === 0 ? "pi has none of its tools" : null;
}

/** @returns `tools`: null for all; `dropped`: those that have no counterpart */
function toolsOf({ tools, permission }: Readonly<Record<string, unknown>>): {
	tools: string[] | null;
	dropped: string[];
} {
	const denied = new Set<string>();
	// opencode: a map of those that are off, and rules that deny or ask.
	for (const rules of [tools, permission]) {
		if (!isRecord(rules)) continue;
		for (const [name, rule] of Object.entries(rules)) {
			if (rule !== true && rule !== "allow") denied.add(meantTool(name, BUILTIN_TOOLS)?.name ?? name);
		}
	}
	if (denied.has("*") || (typeof permission === "string" && permission !== "allow")) return { tools: [], dropped: [] };
	if (denied.has("edit")) denied.add("write");
	if (denied.size > 0) return { tools: ALL_TOOLS.filter((name) => !denied.has(name)), dropped: [...denied] };
	const named = typeof tools === "string" ? tools.split(",") : Array.isArray(tools) ? tools.map(String) : null;
	const names = named?.map((name) => name.trim()).filter((name) => name !== "");
	if (!names || names.length === 0 || names.includes("*")) return { tools: null, dropped: [] };
	const meant = names.map((name) => ownTool(name));
	const own = new Set(meant.filter((name) => name !== null));
	return { tools: [...own], dropped: names.filter((_, at) => meant[at] === null) };
}

/** @returns null for a tool that pi does not have, and for one that is limited to some calls */
function ownTool(name: string): string | null {
	const [, server, tool] = /^mcp__([\w-]+?)__([\w-]+)$/.exec(name) ?? [];
	return server === undefined ? (meantTool(name, BUILTIN_TOOLS)?.name ?? null) : `${server}_${tool}`;
}
