import { isRecord } from "../util/is-record.js";

/**
 * The files that a package.json gives to an import within its package, such as `#lib` or the package's name: for every
 * condition, relative to the package.
 */
export function packageTargets(manifest: unknown, specifier: string): string[] {
	if (!isRecord(manifest)) return [];
	if (specifier.startsWith("#")) return targetsIn(manifest.imports, specifier);
	const { name, exports } = manifest;
	if (typeof name !== "string" || (specifier !== name && !specifier.startsWith(`${name}/`))) return [];
	const path = `.${specifier.slice(name.length)}`;
	const hasPaths = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
	return targetsIn(hasPaths ? exports : { ".": exports }, path);
}

function targetsIn(map: unknown, path: string): string[] {
	if (!isRecord(map)) return [];
	return Object.entries(map).flatMap(([key, target]) => {
		const [before = "", after] = key.split("*");
		if (after === undefined) return key === path ? textsIn(target) : [];
		const isMatch = path.length >= before.length + after.length && path.startsWith(before) && path.endsWith(after);
		const part = path.slice(before.length, path.length - after.length);
		return isMatch ? textsIn(target).map((text) => text.replaceAll("*", () => part)) : [];
	});
}

/** The texts in a target: each condition and each alternative. */
function textsIn(target: unknown): string[] {
	if (typeof target === "string") return [target];
	if (Array.isArray(target)) return target.flatMap(textsIn);
	return isRecord(target) ? Object.values(target).flatMap(textsIn) : [];
}
