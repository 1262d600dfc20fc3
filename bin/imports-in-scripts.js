// A Rolldown plugin that lets the bundle import modules while it runs: see bin/import.cjs.
import { dirname, relative } from "node:path/posix";

/** Replaces each import() that is left in a file: of modules that are not in the bundle. */
export const importsInScripts = {
	name: "imports-in-scripts",
	renderChunk(code, chunk) {
		const imports = findImports(this.parse(code));
		if (imports.length === 0) return null;
		const helper = relative(dirname(chunk.fileName), "import.cjs");
		const load = `require(${JSON.stringify(helper.startsWith(".") ? helper : `./${helper}`)}).load`;
		let result = code;
		for (const start of imports.reverse())
			result = result.slice(0, start) + load + result.slice(start + "import".length);
		return result;
	},
};

/** Where import() expressions start, in the order of the code. */
function findImports(node, found = []) {
	if (node?.type === "ImportExpression") found.push(node.start);
	for (const value of Object.values(node ?? {})) {
		if (typeof value === "object") findImports(value, found);
	}
	return found;
}
