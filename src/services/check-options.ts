import { statSync } from "node:fs";
import type { Api, Model } from "@mariozechner/pi-ai";
import type { JsonKeys } from "../config/json-error.js";
import { readBySchema, type Schema, type SchemaProblem } from "../config/json-schema.js";
import { errorText, PiError } from "../errors.js";
import { checkTool } from "../hooks/tool-definition.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";
import type { AnyTool } from "../tools/tool.js";
import { isRecord } from "../util/is-record.js";
import type { CreateAgentSessionOptions } from "./create-options.js";

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const FLAG = { type: "boolean" } as const;
const OBJECT = { type: "object" } as const;
const FUNCTION = { type: "function", "x-expected": "a function" } as const;

/** The types of all options. */
const OPTIONS = {
	cwd: TEXT,
	env: OBJECT,
	home: TEXT,
	host: OBJECT,
	on: TEXT,
	agentDir: TEXT,
	settings: OBJECT,
	session: {
		type: "object",
		properties: {
			kind: { type: "string", enum: ["new", "continue", "named", "open", "read", "memory"] },
			name: { type: "string", minLength: 1 },
			target: { type: "string", minLength: 1 },
			copy: FLAG,
			printed: FLAG,
		},
		required: ["kind"],
		"x-expected": "an object with a kind",
	},
	sessionDir: TEXT,
	model: { type: ["string", "object"], "x-expected": "the name of a model, or a model" },
	provider: TEXT,
	models: TEXTS,
	apiKey: TEXT,
	thinkingLevel: { type: "string", enum: THINKING_LEVELS },
	tools: TEXTS,
	customTools: TEXTS,
	// `checkExtraTools` checks the items, `checkModel` those of `extraModels`.
	extraTools: { type: "array", "x-expected": "a list of tools" },
	mcp: FLAG,
	mcpFiles: TEXTS,
	mcpServers: OBJECT,
	offline: FLAG,
	hooks: {
		type: "array",
		items: {
			type: ["string", "function"],
			"x-expected": "the path of a hook file, pi:name, or a function that receives pi",
		},
		"x-expected": "a list of paths and functions",
	},
	extensions: TEXTS,
	packages: TEXTS,
	discoverHooks: FLAG,
	readFlags: FUNCTION,
	bundledHooks: FLAG,
	requireNamed: FLAG,
	contextFiles: FLAG,
	skills: TEXTS,
	discoverSkills: FLAG,
	systemPrompt: TEXT,
	appendSystemPrompt: TEXT,
	trust: FLAG,
	verbose: FLAG,
	onWait: FUNCTION,
	askTrust: FUNCTION,
	askGrant: FUNCTION,
	parent: { type: "object", "x-expected": "ctx.session of a hook" },
	from: { type: "number", "x-expected": "a number of entries" },
	watch: OBJECT,
	localServers: OBJECT,
	client: OBJECT,
	extraModels: { type: "array", "x-expected": "a list of models" },
} as const satisfies Record<keyof CreateAgentSessionOptions, Schema>;

/** The members of a model that requests and views need. */
const MODEL_MEMBERS = {
	id: TEXT,
	name: TEXT,
	api: TEXT,
	provider: TEXT,
	baseUrl: TEXT,
	input: TEXTS,
	cost: OBJECT,
	contextWindow: { type: "number" },
	maxTokens: { type: "number" },
} as const satisfies { [name in keyof Model<Api>]?: Schema };

const MODEL = { type: "object", properties: MODEL_MEMBERS, required: Object.keys(MODEL_MEMBERS) } as const;

/** The lists of a prompt, and the texts that each item has. */
const PROMPT_LISTS = {
	images: { expected: "a list of images", names: ["data", "mimeType"] },
	attachments: { expected: "a list of attachments", names: ["type", "fileName", "mimeType", "content"] },
};

const HINT = "docs/sdk.md describes the options";

/**
 * Checks the names and types of options, for programs without type checks. Options that are undefined count as omitted.
 * @throws PiError `bad_arguments` naming the first option that is unknown or malformed
 */
