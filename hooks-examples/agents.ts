/**
 * The tool `agent` lets the model start sub-agents: sessions with their own context, system prompt, tools and model, which
 * return only their last reply. Markdown files in `agents/` of the agent directory, and in `.pi/agents` of a trusted project,
 * define them; `/agents` lists them. See docs/agents.md.
 *
 * Sub-agents load the same hooks, so that these still block and ask, and have at most the tools that are on. They end with
 * the call, and their cost counts as that of the session. Without a screen, questions of hooks are canceled.
 */
import {
	type AgentSession,
	createAgentSession,
	PiError,
	type SessionUI,
	type ToolResult,
} from "@mariozechner/pi-coding-agent";
import {
	type EntryComponent,
	type EntryTheme,
	type HookAPI,
	type HookEventContext,
	type HookToolContext,
	messageText,
	parseMarkdown,
} from "@mariozechner/pi-coding-agent/hooks";
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { Type } from "typebox";

const MAX_PARALLEL = 4;
const MAX_TASKS = 32;
/** Sessions below the one of the user, if definitions allow sub-agents to start others. */
const MAX_DEPTH = 3;
/** Limits of all replies of a call together, below those of pi. */
const MAX_BYTES = 48_000;
const MAX_LINES = 1900;

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
const FIELDS = ["name", "description", "tools", "model"];
const READ_AFTER = ["start", "switch", "clear", "branch"];
const HOW_TO = "save one as agents/<name>.md in the agent directory or as .pi/agents/<name>.md";

interface Agent {
	name: string;
	description: string;
	/** Absent: all tools except `agent`. */
	tools?: string[];
	model?: string;
	systemPrompt: string;
	path: string;
	/** The line of a field in the file, 1-based. */
	lineOf(field: string): number;
}

type Agents = ReadonlyMap<string, Agent>;
/** `problems` are lines that begin with `path:line:`. */
type Definitions = { agents: Agents; problems: string[] };

/** A sub-agent as the screen shows it. */
interface Progress {
	agent: string;
	task: string;
	state: "waiting" | "running" | "done" | "failed" | "canceled";
	/** The last tool call, or the reason of a failure. */
	note: string;
	tokens: number;
	/** US dollars. */
	cost: number;
	/** The session file; null if the session is in memory only. */
	file: string | null;
}

type Task = { agent: string; prompt: string };
type Result = ToolResult<{ agents: Progress[] }>;

export default function agents(pi: HookAPI): void {
	let known: Definitions = { agents: new Map(), problems: [] };
	pi.entry("agent_session");

	pi.on("session", async ({ reason }, ctx) => {
		if (!READ_AFTER.includes(reason)) return;
		const before = known;
		known = await readDefinitions(ctx);
		const fresh = known.problems.filter((problem) => !before.problems.includes(problem));
		// These modes show no notices.
		if (ctx.mode === "print" || ctx.mode === "json") for (const problem of fresh) console.error(problem);
		else for (const problem of fresh) ctx.ui.notify(problem, "warning");
		if (known.agents.size + before.agents.size > 0) registerTool(pi, () => known);
	});

	pi.command("agents", {
		description: "List the sub-agents that the model can start",
		async handler(ctx) {
			const { agents: list, problems } = await readDefinitions(ctx);
			const all = [...list.values()];
			if (all.length === 0) return { status: [`No agents are defined: ${HOW_TO}`, ...problems].join("\n") };
			const width = Math.max(...all.map(({ name }) => name.length));
			const lines = all.map(({ name, description, model, tools }) =>
				[name.padEnd(width), description, model, tools?.join(", ")].filter(Boolean).join("  "),
			);
			return { status: [...lines, ...problems].join("\n") };
		},
	});
}

