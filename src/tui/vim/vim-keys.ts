import { characterMotion, MOTIONS, type Motion, searchMotion } from "./vim-motions.js";
import { OBJECT_KEYS } from "./vim-objects.js";

/** What is typed before a command. */
export interface CommandPrefix {
	count: number | undefined;
	/** The named register; empty: none. */
	register: string;
	/** The key that follows. */
	key: string;
}

/** Receives one key after another. */
export type KeyReader<T> = Generator<undefined, T, string>;

/** Maximum of counts: more is not possible in a prompt. */
const MAX_COUNT = 99_999;
const REGISTER = /^[a-zA-Z0-9"\-_+*]$/;

/** Reads the count and the register of a command and the key that follows. @returns null if the register does not exist */
export function* readPrefix(): KeyReader<CommandPrefix | null> {
	let count: number | undefined;
	let register = "";
	while (true) {
		const key: string = yield;
		if (/^[1-9]$/.test(key) || (key === "0" && count !== undefined)) {
			count = Math.min(MAX_COUNT, (count ?? 0) * 10 + Number(key));
		} else if (key === "<del>" && count !== undefined) {
			count = Math.floor(count / 10) || undefined;
		} else if (key === '"') {
			register = yield;
			if (!REGISTER.test(register)) return null;
		} else return { count, register, key: key === "g" ? `g${yield}` : key };
	}
}

/** What has been typed of a search: the sign and the text. */
export interface SearchLine {
	text: string | null;
}

function withoutLastWord(text: string): string {
	const trimmed = text.trimEnd();
	return trimmed.slice(0, trimmed.lastIndexOf(" ") + 1);
}

/** Reads the motion that begins with a key. @returns null if it is none */
export function* readMotion(
	key: string,
	line: SearchLine,
	split: (text: string) => readonly string[],
): KeyReader<Motion | null> {
	const known = MOTIONS[key];
	if (known) return known;
	if (key === "f" || key === "F" || key === "t" || key === "T") {
		const cell: string = yield;
		return cell.startsWith("<") && cell.length > 1 ? null : characterMotion(key, cell);
	}
	if (key !== "/" && key !== "?") return null;
	let text = "";
	while (true) {
		line.text = key + text;
		const next: string = yield;
		if (next === "<cr>") break;
		if (next === "<bs>" && text === "") return null;
		if (next === "<bs>") text = [...split(text)].slice(0, -1).join("");
		else if (next === "<c-u>") text = "";
		else if (next === "<c-w>") text = withoutLastWord(text);
		else if (!(next.startsWith("<") && next.length > 1)) text += next;
	}
	line.text = null;
	return searchMotion(text, key === "/", split);
}

/** Reads the key of a text object. @returns null if it names none */
export function* readObject(key: string): KeyReader<{ key: string; isInner: boolean } | null> {
	const name: string = yield;
	return OBJECT_KEYS.has(name) ? { key: name, isInner: key === "i" } : null;
}
