import { join } from "node:path";
import { packageRoot } from "../../util/package-root.js";

/** Compiler options that point to the type declarations of the running installation. */
export function compilerConfig() {
	const root = packageRoot();
	// Declarations of the build; without a build, the sources and packages.
	const types = (built: string, source: string) => [join(root, "dist/types", built), join(root, source)];
	const typebox = types("typebox/index.d.mts", "node_modules/typebox/build/index.d.mts");
	return {
		compilerOptions: {
			target: "es2023",
			lib: ["esnext"],
			module: "esnext",
			moduleResolution: "bundler",
			strict: true,
			// Tests are JavaScript, which every Node version runs; only those with // @ts-check are checked.
			allowJs: true,
			noEmit: true,
			skipLibCheck: true,
			allowImportingTsExtensions: true,
			// npm installs the dependencies of pi inside its directory or next to it.
			typeRoots: [join(root, "node_modules/@types"), join(root, "../../@types")],
			types: ["node"],
			paths: {
				"@mariozechner/pi-coding-agent": types("index.d.ts", "src/index.ts"),
				"@mariozechner/pi-coding-agent/hooks": types("hooks.d.ts", "src/hooks/index.ts"),
				"@mariozechner/pi-coding-agent/testing": types("testing.d.ts", "src/testing/index.ts"),
				"@mariozechner/pi-ai": types("pi-ai/compat.d.ts", "node_modules/@mariozechner/pi-ai/dist/compat.d.ts"),
				"@mariozechner/pi-tui": types("pi-tui/index.d.ts", "node_modules/@mariozechner/pi-tui"),
				typebox,
				"typebox/value": types("typebox/value/index.d.mts", "node_modules/typebox/build/value/index.d.mts"),
				"@sinclair/typebox": typebox,
				"@sinclair/typebox/value": types("typebox/value/index.d.mts", "node_modules/typebox/build/value/index.d.mts"),
			},
		},
		include: ["**/*.ts", "tests/*.mjs"],
	};
}
