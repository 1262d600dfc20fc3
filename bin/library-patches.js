// The patches of libraries. Tests, `npm run dev` and the build all load libraries with them.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { applyPatch, parsePatch } from "diff";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Reads the patches for the libraries installed in a project.
 * @param {string} root the directory that contains patches/ and node_modules/
 * @throws Error if a library is missing, has another version than its patch, or lacks a patched module
 */
export function libraryPatches(root = ROOT) {
	/** Path of a module → a function from its own code to the patched code. */
	const replacements = new Map();
	const libraries = new Set();
	for (const { listedIn, library, version, file, replace } of patchedModules(root)) {
		const directory = join(root, "node_modules", library);
		const installed = existsSync(directory) ? manifestVersion(directory) : "no version";
		if (installed !== version) {
			throw new Error(
				`${listedIn} is for ${library} ${version}, but ${installed} is installed: run \`npm ci\`, or adapt it to the installed version`,
			);
		}
		const path = join(realpathSync(directory), file);
		if (!existsSync(path)) throw new Error(`${listedIn} names ${file}, which ${library} ${version} does not have`);
		replacements.set(path, replace);
		libraries.add(library);
	}
	return {
		/** Absolute paths of the patched modules. */
		paths: [...replacements.keys()],
		/** Matches the path of every module of the patched libraries. */
		modules: new RegExp(`[\\\\/]node_modules[\\\\/](?:${[...libraries].join("|").replaceAll("/", "[\\\\/]")})[\\\\/]`),
		/**
		 * Returns the patched code of a module.
		 * @param {string} path absolute
		 * @param {string} code of the library
		 * @returns {string | null} null if no patch changes the module
		 * @throws Error if a patch does not apply
		 */
		patchedSource(path, code) {
			const replace = replacements.get(normalize(path));
			return replace ? replace(code) : null;
		},
	};
}

/** The patches as a plugin for Rolldown and Vite. */
export function libraryPatchesPlugin({ modules, patchedSource } = libraryPatches()) {
	return {
		name: "library-patches",
		transform: {
			filter: { id: modules },
			handler(code, id) {
				const source = patchedSource(id, code);
				return source === null ? null : { code: source, map: null };
			},
		},
	};
}

/** The files that patches change. The name of a patch contains the library and its version. */
function patchedModules(root) {
	return readdirSync(join(root, "patches"), { recursive: true })
		.filter((name) => name.endsWith(".patch"))
		.flatMap((name) => {
			const listedIn = `patches/${name.replaceAll("\\", "/")}`;
			const [, library, version] = /^patches\/(.+)@([^@]+)\.patch$/.exec(listedIn) ?? [];
			if (!library) throw new Error(`${listedIn} is not named <package>@<version>.patch`);
			return parsePatch(readFileSync(join(root, listedIn), "utf8")).map((patch) => {
				const file = patch.newFileName.replace(/^b\//, "");
				const replace = (code) => {
					const patched = applyPatch(code, patch, { fuzzFactor: 0 });
					if (patched === false) throw new Error(`${listedIn} does not apply to ${file} of ${library} ${version}`);
					return patched;
				};
				return { listedIn, library, version, file, replace };
			});
		});
}

function manifestVersion(directory) {
	return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")).version;
}
