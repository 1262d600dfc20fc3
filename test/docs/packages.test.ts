import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { loadPackage } from "../../src/packages/load-package.js";
import { findResources, RESOURCE_KINDS } from "../../src/packages/resources.js";
import { splitArgs } from "../../src/util/split-args.js";
import { run } from "../cli/subcommands/run.js";
import { packageOf } from "../fixtures/packages.js";
import { startGitServer } from "../helpers/git-server.js";
import { isObject, objects, parseJson } from "../helpers/json.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage, writePackage } from "../helpers/package-files.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/packages.md", root), "utf8");

function block(mark: string): string {
	const start = page.indexOf(`\`\`\`${mark}\n`);
	return page.slice(start).split("\n```")[0]?.replace(/^.*\n/, "") ?? "";
}

function firstCells(header: string): string[] {
	const [, table = ""] = page.split(`\n| ${header} |`);
	const rows = (table.split("\n\n")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
	return rows.map((row) => row.split(" | ")[0]?.replace(/^\| `|`$/g, "") ?? "");
}

function filesOf(names: readonly string[]) {
	return (manifest: unknown, filters = {}) => {
		const found = findResources(names, manifest, filters);
		return Object.fromEntries(RESOURCE_KINDS.flatMap((kind) => (found[kind].length > 0 ? [[kind, found[kind]]] : [])));
	};
}

test("every command for the use of packages works", async () => {
	const [registry, server] = [await startNpmRegistry(), await startGitServer()];
	const { files } = packageOf("hooks");
	registry.publish(
		definePackage({ name: "pi-notes", version: "1.2.0" }, { "hooks/demo.ts": files["hooks/demo-hook.ts"] ?? "" }),
	);
	const repository = await server.create("ada/pi-notes");
	await repository.commit(files);
	await repository.tag("v1.2.0");
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	writePackage(join(cwd, "packages/pi-notes"), files);
	const lines = block("sh").replace("https://example.com", server.url).split("\n");
	const answers: string[] = [];
	for (const line of lines) {
		const parsed = parseArgs(splitArgs(line.replace(/^pi /, "")));
		if (parsed.kind !== "subcommand") {
			expect([line, parsed.kind]).toEqual(["pi -e npm:pi-notes", "session"]);
			continue;
		}
		// Three packages have this short name; the page removes the one of the registry.
		const command =
			parsed.command.name === "update" || parsed.command.name === "remove"
				? { ...parsed.command, ...(parsed.command.package && { package: "npm:pi-notes" }) }
				: parsed.command;
		const { code, stdout, stderr } = await run(command, { agentDir, cwd, env: { ...registry.env, ...server.env } });
		expect([line, code, stderr]).toEqual([line, 0, ""]);
		answers.push(stdout.split(/[:\n]/)[0]?.trim() ?? "");
	}
	expect(answers).toEqual([
		"Installed npm",
		"Installed npm",
		"Installed git",
		`Installed ${cwd}/packages/pi-notes 1.0.0`,
		"npm",
		"npm",
		"npm",
		"Removed npm",
	]);
	expect(readdirSync(agentDir)).toEqual(expect.arrayContaining(["packages", "packages.lock.json"]));
}, 60_000);

test("the filters of the example select what the table says", () => {
	const settings = parseJson(block("json settings.json"));
	const [filters] = objects(isObject(settings) ? settings.packages : []);
	const { source, ...patterns } = filters ?? {};
	expect(source).toBe("npm:pi-tidy@^2");
	const find = filesOf([
		...["hooks/a.ts", "hooks/draft-b.ts", "skills/s/SKILL.md", "themes/loud.json", "themes/quiet.json"],
		...["prompts/fix.md", "extra/review.md", "agents/scout.md"],
	]);
	expect(find(null, patterns)).toEqual({
		hooks: ["hooks/a.ts"],
		agents: ["agents/scout.md"],
		prompts: ["prompts/fix.md", "extra/review.md"],
		themes: ["themes/quiet.json"],
	});
});

test("the package.json of the page lists what the page says", () => {
	const manifest = parseJson(block("json package.json"));
	const names = [
		"src/hooks/a.ts",
		"src/hooks/draft-b.ts",
		"src/tools/count/index.ts",
		"skills/s/SKILL.md",
		"hooks/old.ts",
	];
	expect(filesOf(names)(manifest)).toEqual({
		hooks: ["src/hooks/a.ts"],
		tools: ["src/tools/count/index.ts"],
		skills: ["skills/s/SKILL.md"],
	});
	expect(RESOURCE_KINDS.filter((kind) => !page.includes(`\`${kind}\``) && !page.includes(`[${kind}]`))).toEqual([]);
});

test("the table of a new package lists its files, and the package loads", async () => {
	const cwd = tempDir("pi-project-");
	const parsed = parseArgs(splitArgs("hooks new --package pi-notes"));
	if (parsed.kind !== "subcommand") expect.fail("not a subcommand");
	expect(page).toContain("```sh\npi hooks new --package pi-notes\n```");
	const { stdout, agentDir } = await run(parsed.command, { cwd, json: true });
	const written = parseJson(stdout);
	const [, section = ""] = page.split("\n## Write a package\n");
	const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
	expect(isObject(written) && written.files).toEqual(rows);
	const path = join(cwd, "pi-notes");
	mkdirSync(join(agentDir, "packages"));
	const loaded = await loadPackage(
		{ source: { kind: "path", path }, name: path, text: path, filters: {}, scope: "user" },
		undefined,
		{ store: join(agentDir, "packages"), agentDir },
	);
	expect(loaded).toMatchObject({ resources: { hooks: ["hooks/notes.ts"], skills: ["skills/notes/SKILL.md"] } });
});

test("the messages of the table are those of the program", () => {
	const dir = new URL("src/packages/", root);
	const source = [
		...readdirSync(dir).map((name) => new URL(name, dir)),
		new URL("src/services/code/package-code.ts", root),
	]
		.map((file) => readFileSync(file, "utf8"))
		.join("\n");
	const said = (text: string) => source.includes(text.replace(/^(npm|git) (?=is not)/, ""));
	const messages = firstCells("message | what to do");
	expect(messages.length).toBeGreaterThan(15);
	expect(messages.filter((message) => !said(message))).toEqual([]);
});
