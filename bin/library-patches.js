// The modules of libraries that pi replaces. Tests, `npm run dev` and the build all load libraries through this list.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { applyPatch, parsePatch } from "diff";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Modules that are replaced completely. Files in patches/ change parts of modules. */
const REPLACED = [
	{ library: "@mariozechner/pi-ai", version: "0.73.1", file: "dist/models.generated.js", replace: modelsAsJson },
	...lightClient("openai", "6.26.0"),
	...lightClient("@anthropic-ai/sdk", "0.91.1"),
];

/**
 * The list of models is 330 KB of data, which V8 parses several times faster as JSON than as code. The models of a provider
 * are parsed when they are first read.
 */
async function modelsAsJson(code) {
	const { MODELS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
	const texts = Object.entries(MODELS).map(([provider, models]) => [provider, JSON.stringify(models)]);
	return `export const MODELS = Object.create(null);
for (const [provider, json] of ${JSON.stringify(texts)}) {
	const describe = (rest) => Object.defineProperty(MODELS, provider, { enumerable: true, configurable: true, ...rest });
	describe({ get: () => describe({ value: JSON.parse(json) })[provider] });
}
`;
}

/**
 * A provider's client without the classes that it uses for each request and Node loads slowly: pi's own headers, which
 * `fetch` of pi sends without loading Node's, and no forms and streams, which pi does not send. Large requests take memory
 * once.
 */
function lightClient(library, version) {
	const ours = (file) => JSON.stringify(join(ROOT, "src/network", file));
	const withHeaders = (code) => `import { LightHeaders as Headers } from ${ours("light-headers.ts")};\n${code}`;
	const encoder = `import { encodeJson } from ${ours("json-body.ts")};
export const FallbackEncoder = ({ body }) => ({ bodyHeaders: { "content-type": "application/json" }, body: encodeJson(body) });
`;
	const onlyJson = (code) => `${code.replaceAll("globalThis.ReadableStream", "undefined")}\nclass FormData {}\n`;
	return [
		{ library, version, file: "internal/headers.mjs", replace: withHeaders },
		{ library, version, file: "internal/utils/log.mjs", replace: withHeaders },
		{ library, version, file: "internal/request-options.mjs", replace: () => encoder },
		{ library, version, file: "client.mjs", replace: onlyJson },
	];
}

/**
 * Reads the list for the libraries installed in a project.
 * @param {string} root the directory that contains patches/ and node_modules/
 * @throws Error if a library is missing, has another version than the list names, or lacks a replaced module
 */
export function libraryPatches(root = ROOT) {
	/** Path of a module → a function from its own code to its replacement, or to a promise of it. */
	const replacements = new Map();
	const libraries = new Set();
	for (const { listedIn, library, version, file, replace } of [...patchedModules(root), ...replacedModules()]) {
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
		/** Absolute paths of the replaced modules. */
		paths: [...replacements.keys()],
		/** Matches the path of every module of the listed libraries. */
		modules: new RegExp(`[\\\\/]node_modules[\\\\/](?:${[...libraries].join("|").replaceAll("/", "[\\\\/]")})[\\\\/]`),
		/**
		 * Returns the replacement of a module.
		 * @param {string} path absolute
		 * @param {string} code of the library
		 * @returns {Promise<string | null>} null if the module is not replaced
		 * @throws Error if a patch does not apply
		 */
		async patchedSource(path, code) {
			const replace = replacements.get(normalize(path));
			return replace ? replace(code) : null;
		},
	};
}

/** The list as a plugin for Rolldown and Vite. */
export function libraryPatchesPlugin({ modules, patchedSource } = libraryPatches()) {
	return {
		name: "library-patches",
		transform: {
			filter: { id: modules },
			async handler(code, id) {
				const source = await patchedSource(id, code);
				return source === null ? null : { code: source, map: null };
			},
		},
	};
}

function replacedModules() {
	return REPLACED.map((module) => ({ ...module, listedIn: "bin/library-patches.js" }));
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
