import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { listThemeFiles, loadThemeFile } from "../../src/config/theme-files.js";
import { loadContextFiles } from "../../src/resources/context-files.js";
import { ResourceFiles } from "../../src/services/resources/resource-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** A project in the home directory, and a secret outside of it. */
async function project(files: Record<string, string>, links: Record<string, string>, cwd = "home/repo") {
	const root = tempDir();
	writeFiles(root, { "home/.aws/credentials": "SECRET", "home/agent/x": "", "home/repo/.git/HEAD": "", ...files });
	mkdirSync(join(root, cwd), { recursive: true });
	for (const [path, target] of Object.entries(links)) {
		mkdirSync(join(root, path, ".."), { recursive: true });
		symlinkSync(target.replace("ROOT", root), join(root, path));
	}
	const home = join(root, "home");
	const paths = findPaths({ PI_CODING_AGENT_DIR: join(home, "agent") }, join(root, cwd), home);
	const load = () =>
		ResourceFiles.load({ paths, skillsEnabled: () => true, contextFiles: true, discoverSkills: true, skills: [] });
	return { root, home, paths, load };
}

test.each([
	["the credentials of a program", "ROOT/home/.aws/credentials", "outside the project"],
	["a file of the kernel", "/proc/self/environ", "outside the project"],
	["the configuration of the repository", ".git/HEAD", "into .git"],
	["a file of a package", "node_modules/x/AGENTS.md", "into node_modules"],
])("a context file that is a link to %s is not read, and one line names it", async (_name, target, where) => {
	const { root, load } = await project(
		{ "home/repo/node_modules/x/AGENTS.md": "package", "home/repo/CLAUDE.md": "own" },
		{ "home/repo/AGENTS.md": target },
	);
	const { files, warnings } = await load();
	const reason = where === "outside the project" ? "a link to a file outside the project" : `a link ${where}`;
	expect(warnings).toEqual([`${root}/home/repo/AGENTS.md: ignored, because it is ${reason}`]);
	expect(files.current.contextFiles).toEqual([{ path: `${root}/home/repo/CLAUDE.md`, content: "own" }]);
});

test("prompts and skills of a project that are links out of it are not read, directories included", async () => {
	const { root, load, home } = await project(
		{
			"home/outside/one/SKILL.md": "---\nname: one\ndescription: SECRET\n---\nSECRET",
			"home/outside/p.md": "SECRET",
			"home/repo/shared/two/SKILL.md": "---\nname: two\ndescription: inside\n---\nfine",
		},
		{
			"home/repo/.pi/prompts/creds.md": "ROOT/home/.aws/credentials",
			"home/repo/.pi/commands": "ROOT/home/outside",
			"home/repo/.pi/skills/one": "ROOT/home/outside/one",
			"home/repo/.pi/skills/root": "/",
			"home/repo/.pi/skills/three/SKILL.md": "ROOT/home/outside/one/SKILL.md",
			"home/repo/.pi/skills/two": "../../shared/two",
		},
	);
	const { files, warnings } = await load();
	const at = join(home, "repo/.pi");
	expect(warnings.sort()).toEqual([
		`${at}/commands: ignored, because it is a link to a directory outside the project`,
		`${at}/prompts/creds.md: ignored, because it is a link to a file outside the project`,
		`${at}/skills/one: ignored, because it is a link to a directory outside the project`,
		`${at}/skills/root: ignored, because it is a link to a directory outside the project`,
		`${at}/skills/three/SKILL.md: ignored, because it is a link to a file outside the project`,
	]);
	expect(files.current.skills.map(({ name }) => name)).toEqual(["two"]);
	expect(files.current.templates).toEqual([]);
	expect(root).not.toBe("");
});

test("a skill is checked again when it is used", async () => {
	const { home, load } = await project(
		{ "home/repo/.pi/skills/two/SKILL.md": "---\nname: two\ndescription: inside\n---\nfine" },
		{},
	);
	const { files } = await load();
	const [skill] = files.current.skills;
	if (!skill) throw new Error("no skill");
	expect(await files.readSkill(skill, "")).toContain("fine");
	rmSync(skill.path);
	symlinkSync(join(home, ".aws/credentials"), skill.path);
	await expect(files.readSkill(skill, "")).rejects.toThrow("a link to a file outside the project");
});

test("themes of a project that are links out of it are not read", async () => {
	const { home, paths } = await project(
		{ "home/outside.json": '{"colors": {}}', "home/repo/shared.json": '{"colors": {}}' },
		{
			"home/repo/.pi/themes/out.json": "ROOT/home/outside.json",
			"home/repo/.pi/themes/in.json": "../../shared.json",
		},
	);
	const found = listThemeFiles({ user: paths.themes, project: paths.project.themes, root: join(home, "repo") });
	const read = found
		.filter(({ scope }) => scope === "project")
		.map((theme) => [theme.name, loadThemeFile(theme).problems]);
	expect(read).toEqual([
		["in", []],
		["out", [`${home}/repo/.pi/themes/out.json: ignored, because it is a link to a file outside the project`]],
	]);
});

test("files of the user may be links, in the agent directory and at home", async () => {
	const { root, load } = await project(
		{ "dotfiles/AGENTS.md": "own", "dotfiles/home.md": "home", "dotfiles/p.md": "prompt", "home/x/y": "" },
		{
			"home/agent/AGENTS.md": "ROOT/dotfiles/AGENTS.md",
			"home/agent/prompts": "ROOT/dotfiles",
			"home/AGENTS.md": "ROOT/dotfiles/home.md",
			"home/x/AGENTS.md": "ROOT/home/.aws/credentials",
		},
		"home/x/deep",
	);
	const { files, warnings } = await load();
	expect(files.current.contextFiles.map(({ content }) => content)).toEqual(["own", "home"]);
	expect(files.current.templates.map(({ name }) => name)).toContain("p");
	// A directory between home and the working directory may come from others, too.
	expect(warnings.filter((line) => line.includes("ignored"))).toEqual([
		`${root}/home/x/AGENTS.md: ignored, because it is a link to a file outside the project`,
	]);
});

test("a project in the agent directory's parent cannot link to the files of pi", async () => {
	const { home, paths } = await project(
		{ "home/agent/auth.json": '{"key": "SECRET"}' },
		{ "home/repo/AGENTS.md": "ROOT/home/agent/auth.json" },
	);
	execFileSync("git", ["init", "-q", join(home, "..")]);
	rmSync(join(home, "repo/.git"), { recursive: true });
	const { files, warnings } = await loadContextFiles({ ...paths, home: "/nowhere" });
	expect(files).toEqual([]);
	expect(warnings).toEqual([`${home}/repo/AGENTS.md: ignored, because it is a link to a file outside the project`]);
});
