import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { configuredPackages } from "../../src/packages/configured.js";
import { createMatcher, findResources } from "../../src/packages/resources.js";
import { packageName, parseSource, shortName } from "../../src/packages/source.js";
import { fillVariables } from "../../src/trust/server-words.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const LENGTH = 60_000;
const UNITS = [
	"/",
	"{",
	"{a,",
	"*",
	"**/",
	"?",
	"[",
	"(",
	"a.",
	"-",
	"@",
	":",
	"\\",
	" ",
	".git/",
	"${A:-",
	"a-",
	"!",
	"../",
	"a/",
];
const texts = UNITS.flatMap((unit) => {
	const text = unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH);
	return [text, `${text}x`, `npm:${text}x`, `git:https://a.b/${text}x`, `git:${text}x`];
});

/** Each call must be answered in 100 ms; CI machines get some reserve. */
function timed<T>(run: () => T): T {
	const started = performance.now();
	const result = run();
	expect(performance.now() - started).toBeLessThan(250);
	return result;
}

describe.each(UNITS.map((unit) => [JSON.stringify(unit), unit]))(
	"settings of a project with many %s",
	(_name, unit) => {
		const own = texts.filter((text) => text.includes(unit.repeat(10)));
		test("are read at once, in packages, filters and unknown keys", () => {
			for (const text of own) {
				const cwd = tempDir();
				writeFiles(cwd, {
					".pi/settings.json": {
						packages: [
							text,
							{ source: text },
							{ source: "npm:a", hooks: [text], skills: [`!${text}`], themes: [`-${text}`] },
						],
						theme: text,
						[text]: 1,
					},
				});
				const paths = findPaths({ PI_CODING_AGENT_DIR: join(cwd, "agent") }, cwd, cwd);
				const store = timed(() => new SettingsStore(paths));
				timed(() => configuredPackages(store, paths));
			}
		});

		test("are matched at once, also as entries of a package.json", () => {
			const files = ["hooks/a.ts", "skills/b/SKILL.md", "themes/c.json"];
			for (const text of own) {
				timed(() => createMatcher(text)("hooks/a.ts"));
				timed(() => findResources(files, { pi: { hooks: [text, `!${text}`], skills: [text], themes: text } }));
				timed(() => findResources(files, {}, { hooks: [text], skills: [`+${text}`] }));
				timed(() => fillVariables(text, {}));
				timed(() => {
					try {
						const source = parseSource(text, { dir: "/", home: "/" });
						return [packageName(source), shortName(source)];
					} catch {
						return [];
					}
				});
			}
		});
	},
);

test("a source or filter over 4,096 characters is reported, not used", () => {
	const cwd = tempDir();
	writeFiles(cwd, { ".pi/settings.json": { packages: [`./${"a".repeat(5000)}`] } });
	const store = new SettingsStore({ agentDir: join(cwd, "agent"), cwd });
	expect(store.current.packages).toEqual([]);
	expect(store.problems[0]).toContain("packages[0] must be a source, or an object with a source; ignored");
});
