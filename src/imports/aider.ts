import { basename, dirname } from "node:path";
import { builtInModels } from "../models/built-in-models.js";
import { Conversation, type ForeignModel, type Reply } from "./foreign-conversation.js";
import type { ForeignSession, FoundSession, Program } from "./program.js";
import { documentText, filesIn, modifiedAt, notASession, titleText } from "./records.js";

const FILE = ".aider.chat.history.md";
const START = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$/m;
const MODEL = /^(?:Main model|Model|Models): (\S+)/;
const TOKENS =
	/^Tokens: ([\d.,]+)(k|M)? sent(?:, ([\d.,]+)(k|M)? cache write)?(?:, ([\d.,]+)(k|M)? cache hit)?, ([\d.,]+)(k|M)? received\.(?: Cost: \$([\d.]+) message)?/;
/** Commands of aider that are no prompts; `/ask` and others carry one. */
const COMMAND = /^[/!](?!(?:ask|code|architect|context)\s)/;

/** A question of the program with its answer, which it writes like a prompt. */
const QUESTION = /\? \(Y\)es\/\(N\)o/;
/** Thinking of models that mark it in their text. */
const THINKING = /^<(thinking-content-[0-9a-f]+)>([\s\S]*?)<\/\1>/;

/** A chat in the history. */
interface Chat {
	/** Its start, which is unique in the file. */
	id: string;
	startedAt: number;
	lines: string[];
}

/**
 * Chats of aider: `.aider.chat.history.md` in a project, Markdown in which each chat begins with a heading, prompts begin with `####`, and
 * what the program says with `>`. All else is replies of the model.
 */
export const aider: Program = {
	name: "aider",
	title: "aider",
	files({ cwd }) {
		return filesIn(cwd, /^\.aider\.chat\.history\.md$/);
	},
	list(path): FoundSession[] {
		if (!path.endsWith(".md")) return [];
		const cwd = projectOf(path) ?? null;
		const chats = chatsOf(path);
		return chats.flatMap((chat): FoundSession[] => {
			const { id, startedAt, lines } = chat;
			const prompt = blocksOf(lines).find(({ kind, text }) => kind === "prompt" && isPrompt(text));
			if (!prompt) return [];
			// The file has no other times; only its last chat goes on.
			const changed = chat === chats.at(-1) ? Math.max(startedAt, modifiedAt(path)) : startedAt;
			return [{ program: "aider", path, id, cwd, title: titleText(prompt.text), modifiedAt: changed }];
		});
	},
	read(path, id): ForeignSession {
		const chat = chatsOf(path).find((candidate) => candidate.id === id);
		if (!chat) throw notASession(path, `it contains no chat that started at ${id}`);
		const conversation = new Conversation({});
		writeChat(conversation, chat);
		return conversation.session({ id, cwd: projectOf(path), startedAt: [chat.startedAt] });
	},
};

function projectOf(path: string): string | undefined {
	return basename(path) === FILE ? dirname(path) : undefined;
}

function chatsOf(path: string): Chat[] {
	let text: string;
	try {
		text = documentText(path);
	} catch {
		return [];
	}
	const chats: Chat[] = [];
	for (const line of text.split(/\r?\n/)) {
		const [, day, time] = START.exec(line) ?? [];
		if (day !== undefined && time !== undefined) {
			const isKnown = chats.some(({ id }) => id === `${day}T${time}`);
			const id = isKnown ? `${day}T${time}-${chats.length + 1}` : `${day}T${time}`;
			// The file has local times without a zone.
			chats.push({ id, startedAt: Date.parse(`${day}T${time}`), lines: [] });
		} else chats.at(-1)?.lines.push(line);
	}
	return chats;
}

function isPrompt(text: string): boolean {
	return !COMMAND.test(text) && !QUESTION.test(text);
}

interface MarkdownBlock {
	kind: "prompt" | "note" | "reply";
	text: string;
}

/** Consecutive lines of one kind; a blank line belongs to the kind before it. */
function blocksOf(lines: readonly string[]): MarkdownBlock[] {
	const blocks: { kind: MarkdownBlock["kind"]; lines: string[] }[] = [];
	for (const line of lines) {
		const kind =
			line.startsWith("#### ") || line === "####" ? "prompt" : line.startsWith("> ") || line === ">" ? "note" : "reply";
		const text = kind === "prompt" ? line.slice(5) : kind === "note" ? line.slice(2) : line;
		const last = blocks.at(-1);
		if (last && (last.kind === kind || line.trim() === "")) last.lines.push(text.trimEnd());
		else if (line.trim() !== "" || kind !== "reply") blocks.push({ kind, lines: [text.trimEnd()] });
	}
	return blocks
		.map(({ kind, lines: texts }) => ({ kind, text: texts.join("\n").trim() }))
		.filter(({ text }) => text !== "");
}

function writeChat(conversation: Conversation, { startedAt, lines }: Chat): void {
	let model = "unknown";
	let last: Reply | undefined;
	for (const { kind, text } of blocksOf(lines)) {
		if (kind === "prompt") {
			if (isPrompt(text)) conversation.prompt([{ type: "text", text }], startedAt);
			else conversation.leaveOut(COMMAND.test(text) ? "commands" : "notes of the program");
		} else if (kind === "reply") {
			last = conversation.reply(modelOf(model), startedAt);
			const thinking = THINKING.exec(text);
			if (thinking) last.content.push({ type: "thinking", thinking: thinking[2]?.trim() ?? "" });
			const said = text.slice(thinking?.[0].length ?? 0).trim();
			if (said !== "") last.content.push({ type: "text", text: said });
		} else {
			for (const line of text.split("\n")) {
				model = MODEL.exec(line)?.[1] ?? model;
				const tokens = TOKENS.exec(line);
				if (tokens && last) last.usage = usageOf(tokens);
				else conversation.leaveOut("notes of the program");
			}
		}
	}
}

/** Providers by the prefix of a model's name, where pi names them differently. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: "google", vertex_ai: "google" };
/** Providers whose models are named without a prefix. */
const UNPREFIXED = ["anthropic", "openai", "google", "deepseek"];

function modelOf(name: string): ForeignModel {
	const slash = name.indexOf("/");
	const prefix = name.slice(0, Math.max(0, slash));
	const id = name.slice(slash + 1);
	const providers = slash < 0 ? UNPREFIXED : [PROVIDERS[prefix] ?? prefix];
	const { lists } = builtInModels();
	const known = providers.map((provider) => lists.find(provider, id)).find((model) => model !== undefined);
	return (
		known ?? { api: "openai-completions", provider: providers.length === 1 ? (providers[0] ?? "") : "unknown", id }
	);
}

function usageOf([, sent, sentUnit, write, writeUnit, hit, hitUnit, received, receivedUnit, cost]: RegExpExecArray) {
	const cacheWrite = tokens(write, writeUnit);
	const cacheRead = tokens(hit, hitUnit);
	return {
		...{
			input: Math.max(0, tokens(sent, sentUnit) - cacheRead - cacheWrite),
			output: tokens(received, receivedUnit),
			cacheRead,
			cacheWrite,
		},
		...(cost === undefined ? {} : { cost: Number(cost) }),
	};
}

function tokens(text = "0", unit = ""): number {
	return Math.round(Number(text.replaceAll(",", "")) * (unit === "M" ? 1e6 : unit === "k" ? 1e3 : 1)) || 0;
}