function registerTool(pi: HookAPI, definitions: () => Definitions): void {
	const listed = [...definitions().agents.values()].map(({ name, description }) => `${name}: ${description}`);
	pi.tool({
		name: "agent",
		description:
			"Start sub-agents, each with a context of its own. You get only their last reply, and they know only the prompt: " +
			"include all facts, paths and the form of the answer. Pass `agent` and `prompt`, or `tasks` for several that run at " +
			`the same time and do not depend on each other.\nAgents:\n${listed.join("\n")}`,
		promptLine: "let sub-agents with a context of their own do parts of the work",
		parameters: Type.Object({
			agent: Type.Optional(Type.String({ description: "Name of the agent" })),
			prompt: Type.Optional(Type.String({ minLength: 1, description: "The complete task" })),
			tasks: Type.Optional(
				Type.Array(Type.Object({ agent: Type.String(), prompt: Type.String({ minLength: 1 }) }), {
					minItems: 1,
					maxItems: MAX_TASKS,
				}),
			),
		}),
		async run({ agent, prompt, tasks }, context): Promise<Result> {
			const wanted = agent !== undefined && prompt !== undefined ? [{ agent, prompt }] : tasks;
			if (!wanted || (tasks && (agent ?? prompt) !== undefined))
				return refuse("Pass either agent and prompt, or tasks.");
			const problem = findProblem(wanted, definitions(), context.ctx);
			return problem === null ? runTasks(wanted, definitions().agents, context) : refuse(problem);
		},
		renderCall({ agent, prompt, tasks }, theme) {
			const what = tasks ? `${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}` : agent;
			return `${theme.bold("agent")} ${what ?? ""} ${theme.dim(tasks ? "" : onOneLine(prompt ?? ""))}`.trimEnd();
		},
		renderResult({ content, details }, theme, { expanded }) {
			const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
			return details ? drawProgress(details.agents, text, theme, expanded) : theme.error(text);
		},
	});
}

function refuse(text: string): Result {
	return { content: [{ type: "text", text }], isError: true };
}

/** @returns why the tasks cannot start, for the model; null if they can */
function findProblem(tasks: readonly Task[], { agents: known, problems }: Definitions, ctx: HookEventContext) {
	const allTools = new Set(ctx.tools.all.map(({ name }) => name));
	if (depthOf(ctx) >= MAX_DEPTH) return `Sub-agents cannot be nested deeper than ${MAX_DEPTH}. Do the work yourself.`;
	for (const { agent: name } of tasks) {
		const agent = known.get(name);
		if (!agent) return [`There is no agent "${name}", only ${[...known.keys()].join(", ")}.`, ...problems].join("\n");
		const unknown = agent.tools?.find((tool) => !allTools.has(tool));
		if (unknown !== undefined) return `${agent.path}:${agent.lineOf("tools")}: there is no tool "${unknown}"`;
	}
	return null;
}

async function runTasks(tasks: readonly Task[], known: Agents, context: HookToolContext): Promise<Result> {
	const rows = tasks.map(
		({ agent, prompt }): Progress => ({
			...{ agent, task: onOneLine(prompt), state: "waiting", note: "", tokens: 0, cost: 0, file: null },
		}),
	);
	const update = (at: number, change: Partial<Progress>) => {
		rows[at] = { ...(rows[at] as Progress), ...change };
		if (!context.signal.aborted) context.onUpdate({ content: [], details: { agents: [...rows] } });
	};
	const replies: string[] = [];
	await inParallel(tasks, async ({ agent: name, prompt }, at) => {
		const agent = known.get(name);
		if (!agent || context.signal.aborted) return update(at, { state: "canceled" });
		update(at, { state: "running" });
		try {
			replies[at] = await runAgent(agent, prompt, context, (change) => update(at, change));
			update(at, { state: "done", note: "" });
		} catch (error) {
			const reason = describe(error, agent);
			update(at, context.signal.aborted ? { state: "canceled" } : { state: "failed", note: onOneLine(reason) });
			replies[at] = context.signal.aborted ? "Canceled." : `Failed: ${reason}`;
		}
	});
	const texts = rows.map(({ agent, state, file }, at) => {
		const reply = cut(replies[at] ?? "Canceled.", tasks.length, file);
		return tasks.length === 1 ? reply : `## ${at + 1}. ${agent}: ${state}\n\n${reply}`;
	});
	return {
		content: [{ type: "text", text: texts.join("\n\n") }],
		details: { agents: rows },
		// A call that the user has canceled did not fail.
		isError: rows.some(({ state }) => state === "failed") && !rows.some(({ state }) => state === "done"),
	};
}

