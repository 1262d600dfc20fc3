import fc from "fast-check";

const SURROGATES = { first: 0xd800, after: 0xe000 };
const LAST = 0x10ffff;
const COUNT = LAST + 1 - (SURROGATES.after - SURROGATES.first);

/**
 * A character of any code point. fast-check's own unit `binary` generates the same, but to find a character's code point it
 * makes a table of all million, which takes a second of CPU time and 180 MB in each worker.
 */
const anyCharacter = fc.nat(COUNT - 1).map(
	(index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.after - SURROGATES.first),
	(value) => {
		const point = typeof value === "string" ? value.codePointAt(0) : undefined;
		if (point === undefined || String.fromCodePoint(point) !== value) throw new Error("not one character");
		if (point < SURROGATES.first) return point;
		if (point < SURROGATES.after) throw new Error("half a character");
		return point - (SURROGATES.after - SURROGATES.first);
	},
);

/** Generates text of any characters, also names such as `__proto__`. */
export function anyText(constraints: Omit<fc.StringConstraints, "unit"> = {}): fc.Arbitrary<string> {
	return fc.string({ ...constraints, unit: anyCharacter });
}
