import { isRecord } from "../util/is-record.js";
import { isIndex, isMessageEntry, type MessageEntry, messageText, type SessionEntry, type TextRange } from "./entry.js";

/** The parts of the prompt that `/skill:name rest` sends. */
export interface SkillPrompt {
	name: string;
	/** The directory of the skill, where its other files are. */
	directory: string;
	/** The instructions of SKILL.md. */
	body: string;
	/** What the user typed after the name; empty for nothing. */
	rest: string;
}

const START = '<skill name="';
const DIRECTORY = '" directory="';
const HEAD_END = '">\n';
const END = "\n</skill>\n\n";
const WITHOUT_REST = "Follow this skill.";
/** A name that can be part of a command; see `isResourceName`. */
const NAME = /^[a-z0-9][a-z0-9_:-]{0,63}$/i;

/** The text that the model gets for `/skill:name rest`. */
export function skillPromptText({ name, directory, body, rest }: SkillPrompt): string {
	return `${START}${name}${DIRECTORY}${directory}${HEAD_END}${body}${END}${rest.trim() || WITHOUT_REST}`;
}

/** Reads what `skillPromptText` wrote; null for any other text. */
export function readSkillPrompt(text: string): SkillPrompt | null {
	if (!text.startsWith(START)) return null;
	const nameEnd = text.indexOf(DIRECTORY);
	const headEnd = text.indexOf(HEAD_END, nameEnd);
	const bodyEnd = text.indexOf(END, headEnd);
	const name = text.slice(START.length, nameEnd);
	if (nameEnd < 0 || headEnd < 0 || bodyEnd < 0 || !NAME.test(name)) return null;
	const directory = text.slice(nameEnd + DIRECTORY.length, headEnd);
	const rest = text.slice(bodyEnd + END.length);
	const body = text.slice(headEnd + HEAD_END.length, bodyEnd);
	return { name, directory, body, rest: rest === WITHOUT_REST ? "" : rest };
}

/** The text of a prompt with a skill as its command, `/skill:name rest`; other texts are unchanged. */
export function withoutSkill(text: string): string {
	const skill = readSkillPrompt(text);
	return skill ? `/skill:${skill.name} ${skill.rest}`.trimEnd() : text;
}

/** What the user typed for a user message: without what hooks changed in it, and a skill as its command. */
export function promptText({ typed, message }: MessageEntry): string {
	return typeof typed === "string" ? typed : withoutSkill(messageText(message));
}

/** True for a prompt that print or JSON mode sent. */
export function isPrinted({ mode }: Pick<MessageEntry, "mode">): boolean {
	return mode === "print" || mode === "json";
}

/** The long pasted parts of a prompt, in order; without those that the text does not have. */
export function pastedParts(entry: SessionEntry | undefined): TextRange[] {
	if (!isMessageEntry(entry) || !Array.isArray(entry.pasted)) return [];
	const { length } = messageText(entry.message);
	let from = 0;
	return entry.pasted.flatMap((part: unknown): TextRange[] => {
		if (!isRecord(part)) return [];
		const { start, end } = part;
		if (!isIndex(start) || !isIndex(end) || start < from || end <= start || end > length) return [];
		from = end;
		return [{ start, end }];
	});
}

/** The text that the user typed to create this entry; undefined for entries from other sources. */
export function promptOfEntry(entry: SessionEntry | undefined): string | undefined {
	if (!isMessageEntry(entry)) return undefined;
	const { message } = entry;
	if (message.role === "user") return promptText(entry);
	return message.role === "bashExecution" ? `${message.excludeFromContext ? "!!" : "!"}${message.command}` : undefined;
}
