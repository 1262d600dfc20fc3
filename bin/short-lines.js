// A Rolldown plugin that wraps the lines of minified files: Node prints the line of an uncaught error.

/** A line is longer only if it contains a longer token. */
const MAX_LENGTH = 300;

/** Wraps the lines of each file. */
export const shortLines = {
	name: "short-lines",
	generateBundle(_, bundle) {
		for (const file of Object.values(bundle)) {
			if (file.type === "chunk") file.code = wrap(file.code, findBreaks(this.parse(file.code), file.code));
		}
	},
};

/** @param breaks positions in ascending order where a line may begin */
function wrap(code, breaks) {
	const lines = [];
	let start = 0;
	for (const [at, position] of breaks.entries()) {
		const next = breaks[at + 1] ?? code.length;
		if (next - start <= MAX_LENGTH) continue;
		lines.push(code.slice(start, position));
		start = position;
	}
	return [...lines, code.slice(start)].join("\n");
}

/** Where nodes begin after a character that no line break can change the meaning of. */
function findBreaks(program, code) {
	const breaks = new Set();
	const visit = (node) => {
		if (node.type !== "TemplateElement" && ",;{".includes(code[node.start - 1])) breaks.add(node.start);
		for (const value of Object.values(node)) if (typeof value === "object" && value !== null) visit(value);
	};
	visit(program);
	return [...breaks].sort((a, b) => a - b);
}
