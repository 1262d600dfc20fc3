// A Rolldown plugin that loads Node's built-in modules with require().
import { createRequire, isBuiltin } from "node:module";

const builtin = createRequire(import.meta.url);
const PREFIX = "\0builtin:";
const LOADER = `${PREFIX}loader`;

/**
 * Resolves imports of built-in modules to modules that read only the members that the program uses. A direct import makes
 * Node read all members, including lazy ones, which load streams, web crypto and more.
 */
export const nodeBuiltins = {
	name: "node-builtins",
	resolveId(name, _importer, { kind }) {
		if (name === LOADER) return { id: LOADER, moduleSideEffects: false };
		// The loader itself needs node:module.
		if (kind !== "import-statement" || !isBuiltin(name) || /^(?:node:)?module$/.test(name)) return null;
		return { id: PREFIX + name.replace(/^node:/, ""), moduleSideEffects: false };
	},
	load(id) {
		if (id === LOADER) {
			return `import { createRequire } from "node:module";
				export const builtin = /* @__PURE__ */ createRequire(import.meta.url);
				export const member = (module, name) => builtin(module)[name];`;
		}
		if (!id.startsWith(PREFIX)) return null;
		const module = `node:${id.slice(PREFIX.length)}`;
		const members = Object.keys(builtin(module)).map(
			(name) => `export const ${name} = /* @__PURE__ */ member("${module}", "${name}");`,
		);
		return `import { builtin, member } from ${JSON.stringify(LOADER)};
			export default /* @__PURE__ */ builtin("${module}");
			${members.join("\n")}`;
	},
};
