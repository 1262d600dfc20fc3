import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { installPackage, linkPackage, PACKAGE_PLACE, PACKAGE_ROOT } from "../helpers/installed-package.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

const TSC = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
const CONSUMER = fileURLToPath(new URL("../fixtures/consumer/", import.meta.url));
const SOURCES = readdirSync(CONSUMER);
const MARK = "// error expected";
/**
 * Checking all declarations takes most of a compiler's time. Where a program loads only declarations that another one of
 * these tests checks, this option skips them.
 */
const CHECKED_ELSEWHERE = { skipLibCheck: true };
const NODENEXT = { module: "nodenext", moduleResolution: "nodenext" };
const RESOLUTIONS = {
	// The strictest project checks the declarations with this resolution.
	nodenext: { ...NODENEXT, ...CHECKED_ELSEWHERE },
	bundler: { module: "esnext", moduleResolution: "bundler" },
};
const PLAIN = { target: "es2022", strict: true, noEmit: true, skipLibCheck: false };
/** Without DOM types, and with the checks that report errors in the declarations of dependencies. */
const STRICTEST = {
	lib: ["es2023"],
	types: ["node"],
	noUncheckedIndexedAccess: true,
	noPropertyAccessFromIndexSignature: true,
	verbatimModuleSyntax: true,
	isolatedModules: true,
	exactOptionalPropertyTypes: true,
};

let installed: string;
let linked: string;

beforeAll(() => {
	const project = () => realpathSync(mkdtempSync(join(tmpdir(), "pi-consumer-")));
	[installed, linked] = [project(), project()];
	const tarball = inject("installation")?.tarball;
	if (!tarball) throw new Error("The program is not installed");
	installPackage(installed, tarball);
	linkPackage(linked);
	for (const place of [installed, linked]) {
		writeFiles(place, { "package.json": { name: "consumer", private: true, type: "module" } });
		cpSync(CONSUMER, place, { recursive: true });
	}
});
afterAll(() => {
	for (const place of [installed, linked]) rmSync(place, { recursive: true, force: true });
});

/** The result of a compilation. */
interface Compiled {
	/** Locations of errors as `file:line`, and messages without a location; sorted. */
	errors: string[];
	/** The declarations that the program loaded, but TypeScript's: of pi as `dist/…`, else their path; sorted. */
	declarations: string[];
}

/**
 * Compiles in one thread: other tests use the other processors.
 * @throws Error when the compiler loads nothing
 */
