import type { Cells } from "./vim-text.js";

/** A text that was deleted or yanked. */
export interface VimRegister {
	readonly lines: readonly Cells[];
	/** Whether it consists of complete lines. */
	readonly isLines: boolean;
}

/** Where an operator puts the text that it removes. */
export interface Removal {
	/** The named register; empty: none. */
	name: string;
	/** Whether the numbered registers receive it too. */
	isLarge: boolean;
	/** Whether the register for small deletions receives it, if no register is named. */
	isSmall: boolean;
}

/** The registers of vim: `"` is that used last, `0` the last yank, `1` to `9` the last deletions, `-` the last small one. */
export class VimRegisters {
	readonly #texts = new Map<string, VimRegister>();
	#last = "0";

	/** @param copy receives what is written to the clipboard's registers */
	constructor(private readonly copy: (register: VimRegister) => void = () => {}) {}

	/** @param name empty or `"`: the register used last */
	read(name: string): VimRegister | undefined {
		return this.#texts.get(name === "" || name === '"' ? this.#last : name === "*" ? "+" : name.toLowerCase());
	}

	yank(name: string, register: VimRegister): void {
		if (name === "_") return;
		this.#write(name === "" || name === '"' ? "0" : name, register);
	}

	remove({ name, isLarge, isSmall }: Removal, register: VimRegister): void {
		if (name === "_") return;
		const isNamed = name !== "" && name !== '"';
		if (isNamed) this.#write(name, register);
		const isAppended = /[A-Z]/.test(name);
		const last = this.#last;
		if (isLarge) {
			for (let number = 9; number > 1; number -= 1) {
				const previous = this.#texts.get(String(number - 1));
				if (previous) this.#texts.set(String(number), previous);
			}
			this.#texts.set("1", register);
			this.#last = isAppended ? last : "1";
		}
		if (isSmall && !isNamed) {
			this.#texts.set("-", register);
			this.#last = "-";
		}
	}

	/** Changes all registers, such as before the texts of folded pastes are forgotten. */
	map(change: (register: VimRegister) => VimRegister): void {
		for (const [name, register] of this.#texts) this.#texts.set(name, change(register));
	}

	/** @param name an upper case letter appends to the register of the lower case one */
	#write(name: string, register: VimRegister): void {
		if (name === "+" || name === "*") {
			this.copy(register);
			this.#texts.set("+", register);
			this.#last = "+";
			return;
		}
		const key = name.toLowerCase();
		const old = this.#texts.get(key);
		this.#texts.set(key, name !== key && old ? joined(old, register) : register);
		this.#last = key;
	}
}

function joined(old: VimRegister, added: VimRegister): VimRegister {
	if (old.isLines || added.isLines) return { lines: [...old.lines, ...added.lines], isLines: true };
	const [first = [], ...rest] = added.lines;
	const last = old.lines.at(-1) ?? [];
	return { lines: [...old.lines.slice(0, -1), [...last, ...first], ...rest], isLines: false };
}
