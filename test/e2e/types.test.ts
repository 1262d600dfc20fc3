import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installPackage, linkPackage, PACKAGE_PLACE, PACKAGE_ROOT } from "../helpers/installed-package.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

const TSC = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
const CONSUMER = fileURLToPath(new URL("../fixtures/consumer/", import.meta.url));
const SOURCES = readdirSync(CONSUMER);
const MARK = "// error expected";
const RESOLUTIONS = {
	nodenext: { module: "nodenext", moduleResolution: "nodenext" },
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
	installPackage(installed);
	linkPackage(linked);
	for (const place of [installed, linked]) {
		writeFiles(place, { "package.json": { name: "consumer", private: true, type: "module" } });
		cpSync(CONSUMER, place, { recursive: true });
	}
});
afterAll(() => {
	for (const place of [installed, linked]) rmSync(place, { recursive: true, force: true });
});

/** Locations of compiler errors as `file:line`, and messages without a location; sorted. */
function errors(dir: string, config: object): string[] {
	writeFiles(dir, { "tsconfig.check.json": config });
	const args = [TSC, "--pretty", "false", "-p", "tsconfig.check.json"];
	const { stdout } = spawnSync(process.execPath, args, { cwd: dir, encoding: "utf8" });
	const reported = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(" "));
	return [...new Set(reported.map((line) => line.replace(/^(\S+?)\((\d+),\d+\): .*/, "$1:$2")))].sort();
}

/** The lines of the consumer that contain an error. */
function planted(): string[] {
	return SOURCES.flatMap((file) =>
		readFileSync(join(CONSUMER, file), "utf8")
			.split("\n")
			.flatMap((line, index) => (line.endsWith(MARK) ? [`${file}:${index + 1}`] : [])),
	).sort();
}

describe.each(Object.entries(RESOLUTIONS))("with %s resolution", (_, resolution) => {
	test.each([
		["installed from the tarball", () => installed],
		["linked", () => linked],
	])("%s, each wrong use is reported and nothing else", (_, place) => {
		const config = { compilerOptions: { ...PLAIN, ...resolution }, files: SOURCES };
		expect(errors(place(), config)).toEqual(planted());
	});

	test("the tsconfig.json from pi hooks new resolves every import, for hooks in any directory", async () => {
		const agentDir = tempAgentDir();
		const { code, stdout } = await runPi(["hooks", "new", "count", "--json"], {
			agentDir,
			entry: join(installed, PACKAGE_PLACE, "bin/pi.js"),
		});
		expect(code).toBe(0);
		const hooks = dirname(JSON.parse(stdout).tsconfig);
		cpSync(CONSUMER, hooks, { recursive: true });
		writeFiles(hooks, {
			"package.json": { type: "module" },
			"renamed.ts": 'import { Type } from "@sinclair/typebox";\nexport const text: number = Type.String(); // wrong\n',
		});
		const config = { extends: "./tsconfig.json", compilerOptions: { ...resolution, skipLibCheck: false } };
		expect(errors(hooks, config)).toEqual([...planted(), "renamed.ts:2"].sort());
	});
});

test("the strictest project reports no error in the declarations", () => {
	const compilerOptions = { ...PLAIN, ...RESOLUTIONS.nodenext, ...STRICTEST };
	expect(errors(installed, { compilerOptions, files: SOURCES })).toEqual(planted());
});

test("the examples compile next to the installed tarball", () => {
	const place = join(installed, "examples");
	cpSync(join(PACKAGE_ROOT, "hooks-examples"), place, { recursive: true });
	expect(
		errors(place, { compilerOptions: { ...PLAIN, ...RESOLUTIONS.bundler, target: "es2024" }, include: ["*.ts"] }),
	).toEqual([]);
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
	expect(errors(place, { compilerOptions: { ...PLAIN, ...RESOLUTIONS.nodenext }, files: ["main.ts"] })).toEqual([]);
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
			for (const [, name = ""] of text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']/g)) {
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
		expect(texts.length).toBeLessThan(600);
		expect(texts.join("").length).toBeLessThan(1_000_000);
	});
});