function compile(dir: string, config: object): Compiled {
	writeFiles(dir, { "tsconfig.check.json": config });
	const args = [TSC, "--pretty", "false", "--singleThreaded", "--listFiles", "-p", "tsconfig.check.json"];
	const { stdout } = spawnSync(process.execPath, args, { cwd: dir, encoding: "utf8" });
	const lines = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(" "));
	const isFile = (line: string) => line.startsWith("/") && /\.[mc]?[jt]s$/.test(line);
	const errors = lines.filter((line) => !isFile(line)).map((line) => line.replace(/^(\S+?)\((\d+),\d+\): .*/, "$1:$2"));
	const declarations = lines
		.filter((line) => isFile(line) && /\.d\.[mc]?ts$/.test(line) && !line.includes("/@typescript/"))
		.map((line) => line.replace(/^.*(?=\/dist\/types\/)\//, ""));
	if (declarations.length === 0) throw new Error(`The compiler did not run: ${stdout}`);
	return { errors: [...new Set(errors)].sort(), declarations: [...new Set(declarations)].sort() };
}

/** The lines of the consumer that contain an error. */
function planted(): string[] {
	return SOURCES.flatMap((file) =>
		readFileSync(join(CONSUMER, file), "utf8")
			.split("\n")
			.flatMap((line, index) => (line.endsWith(MARK) ? [`${file}:${index + 1}`] : [])),
	).sort();
}

const checked = new Map<object, Compiled>();
/** The consumer next to the tarball, compiled once for each set of options. */
function checkedInstalled(options: object): Compiled {
	const known = checked.get(options);
	if (known) return known;
	const compiled = compile(installed, { compilerOptions: { ...PLAIN, ...options }, files: SOURCES });
	checked.set(options, compiled);
	return compiled;
}

describe.each(Object.entries(RESOLUTIONS))("with %s resolution", (_, resolution) => {
	test("installed from the tarball, each wrong use is reported and nothing else", () => {
		expect(checkedInstalled(resolution).errors).toEqual(planted());
	});

	test("linked, each wrong use is reported, and the same declarations are loaded", () => {
		const compilerOptions = { ...PLAIN, ...resolution, ...CHECKED_ELSEWHERE };
		const { declarations } = checkedInstalled(resolution);
		expect(compile(linked, { compilerOptions, files: SOURCES })).toEqual({ errors: planted(), declarations });
	});

	test("the tsconfig.json from pi hooks new resolves every import, for hooks in any directory", async () => {
		const agentDir = tempAgentDir();
		const { code, stdout } = await runPi(["hooks", "new", "count", "--json"], {
			agentDir,
			entry: join(installed, PACKAGE_PLACE, "bin/pi.cjs"),
		});
		expect(code).toBe(0);
		const hooks = dirname(JSON.parse(stdout).tsconfig);
		cpSync(CONSUMER, hooks, { recursive: true });
		writeFiles(hooks, {
			"package.json": { type: "module" },
			"renamed.ts": 'import { Type } from "@sinclair/typebox";\nexport const text: number = Type.String(); // wrong\n',
		});
		const config = { extends: "./tsconfig.json", compilerOptions: { ...resolution, ...CHECKED_ELSEWHERE } };
		const { declarations } = checkedInstalled(resolution);
		expect(compile(hooks, config)).toEqual({ errors: [...planted(), "renamed.ts:2"].sort(), declarations });
	});
});

test("the strictest project reports no error in the declarations", () => {
	const { declarations } = checkedInstalled(RESOLUTIONS.nodenext);
	expect(checkedInstalled({ ...NODENEXT, ...STRICTEST })).toEqual({ errors: planted(), declarations });
});

test("the examples compile next to the installed tarball", () => {
	const place = join(installed, "examples");
	cpSync(join(PACKAGE_ROOT, "hooks-examples"), place, { recursive: true });
	const compilerOptions = { ...PLAIN, ...RESOLUTIONS.bundler, ...CHECKED_ELSEWHERE, target: "es2024" };
	const { errors, declarations } = compile(place, { compilerOptions, include: ["*.ts"] });
	expect(errors).toEqual([]);
	const ours = declarations.filter((path) => !path.includes("node_modules/@vscode/"));
	expect(checkedInstalled(RESOLUTIONS.bundler).declarations).toEqual(expect.arrayContaining(ours));
});

test("an SDK project keeps its own installed packages", () => {
	const place = join(installed, "sdk");
	writeFiles(place, {
		"node_modules/typebox/package.json": { name: "typebox", version: "9.0.0", type: "module", types: "index.d.ts" },
		"node_modules/typebox/index.d.ts": "export declare const own: string;\n",
		"main.ts": `import { createAgentSession } from "@mariozechner/pi-coding-agent";
import { own } from "typebox";
export const used = [createAgentSession, own.length];
`,
	});
	const compilerOptions = { ...PLAIN, ...RESOLUTIONS.nodenext, ...CHECKED_ELSEWHERE };
	const { errors, declarations } = compile(place, { compilerOptions, files: ["main.ts"] });
	expect(errors).toEqual([]);
	const own = join(place, "node_modules/typebox/index.d.ts");
	expect([...checkedInstalled(RESOLUTIONS.nodenext).declarations, own]).toEqual(expect.arrayContaining(declarations));
});

describe("the declarations in the tarball", () => {
	function declarations(): Map<string, string> {
		const types = join(installed, PACKAGE_PLACE, "dist/types");
		const files = readdirSync(types, { recursive: true, encoding: "utf8" }).filter((path) => /\.d\.m?ts$/.test(path));
		return new Map(files.map((path) => [join(types, path), readFileSync(join(types, path), "utf8")]));
	}

	test("import only pi's own aliases, Node and existing files", () => {
		const strange: string[] = [];
		for (const [file, text] of declarations()) {
			const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
			for (const [, name = ""] of code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']/g)) {
				const found = name.startsWith(".")
					? existsSync(join(dirname(file), name.replace(/\.(m?)js$/, ".d.$1ts")))
					: /^(node:\w+|events|#(pi-ai|pi-tui|typebox|typebox\/value))$/.test(name);
				if (!found) strange.push(`${file}: ${name}`);
			}
		}
		expect(strange).toEqual([]);
	});

	test("contain nothing about the machine that built them, and are small", () => {
		const texts = [...declarations().values()];
		expect(texts.filter((text) => text.includes(PACKAGE_ROOT) || text.includes("sourceMappingURL"))).toEqual([]);
		// Libraries have 520 of them; each operation of a session is one.
		expect(texts.length).toBeLessThan(730);
		// What a hook author downloads. typebox's are more than half.
		expect(texts.join("").length).toBeLessThan(1_400_000);
	});
});
