import { isBuiltin } from "node:module";
import { MODULE_IMPORT, MODULE_META } from "./expressions.js";
import { MODULE_DEFAULT, ModuleParser, type ValueImport } from "./statements.js";
import { NOT_SIMPLE } from "./tokens.js";

/** A module as a function: `(exportAll, get, load, meta) => Promise<void>`. */
export interface StrippedModule {
	/** Comes before `code` on its first line: imports and exports. */
	head: string;
	/** The source with blanked types: every position is that of the source. It ends with the end of the function. */
	code: string;
	/** Modules that the file imports, in order. */
	imports: string[];
	/** Modules that it may load later. */
	dynamicImports: string[];
	/** True if an export is a variable that can change. */
	hasMutableExports: boolean;
}

/** What only CommonJS modules have. */
const COMMONJS = ["require", "module", "exports", "__filename", "__dirname"];
const OWN_NAMES = "$pi_";

/**
 * Turns a TypeScript module into a function without moving any code, by blanking its types.
 * @returns null for modules that need more than that, such as enums, decorators and parameter properties. What it returns
 * for a module with a syntax error can be malformed.
 */
export function stripModule(source: string): StrippedModule | null {
	if (source.includes(OWN_NAMES)) return null;
	try {
		const parser = new ModuleParser(source);
		parser.parse();
		const { used, declared } = parser;
		if (COMMONJS.some((name) => used.has(name) && !declared.has(name))) return null;
		const imports = parser.imports.map((one) => usedPart(one, used)).filter((one) => one !== null);
		const exported = [...parser.exports].filter(([, local]) => declared.has(local) || local === MODULE_DEFAULT);
		const getters = exported.map(([name, local]) => `${JSON.stringify(name)}: () => ${local}`);
		return {
			head: `(async ($pi_exports, $pi_get, ${MODULE_IMPORT}, ${MODULE_META}) => { "use strict"; let ${MODULE_DEFAULT}; $pi_exports({ ${getters.join(", ")} }); ${imports.map(importCode).join("")}`,
			code: `${replaceAll(source, parser.replaced)}\n})`,
			imports: [...new Set(imports.map(({ specifier }) => specifier))],
			dynamicImports: [...parser.dynamicImports],
			hasMutableExports: exported.some(([, local]) => parser.mutable.has(local)),
		};
	} catch (thrown) {
		if (thrown === NOT_SIMPLE) return null;
		throw thrown;
	}
}

/** An import without the names that only types use; null if no name is left. */
function usedPart({ specifier, names }: ValueImport, used: ReadonlySet<string>): ValueImport | null {
	const kept = names.filter(({ local }) => used.has(local));
	return names.length > 0 && kept.length === 0 ? null : { specifier, names: kept };
}

function importCode({ specifier, names }: ValueImport): string {
	const module = `$pi_get(${JSON.stringify(specifier)})`;
	return names
		.map(({ imported, local }) => {
			// Node's own modules are their default exports.
			if (imported === "*" || (imported === "default" && isBuiltin(specifier))) return `const ${local} = ${module}; `;
			// CommonJS cannot tell a module without a default export from one that is its own.
			const otherwise = imported === "default" ? ` = ${module}` : "";
			return `const { ${imported}: ${local}${otherwise} } = ${module}; `;
		})
		.join("");
}

function replaceAll(source: string, replaced: ModuleParser["replaced"]): string {
	let code = "";
	let at = 0;
	for (const { start, end, text } of replaced.sort((a, b) => a.start - b.start)) {
		code += source.slice(at, start) + text;
		at = end;
	}
	return code + source.slice(at);
}
