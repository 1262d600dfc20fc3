/** A part of a text, in UTF-16 units; `end` is not part of it. */
export interface Span {
	start: number;
	end: number;
}

interface Word extends Span {
	text: string;
}

/** What separates commands; of it, a pipe passes the output of one to the next. */
const SEPARATOR = /[;&|\n()`]/;
/** Quotes and braces begin and end words, too: `sh -c "rm -rf x"` runs what is between them. */
const WORD = /[^\s"'{};&|()`]+/g;
const STATEMENT = /\b(?:drop|truncate)\s{1,9}(?:table|database|schema)\b/gi;
/** Devices that keep or end nothing that is written to them. */
const HARMLESS_DEVICE = /^\/dev\/(?:null|std(?:out|err)|tty|fd\/\d+)$/;

/** Programs that are dangerous with any arguments. */
const ALWAYS = new Set(["sudo", "doas", "su", "shred", "wipefs", "fdisk", "shutdown", "reboot", "poweroff", "halt"]);
const SHELLS = new Set(["sh", "bash", "zsh", "dash", "fish", "python", "python3", "node", "perl", "ruby", "php"]);
/** Programs that run the one after them. */
const PREFIXES = new Set(["sudo", "doas", "env", "exec", "nohup", "command"]);
const FETCHERS = new Set(["curl", "wget"]);

/** Which of the words after a program make it dangerous. */
const WITH: Readonly<Record<string, (word: string) => boolean>> = {
	rm: (word) => /^-[a-z]*[rf]/i.test(word) || word === "--recursive" || word === "--force",
	chmod: (word) => /^-[a-z]*R/.test(word) || word === "--recursive" || /^0?777$/.test(word),
	chown: (word) => /^-[a-z]*R/.test(word) || word === "--recursive",
	dd: (word) => word.startsWith("of="),
	find: (word) => word === "-delete",
	truncate: (word) => /^-[a-z]*s/.test(word) || word.startsWith("--size"),
};

/** The same after a command of git. */
const GIT: Readonly<Record<string, (word: string) => boolean>> = {
	push: (word) => /^-[a-z]*[fd]/.test(word) || /^--(?:force|mirror|delete|prune)/.test(word) || /^[+:]./.test(word),
	reset: (word) => word === "--hard",
	clean: (word) => /^-[a-z]*f/.test(word) || word === "--force",
	branch: (word) => /^-[a-z]*D/.test(word),
	checkout: (word) => /^-[a-z]*f/.test(word) || word === "--force" || word === "--" || word === ".",
	restore: () => true,
	stash: (word) => word === "drop" || word === "clear",
	"filter-branch": () => true,
};

/**
 * The parts of a shell command that may destroy something or run what nobody has read: a hint for the eye of whoever approves it,
 * not a protection. Words in quotes and arguments count like commands; what expands or is encoded is not found.
 * @returns ascending, without overlaps
 */
export function findDanger(command: string): Span[] {
	const found: Span[] = [];
	let fetched: Span | null = null;
	let before = 0;
	for (const part of partsOf(command)) {
		const words = wordsOf(part, command);
		const separator = command.slice(before, part.start);
		before = part.end;
		const first = words.find((word) => !PREFIXES.has(nameOf(word)));
		// `||` is not a pipe.
		const isPiped = separator === "|" || separator === "|&";
		if (fetched && isPiped && first && SHELLS.has(nameOf(first))) found.push({ start: fetched.start, end: first.end });
		const fetcher = words.find((word) => FETCHERS.has(nameOf(word)));
		fetched = fetcher ? { start: fetcher.start, end: part.end } : isPiped ? fetched : null;
		found.push(...dangersAmong(words));
	}
	for (const { index, 0: text } of command.matchAll(STATEMENT)) found.push({ start: index, end: index + text.length });
	return merged(found);
}

function dangersAmong(words: readonly Word[]): Span[] {
	return words.flatMap((word, at): Span[] => {
		const rest = words.slice(at + 1);
		const name = nameOf(word);
		const device = redirectedTo(word, rest[0]);
		if (device) return [device];
		if (ALWAYS.has(name) || name.startsWith("mkfs")) return [word];
		if (name === "git") return gitDangers(word, rest);
		return Object.hasOwn(WITH, name) ? upTo(word, rest, WITH[name]) : [];
	});
}

function gitDangers(git: Word, words: readonly Word[]): Span[] {
	const at = words.findIndex(({ text }) => Object.hasOwn(GIT, text));
	const command = words[at];
	return command ? upTo(git, words.slice(at + 1), GIT[command.text]) : [];
}

/** From a word to the last of the others that is dangerous. */
function upTo(from: Word, words: readonly Word[], isDangerous?: (word: string) => boolean): Span[] {
	const last = words.findLast(({ text }) => isDangerous?.(text));
	return last ? [{ start: from.start, end: last.end }] : [];
}

/** `>/dev/sda`, in one word or two. */
function redirectedTo(word: Word, next: Word | undefined): Span | null {
	const at = word.text.lastIndexOf(">");
	if (at < 0) return null;
	const own = word.text.slice(at + 1);
	const target = own === "" ? next : { ...word, text: own };
	if (!target?.text.startsWith("/dev/") || HARMLESS_DEVICE.test(target.text)) return null;
	return { start: word.start, end: target.end };
}

/** The name of a program, without its directory and a backslash before it. */
function nameOf({ text }: Word): string {
	return text.slice(text.lastIndexOf("/") + 1).replace(/^\\/, "");
}

function partsOf(command: string): Span[] {
	const parts: Span[] = [];
	let start = 0;
	for (let at = 0; at <= command.length; at++) {
		if (at < command.length && !SEPARATOR.test(command.charAt(at))) continue;
		if (command.slice(start, at).trim() !== "") parts.push({ start, end: at });
		start = at + 1;
	}
	return parts;
}

function wordsOf({ start, end }: Span, command: string): Word[] {
	return [...command.slice(start, end).matchAll(WORD)].map(({ index, 0: text }) => ({
		text,
		start: start + index,
		end: start + index + text.length,
	}));
}

function merged(spans: readonly Span[]): Span[] {
	const result: Span[] = [];
	for (const span of spans.toSorted((a, b) => a.start - b.start)) {
		const last = result.at(-1);
		if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
		else result.push({ start: span.start, end: span.end });
	}
	return result;
}
