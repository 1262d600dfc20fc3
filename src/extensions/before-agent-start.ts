import { isDeepStrictEqual } from "node:util";
import type { HookEventContext } from "../hooks/types.js";
import { isMessageEntry, messageText } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import { readContent } from "./content.js";
import type { Extension } from "./extension.js";
import { currentChange, isOwnSection, promptChange, promptEntry, promptText } from "./extension-context-event.js";

/** The parts of the system prompt as extensions see them. They change the first four, and pi adds what these contain. */
export interface PromptOptions {
	/** Texts by the names of their tags. */
	sections: Record<string, string>;
	promptGuidelines: string[];
	appendSystemPrompt: string;
	/** Replaces the complete prompt. */
	forceSystemPrompt?: string;
	selectedTools: string[];
	toolSnippets: Record<string, string>;
	toolGuidelines: Record<string, string[]>;
	cwd: string;
	contextFiles: { path: string; content: string }[];
	skills: { name: string; description: string; filePath: string }[];
}

/** Fields that extensions can read: pi does not build its prompt from them. */
const READ_ONLY = ["selectedTools", "toolSnippets", "toolGuidelines", "cwd", "contextFiles", "skills"] as const;

/** The parts of the system prompt of a session, as a copy. */
export function promptOptions({ cwd, tools, systemPrompt, commands }: HookEventContext): PromptOptions {
	const files = systemPrompt.find(({ id }) => id === "context-files");
	return {
		sections: {},
		promptGuidelines: [],
		appendSystemPrompt: "",
		selectedTools: tools.active.map(({ name }) => name),
		toolSnippets: {},
		toolGuidelines: {},
		cwd,
		contextFiles: files ? [{ path: "AGENTS.md", content: files.text }] : [],
		skills: commands.flatMap(({ name, description = "", source, path = "" }) =>
			source === "skill" ? [{ name: name.replace(/^skill:/, ""), description, filePath: path }] : [],
		),
	};
}

/** The system prompt with what an extension has put into its parts. */
function withOptions(base: string, options: PromptOptions): string {
	// Extensions run without type checks.
	const { sections, promptGuidelines, appendSystemPrompt, forceSystemPrompt }: Partial<Record<string, unknown>> = {
		...options,
	};
	if (typeof forceSystemPrompt === "string") return forceSystemPrompt;
	const guidelines = Array.isArray(promptGuidelines) ? promptGuidelines.map((line) => `- ${String(line)}`) : [];
	const tagged = isRecord(sections)
		? Object.entries(sections).flatMap(([name, text]) =>
				typeof text === "string" && text.trim() !== "" ? [`<${name}>\n${text.trim()}\n</${name}>`] : [],
			)
		: [];
	const added = [typeof appendSystemPrompt === "string" ? appendSystemPrompt : "", guidelines.join("\n"), ...tagged];
	return [base, ...added.filter((text) => text.trim() !== "")].join("\n\n");
}

/** The system prompt without what this extension has added. */
function promptWithout(ctx: HookEventContext, extension: string): string {
	return promptText(ctx.systemPrompt.filter((section) => !isOwnSection(section, extension)));
}

/** The prompt is in the log by now, and the request is not computed yet: what handlers add follows the prompt. */
export async function beforeAgentStart(extension: Extension, ctx: HookEventContext): Promise<void> {
	const { handlers, name, refusals } = extension;
	const entry = ctx.entries.findLast((candidate) => isMessageEntry(candidate) && candidate.message.role === "user");
	const message = isMessageEntry(entry) ? entry.message : null;
	const content = message?.role === "user" ? readContent(message.content) : "";
	const base = promptWithout(ctx, name);
	const systemPromptOptions = promptOptions(ctx);
	const given = structuredClone(systemPromptOptions);
	const messages: unknown[] = [];
	/** An answer replaces the prompt, with everything that earlier handlers have put into its parts. */
	let answered: string | null = null;
	const current = () => answered ?? withOptions(base, systemPromptOptions);
	await handlers.emit(
		"before_agent_start",
		ctx,
		() => ({
			type: "before_agent_start",
			prompt: message ? messageText(message) : "",
			images: typeof content === "string" ? [] : content.filter(({ type }) => type === "image"),
			systemPrompt: current(),
			systemPromptOptions,
		}),
		(answer) => {
			if (typeof answer.systemPrompt === "string") answered = answer.systemPrompt;
			if (answer.message !== undefined) messages.push(answer.message);
		},
	);
	for (const field of READ_ONLY) {
		if (isDeepStrictEqual(systemPromptOptions[field], given[field])) continue;
		refusals.refuse(`a change of systemPromptOptions.${field}`, "use sections, or return a systemPrompt");
	}
	const systemPrompt = current();
	const change = systemPrompt === base ? null : promptChange(base, systemPrompt);
	if (!isDeepStrictEqual(change, currentChange(ctx.entries, name))) await ctx.saveEntry(promptEntry(name, change));
	await extension.saveWaiting(ctx, messages);
}
