import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { init, parse } from "es-module-lexer";
import { expect, test } from "vitest";
import * as hooks from "../../src/hooks/index.js";
import * as sdk from "../../src/index.js";
import { piProgram } from "../helpers/pi-environment.js";

const DIST = join(dirname(realpathSync(piProgram())), "..", "dist");

/** The file of dist/ with this name, which but for entries ends in a hash. */
function fileNamed(name: string): string {
	const file = readdirSync(DIST).find((candidate) => nameOf(candidate) === name);
	if (!file) throw new Error(`dist/ has no ${name}`);
	return file;
}

function nameOf(file: string): string {
	return file.replace(/(-.{8})?\.js$/, "");
}

/** What is read before the first line of these files runs: they and all that they import, by name and in order. */
function readBy(...names: string[]): string[] {
	const files = new Set(names.map(fileNamed));
	for (const file of files) {
		const [imports] = parse(readFileSync(join(DIST, file), "utf8"));
		for (const { n: path, d: dynamic } of imports) {
			if (dynamic === -1 && path?.startsWith("./")) files.add(path.slice(2));
		}
	}
	return [...files].map(nameOf).sort();
}

function kilobytes(names: readonly string[]): number {
	return names.reduce((sum, name) => sum + statSync(join(DIST, fileNamed(name))).size, 0) / 1000;
}

test("the first paint reads a few files, and neither session nor models", async () => {
	await init;
	const files = readBy("main", "screen");
	expect(files).toEqual(["main", "rolldown-runtime", "screen", "screen-headless", "screen-session-headless"]);
	expect(kilobytes(files)).toBeLessThan(420);
});

test("the print mode reads no screen, and of the models' clients none before it knows which", async () => {
	await init;
	expect(readBy("main", "headless", "models")).toEqual([
		"headless",
		"headless-models",
		"hooks",
		"main",
		"models",
		"rolldown-runtime",
		"screen-headless",
		"screen-session-headless",
		"session-headless",
		"session-headless-models",
	]);
});

test.each(["index", "hooks", "testing", "headless", "session-headless"])(
	"%s reads neither screen nor models",
	async (name) => {
		await init;
		expect(readBy(name).filter((read) => read === "screen" || read === "models")).toEqual([]);
	},
);

test("the package entries export what their sources do", async () => {
	const built = async (name: string) => Object.keys(await import(join(DIST, `${name}.js`))).sort();
	expect({ index: await built("index"), hooks: await built("hooks") }).toEqual({
		index: Object.keys(sdk).sort(),
		hooks: Object.keys(hooks).sort(),
	});
});