export function checkOptions(options: CreateAgentSessionOptions): void {
	const given: unknown = options;
	if (!isRecord(given)) throw new PiError("bad_arguments", "The options must be an object", { hint: HINT });
	check({ type: "object", properties: OPTIONS, additionalProperties: false }, given);
	const { cwd, session, model, extraModels = [], from, parent } = options;
	if (from !== undefined && parent === undefined)
		throw new PiError("bad_arguments", "from needs a parent", { hint: "pass ctx.session of a hook as parent" });
	if ((session?.kind === "open" || session?.kind === "read") && session.target === undefined)
		throw new PiError("bad_arguments", "session.target is missing", { hint: "pass the path or the id of a session" });
	if (session?.kind === "named" && (session.name === undefined || session.name.trim() === ""))
		throw new PiError("bad_arguments", "session.name is missing", { hint: "pass the name of a session" });
	if (cwd !== undefined && !isDirectory(cwd))
		throw new PiError("bad_arguments", `cwd: there is no directory ${cwd}`, { hint: "pass an existing directory" });
	if (typeof model === "object") checkModel(model);
	for (const [at, extra] of extraModels.entries()) checkModel(extra, ["extraModels", at]);
}

function isDirectory(path: string): boolean {
	try {
		return statSync(path).isDirectory();
	} catch {
		return false; // missing, or in a directory that may not be searched
	}
}

/** @throws PiError `bad_arguments` for a value that is not a model */
export function checkModel(model: Model<Api>, keys: JsonKeys = ["model"]): void {
	const names = Object.keys(MODEL_MEMBERS);
	check(MODEL, pick(model, names), keys, "pass a model, such as session.model, or its name");
}

/** @throws PiError `bad_arguments` for a value that is not a thinking level */
export function checkThinkingLevel(level: ThinkingLevel): void {
	check(OPTIONS.thinkingLevel, level, ["thinkingLevel"]);
}

/** @throws PiError `bad_arguments` for images or attachments of a prompt that are malformed */
export function checkPromptExtras(extras: unknown): void {
	const hint = "docs/sdk.md describes prompts";
	if (!isRecord(extras))
		throw new PiError("bad_arguments", "The second argument of a prompt must be an object", { hint });
	for (const [list, { expected, names }] of Object.entries(PROMPT_LISTS)) {
		const given = extras[list];
		if (given === undefined) continue;
		const properties = Object.fromEntries(names.map((name) => [name, TEXT]));
		const items = { type: "object", properties, required: names };
		const picked = Array.isArray(given) ? given.map((item) => pick(item, names)) : given;
		check({ type: "array", items, "x-expected": expected }, picked, [list], hint);
	}
}

/** These members of an object; other values are unchanged. */
function pick(value: unknown, names: readonly string[]): unknown {
	return isRecord(value) ? Object.fromEntries(names.map((name) => [name, value[name]])) : value;
}

/** @throws PiError `bad_arguments` for the first problem */
function check(schema: Schema, value: unknown, keys: JsonKeys = [], step = HINT): void {
	const onProblem = ({ keys, kind, message }: SchemaProblem) => {
		const [text = "", hint = step] = message.replace("; ignored", "").split(" · ");
		throw new PiError("bad_arguments", kind === "unknown" ? `Unknown option ${keys.join(".")}` : text, { hint });
	};
	readBySchema(schema, value, onProblem, keys);
}

/** @throws PiError `bad_arguments` naming the first tool that is malformed or repeated */
export function checkExtraTools(tools: readonly AnyTool[]): AnyTool[] {
	return tools.map((tool, at) => {
		try {
			const isRepeated = tools.findIndex(({ name }) => name === tool.name) < at;
			if (isRepeated) throw new Error(`there is another tool ${tool.name}`);
			return checkTool(tool);
		} catch (cause) {
			throw new PiError("bad_arguments", `extraTools[${at}]: ${errorText(cause)}`, { hint: "see docs/sdk.md" });
		}
	});
}
