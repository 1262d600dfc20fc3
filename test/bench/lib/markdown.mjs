/** A long answer as models write them: prose, lists, a table, code. About `bytes` long, ends with `END_MARK`. */
export function longMarkdown(bytes) {
	const parts = [];
	let length = 0;
	for (let section = 1; length < bytes; section++) {
		const part = SECTION.replaceAll("#N#", String(section));
		parts.push(part);
		length += part.length;
	}
	return `${parts.join("").slice(0, bytes)}\n\n${END_MARK}\n`;
}

export const END_MARK = "ꙮEND-OF-ANSWERꙮ";

const SECTION = `## Section #N#: how the parser keeps its sandbox

The parser reads **one token at a time** and keeps the rest for later, so that a long input costs no more memory than a
short one. When it meets \`nextToken(#N#)\` it looks at the table below, and only then decides whether to go on.

- the first rule is that nothing is read twice
- the second is that *every* token belongs to exactly one node
- the third follows from the two before it, see [the notes](https://example.com/notes/#N#)

| state | on letter | on digit |
|-------|-----------|----------|
| start | word      | number   |
| word  | word      | word     |

\`\`\`ts
export function step#N#(state: State, input: string): State {
	const next = TABLE[state]?.[classify(input)] ?? "error";
	return next === "error" ? fail(state, input) : next;
}
\`\`\`

`;

/** Splits a text into chunks of a few characters, like tokens. */
export function tokens(text, size = 16) {
	const parts = [];
	for (let start = 0; start < text.length; start += size) parts.push(text.slice(start, start + size));
	return parts;
}
