import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSkills, readSkill } from "../../src/resources/skills.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const skill = (name: string, description: string, body = "Do it.") =>
	`---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

test("skills are found at any depth, and the project's replace the user's of the same name", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"user/pdf/SKILL.md": skill("pdf", "Read PDFs"),
		"user/group/deploy/SKILL.md": skill("deploy", "Deploy"),
		"user/node_modules/x/SKILL.md": skill("x", "no"),
		"project/mine/SKILL.md": "---\ndescription: >\n  Deploy\n  here\nname: deploy\n---\n",
		"project/unnamed/SKILL.md": "---\ndescription: By its directory\n---\n",
	});
	symlinkSync("..", join(dir, "user/group/loop"));
	const { skills, warnings } = await loadSkills([
		{ path: join(dir, "user"), scope: "user" },
		{ path: join(dir, "project"), scope: "project" },
		{ path: join(dir, "absent"), scope: "user" },
	]);
	expect(skills).toEqual([
		{ name: "deploy", description: "Deploy here", path: join(dir, "project/mine/SKILL.md"), scope: "project" },
		{ name: "pdf", description: "Read PDFs", path: join(dir, "user/pdf/SKILL.md"), scope: "user" },
		{ name: "unnamed", description: "By its directory", path: join(dir, "project/unnamed/SKILL.md"), scope: "project" },
	]);
	expect(warnings).toEqual([
		`${dir}/project/mine/SKILL.md: replaces the skill "deploy" of ${dir}/user/group/deploy/SKILL.md`,
	]);
});

test("unusable skills are omitted with a warning", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"a/SKILL.md": "no front matter",
		"b/SKILL.md": skill("two words", "x"),
		"c/SKILL.md": "---\nname: [\n---\n",
		"file.md": skill("direct", "By path"),
	});
	const { skills, warnings } = await loadSkills([
		{ path: dir, scope: "user" },
		{ path: join(dir, "file.md"), scope: "flag" },
		{ path: join(dir, "none"), scope: "flag" },
	]);
	expect(skills.map(({ name }) => name)).toEqual(["direct"]);
	expect(warnings).toEqual([
		`${dir}/a/SKILL.md: its front matter has no description; skill ignored`,
		`${dir}/b/SKILL.md: "two words" is not a valid skill name · use letters, digits, - and _`,
		expect.stringMatching(/c\/SKILL\.md:\d: .*; skill ignored$/),
		expect.stringContaining(`${dir}/none: ENOENT`),
	]);
});

test("the prompt of a skill contains its directory and the task", async () => {
	const dir = tempDir();
	writeFiles(dir, { "pdf/SKILL.md": skill("pdf", "Read PDFs", "Run ./extract.sh") });
	const { skills } = await loadSkills([{ path: dir, scope: "user" }]);
	const [pdf] = skills;
	if (!pdf) throw new Error("not found");
	const head = `<skill name="pdf" directory="${dir}/pdf">\nRun ./extract.sh\n</skill>`;
	expect(await readSkill(pdf, " a.pdf ")).toBe(`${head}\n\na.pdf`);
	expect(await readSkill(pdf, "")).toBe(`${head}\n\nFollow this skill.`);
});
