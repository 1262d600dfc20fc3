const NAMED = {
	enter: "\r",
	tab: "\t",
	"shift+tab": "\x1b[Z",
	escape: "\x1b",
	space: " ",
	backspace: "\x7f",
	"alt+backspace": "\x1b\x7f",
	"alt+enter": "\x1b\r",
	up: "\x1b[A",
	down: "\x1b[B",
	right: "\x1b[C",
	left: "\x1b[D",
	home: "\x1b[H",
	end: "\x1b[F",
	insert: "\x1b[2~",
	delete: "\x1b[3~",
	pageUp: "\x1b[5~",
	pageDown: "\x1b[6~",
	"alt+up": "\x1b[1;3A",
	"alt+down": "\x1b[1;3B",
	"alt+right": "\x1b[1;3C",
	"alt+left": "\x1b[1;3D",
	"ctrl+right": "\x1b[1;5C",
	"ctrl+left": "\x1b[1;5D",
	/** With modifyOtherKeys: plain bytes cannot distinguish them from ctrl+p, enter and others. */
	"shift+ctrl+p": "\x1b[27;6;112~",
	"shift+ctrl+d": "\x1b[27;6;100~",
	"shift+enter": "\x1b[27;2;13~",
} as const;
const BYTES = new Map<string, string>(Object.entries(NAMED));

/** The name of a key: one of the table, or `ctrl+` or `alt+` and a character. */
export type KeyName = keyof typeof NAMED | `ctrl+${string}` | `alt+${string}`;

/**
 * The bytes a terminal sends for a key: a name of the table, `ctrl+x`, `alt+x` or a single character.
 * @throws Error for an unknown name
 */
export function keyBytes(key: string): string {
	const named = BYTES.get(key);
	if (named !== undefined) return named;
	const control = /^ctrl\+([a-z@[\\\]^_-])$/.exec(key)?.[1];
	if (control !== undefined) {
		return String.fromCharCode(control === "-" ? 0x1f : control.toUpperCase().charCodeAt(0) & 0x1f);
	}
	const meta = /^alt\+(.)$/u.exec(key)?.[1];
	if (meta !== undefined) return `\x1b${meta}`;
	if ([...key].length === 1) return key;
	throw new Error(`No key is named ${key}`);
}