/** Runs a sub-agent to its end. @returns its last reply @throws Error if it fails or is canceled */
async function runAgent(
	agent: Agent,
	prompt: string,
	{ ctx, signal }: HookToolContext,
	report: (change: Partial<Progress>) => void,
): Promise<string> {
	const active = ctx.tools.active.map(({ name }) => name);
	const tools = active.filter((name) => agent.tools?.includes(name) ?? name !== "agent");
	const depth = depthOf(ctx) + 1;
	const model = agent.model ?? ctx.model;
	const session = await createAgentSession({
		parent: ctx.session,
		systemPrompt: agent.systemPrompt,
		...(model === null ? {} : { model }),
		// The model of a definition may name a level, as in `id:high`.
		...(agent.model === undefined ? { thinkingLevel: ctx.thinkingLevel } : {}),
		settings: { rememberModel: false },
		hooks: [
			function agents(pi: HookAPI) {
				pi.on("session", async ({ reason }, { saveEntry }) => {
					if (reason === "start") await saveEntry({ type: "agent_session", agent: agent.name, depth });
				});
				// The tools of hooks may come later, so a choice at the start would not be enough.
				pi.on("context", (event) => ({
					tools: event.tools.map(({ name }) => name).filter((name) => tools.includes(name)),
				}));
			},
		],
	});
	const stop = () => void session.abort();
	signal.addEventListener("abort", stop, { once: true });
	const unsubscribe = session.subscribe((event) => {
		if (event.type === "tool_execution_start") report({ note: describeCall(event.toolName, event.args) });
		if (event.type === "message_end") report(spentBy(session));
		if (event.type === "hook_error") ctx.ui.notify(`${agent.name}: ${event.hookPath}: ${event.error}`, "error");
	});
	try {
		session.attachUI(questionsOf(agent.name, ctx), null, ctx.hasUI);
		await session.start();
		signal.throwIfAborted();
		report({ file: session.sessionFile });
		const result = await session.send(prompt);
		signal.throwIfAborted();
		if (result.kind !== "run")
			throw new Error(result.kind === "handled" ? `${result.by} handled the prompt` : result.kind);
		const { last, stopped } = result.outcome;
		const isFailed = last?.stopReason === "error" || last?.stopReason === "aborted";
		if (stopped !== null || isFailed) throw new Error(stopped ?? last?.errorMessage ?? "it was stopped");
		return (last && messageText(last).trim()) || "(The reply is empty.)";
	} finally {
		signal.removeEventListener("abort", stop);
		report(spentBy(session));
		unsubscribe();
		await session.dispose();
	}
}

function spentBy(session: AgentSession): Partial<Progress> {
	const { tokens, cost } = session.stats();
	return { tokens: tokens.total, cost };
}

/** Lets hooks of the sub-agent ask the user of this session. */
function questionsOf(name: string, { ui }: HookEventContext): SessionUI {
	const titled = (title: string) => `${name}: ${title}`;
	return {
		select: (title: string, options: readonly never[], dialog?: object) => ui.select(titled(title), options, dialog),
		selectMany: (title, options, dialog) =>
			ui.select(titled(title), options as readonly never[], { ...dialog, multiple: true }),
		confirm: (title, message, dialog) => ui.confirm(titled(title), message, dialog),
		approve: (approval, dialog) => ui.approve({ ...approval, question: titled(approval.question) }, dialog),
		input: (title, placeholder, dialog) => ui.input(titled(title), placeholder, dialog),
		editor: (title, initial, dialog) => ui.editor(titled(title), initial, dialog),
		notify: (message, level) => ui.notify(titled(message), level),
	};
}

/** 0 for a session of the user. Sub-sessions inherit hooks, so each begins with an entry for each level; the last counts. */
function depthOf({ entries }: HookEventContext): number {
	const entry = entries.slice(1, MAX_DEPTH + 2).findLast(({ type }) => type === "agent_session");
	return entry && "depth" in entry && typeof entry.depth === "number" ? entry.depth : 0;
}

/** Calls `run` for each item, for at most `MAX_PARALLEL` at the same time. */
async function inParallel<T>(items: readonly T[], run: (item: T, at: number) => Promise<void>): Promise<void> {
	const rest = items.entries();
	const work = async () => {
		for (const [at, item] of rest) await run(item, at);
	};
	await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
}

async function readDefinitions(ctx: HookEventContext): Promise<Definitions> {
	const found = new Map<string, Agent>();
	const problems: string[] = [];
	for (const { path, text, problem } of ctx.configFiles("agents")) {
		if (!path.endsWith(".md")) continue;
		if (text === null) problems.push(`${path}: ${problem}`);
		else {
			const agent = await readAgent(path, text, (line, reason) => problems.push(`${path}:${line}: ${reason}`));
			const other = agent && found.get(agent.name);
			if (other) problems.push(`${path}:1: replaces the agent "${other.name}" of ${other.path}`);
			if (agent) found.set(agent.name, agent);
		}
	}
	return { agents: found, problems };
}

