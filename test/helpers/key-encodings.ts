/** The encodings of a key. */
export interface KeyEncodings {
	/** A plain terminal; undefined if it cannot send the key. */
	legacy: string | undefined;
	/** xterm's modifyOtherKeys, which tmux uses. */
	modifyOtherKeys: string;
	/** modifyOtherKeys in its shorter form. */
	csiU: string;
	/** The Kitty protocol with event types: pressed, held, released, and pressed with Caps Lock on. */
	kitty: { press: string; repeat: string; release: string; capsLock: string };
}

const MODIFIERS: Record<string, number> = { shift: 1, alt: 2, ctrl: 4, super: 8 };
const CAPS_LOCK = 64;
/** Keys with a letter at the end of their sequence. */
const LETTERED: Record<string, string> = { up: "A", down: "B", right: "C", left: "D", end: "F", home: "H" };
/** Keys with a number before a tilde. */
const NUMBERED: Record<string, number> = { delete: 3, pageUp: 5, pageDown: 6 };
/** Keys that are characters. */
const CHARACTERS: Record<string, number> = { tab: 9, enter: 13, escape: 27, space: 32, backspace: 127 };

/** The bytes for a key such as `ctrl+alt+]` or `pageUp`. */
export function encodingsOf(key: string): KeyEncodings {
	const parts = key.split(/\+(?!$)/);
	const base = parts.pop() ?? "";
	const bits = parts.reduce((sum, modifier) => sum + (MODIFIERS[modifier] ?? 0), 0);
	const letter = LETTERED[base];
	const number = NUMBERED[base];
	const sequence = (modifiers: number, event = ""): string => {
		const modifier = `${modifiers + 1}${event}`;
		const plain = modifiers === 0 && event === "";
		if (letter !== undefined) return plain ? `\x1b[${letter}` : `\x1b[1;${modifier}${letter}`;
		if (number !== undefined) return plain ? `\x1b[${number}~` : `\x1b[${number};${modifier}~`;
		const code = CHARACTERS[base] ?? base.charCodeAt(0);
		return plain ? `\x1b[${code}u` : `\x1b[${code};${modifier}u`;
	};
	const isCharacter = letter === undefined && number === undefined;
	const code = CHARACTERS[base] ?? base.charCodeAt(0);
	const legacy = isCharacter ? legacyCharacter(base, code, bits) : sequence(bits);
	return {
		legacy,
		modifyOtherKeys: isCharacter && bits > 0 ? `\x1b[27;${bits + 1};${code}~` : (legacy ?? sequence(bits)),
		csiU: isCharacter && bits > 0 ? sequence(bits) : (legacy ?? sequence(bits)),
		kitty: {
			press: sequence(bits, ":1"),
			repeat: sequence(bits, ":2"),
			release: sequence(bits, ":3"),
			capsLock: sequence(bits + CAPS_LOCK),
		},
	};
}

function legacyCharacter(base: string, code: number, bits: number): string | undefined {
	const alt = bits & 2 ? "\x1b" : "";
	if (base === "tab" && bits === 1) return "\x1b[Z";
	if (bits === 1 && /^[a-z]$/.test(base)) return base.toUpperCase();
	if (bits & 1 || bits & 8) return undefined;
	if (!(bits & 4)) return alt + String.fromCharCode(code);
	if (base === "-") return `${alt}\x1f`;
	return /^[a-z\]\\]$/.test(base) ? alt + String.fromCharCode(code & 0x1f) : undefined;
}