/** @returns null if the definition cannot be used */
async function readAgent(
	path: string,
	text: string,
	warn: (line: number, reason: string) => void,
): Promise<Agent | null> {
	const { fields, lines, body, problem } = await parseMarkdown(text);
	const lineOf = (field: string) => lines.get(field) ?? 1;
	const ignore = (at: number | string, reason: string) => {
		warn(typeof at === "number" ? at : lineOf(at), `${reason}; agent ignored`);
		return null;
	};
	if (problem !== undefined) return ignore(Number.parseInt(problem, 10), problem.replace(/^\d+: /, ""));
	if (lines.size === 0) return ignore(1, "begin the file with a name and a description between --- lines");
	const { name = /([^/\\]*)\.md$/.exec(path)?.[1], description, model } = fields;
	if (typeof name !== "string" || !NAME.test(name))
		return ignore("name", "name must be up to 64 letters, digits, _ and -");
	if (typeof description !== "string" || description.trim() === "")
		return ignore("description", "description must be a text that says when to use the agent");
	if (model !== undefined && (typeof model !== "string" || model.trim() === ""))
		return ignore("model", "model must be the id of a model");
	const tools = typeof fields.tools === "string" ? fields.tools.split(",") : (fields.tools ?? undefined);
	if (tools !== undefined && !(Array.isArray(tools) && tools.every((tool) => typeof tool === "string")))
		return ignore("tools", "tools must be a list of names, such as read, ls");
	if (body === "") return ignore(text.split("\n").length, "the system prompt below the front matter is missing");
	for (const field of Object.keys(fields)) if (!FIELDS.includes(field)) warn(lineOf(field), `unknown field "${field}"`);
	const named = tools?.map((tool: string) => tool.trim()).filter((tool: string) => tool !== "");
	return {
		...{ name, description: description.replace(/\s+/g, " ").trim(), systemPrompt: body, path },
		...(named ? { tools: named } : {}),
		...(model === undefined ? {} : { model: model.trim() }),
		lineOf,
	};
}

const MARKS = { waiting: "·", running: "●", done: "✓", failed: "✗", canceled: "–" };
const STYLES = { waiting: "dim", running: "accent", done: "success", failed: "error", canceled: "warning" } as const;

/** A row for each sub-agent; the complete replies below them where results are complete. */
function drawProgress(rows: readonly Progress[], text: string, theme: EntryTheme, expanded: boolean): EntryComponent {
	return {
		render(width) {
			const names = Math.min(16, Math.max(...rows.map(({ agent }) => agent.length)));
			const lines = rows.map((row) => drawRow(row, names, width, theme));
			if (!expanded) return lines;
			const files = rows.flatMap(({ file }) => (file === null ? [] : wrapTextWithAnsi(theme.dim(file), width)));
			return [...lines, ...files, ...(text === "" ? [] : ["", ...wrapTextWithAnsi(text, width)])];
		},
		invalidate() {},
	};
}

function drawRow(row: Progress, names: number, width: number, theme: EntryTheme): string {
	const { agent, task, state, note, tokens, cost } = row;
	const style = theme[STYLES[state]];
	const left = `${style(MARKS[state])} ${truncateToWidth(agent, names, "…").padEnd(names)}`;
	const figures =
		tokens === 0 || state === "canceled"
			? state
			: `${tokens < 1000 ? tokens : `${(tokens / 1000).toFixed(1)}k`} tokens${cost > 0 ? ` · $${cost.toFixed(cost < 0.01 ? 4 : 2)}` : ""}`;
	const room = width - visibleWidth(left) - figures.length - 4;
	const text = state === "failed" ? theme.error(note) : state === "running" && note !== "" ? note : theme.dim(task);
	const middle = room < 8 ? "" : `  ${truncateToWidth(text, room, "…", true)}`;
	return truncateToWidth(`${left}${middle}  ${theme.dim(figures)}`, width, "…");
}

/** `read src/a.ts`: the tool and its first text argument. */
function describeCall(name: string, args: Record<string, unknown>): string {
	const subject = Object.values(args).find((value) => typeof value === "string");
	return onOneLine(`${name} ${subject ?? ""}`);
}

function onOneLine(text: string): string {
	return text.slice(0, 400).replace(/\s+/g, " ").trim().slice(0, 200);
}

/** The share of one of `count` replies in a result. */
function cut(reply: string, count: number, file: string | null): string {
	const lines = reply.split("\n").slice(0, Math.floor(MAX_LINES / count));
	const kept = Buffer.from(lines.join("\n"))
		.subarray(0, Math.floor(MAX_BYTES / count))
		.toString()
		.replace(/\ufffd+$/, "");
	return kept.length === reply.length ? reply : `${kept}\n[Cut; the complete reply is ${file ?? "lost"}]`;
}

function describe(error: unknown, { path, lineOf }: Agent): string {
	const text = error instanceof Error ? error.message : String(error);
	if (!(error instanceof PiError)) return text;
	const start = error.code === "model_unknown" ? `${path}:${lineOf("model")}: ${text}` : text;
	return error.hint ? `${start} · ${error.hint}` : start;
}
