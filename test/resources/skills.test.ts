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
		`${dir}/project/mine/SKILL.md:5: the name "deploy" differs from its directory "mine" · rename one of them`,
		`${dir}/project/mine/SKILL.md: replaces the skill "deploy" of ${dir}/user/group/deploy/SKILL.md`,
		`${dir}/project/unnamed/SKILL.md:1: the name is missing · add it`,
	]);
});

test("unusable skills are omitted with a warning that names file and line", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"a/SKILL.md": "no front matter",
		"b/SKILL.md": skill("two words", "x"),
		"c/SKILL.md": "---\nname: c\ndescription: [\n---\n",
		"d/SKILL.md": "---\nname: d\n---\n",
		"e/SKILL.md": "---\nname: e\ndescription:\n  - x\n---\n",
		"f/SKILL.md": "---\nname: f\ndescription: never closed\n",
		"g/SKILL.md": "---\n- name\n---\n",
		"h/SKILL.md": "---\nname: h\ndescription: x\nname: h\n---\n",
		"file.md": skill("direct", "By path"),
	});
	const { skills, warnings, broken } = await loadSkills([
		{ path: dir, scope: "user" },
		{ path: join(dir, "file.md"), scope: "flag" },
		{ path: join(dir, "none"), scope: "flag" },
	]);
	expect(skills.map(({ name }) => name)).toEqual(["direct"]);
	const b = `${dir}/b/SKILL.md:2: the name "two words"`;
	expect(warnings).toEqual([
		`${dir}/a/SKILL.md:1: begin the file with a name and a description between --- lines; skill ignored`,
		`${b} is not standard · use lowercase letters, digits and single hyphens; skill ignored`,
		`${b} differs from its directory "b" · rename one of them; skill ignored`,
		expect.stringMatching(/c\/SKILL\.md:[34]: .*; skill ignored$/),
		`${dir}/d/SKILL.md:1: the description is missing · say what the skill does and when to use it; skill ignored`,
		`${dir}/e/SKILL.md:3: the description must be text that is not empty; skill ignored`,
		`${dir}/f/SKILL.md:1: the front matter has no closing --- line; skill ignored`,
		`${dir}/g/SKILL.md:2: the front matter must consist of fields such as name: value; skill ignored`,
		`${dir}/h/SKILL.md:4: Map keys must be unique; skill ignored`,
		`${dir}/none: no such file or directory; pass a SKILL.md file or a directory of skills`,
	]);
	expect([...broken]).toEqual([..."abcdefgh"].map((name) => `${dir}/${name}/SKILL.md`));
});

/** The warnings for a skill in the directory `tea`, without path. */
async function warningsFor(fields: string): Promise<string[]> {
	const dir = tempDir();
	writeFiles(dir, { "tea/SKILL.md": `---\n${fields}\n---\nBoil water.\n` });
	const { skills, warnings, broken } = await loadSkills([{ path: dir, scope: "user" }]);
	expect(skills).toHaveLength(1);
	expect(broken.size).toBe(0);
	return warnings.map((line) => line.replace(`${dir}/tea/SKILL.md:`, ""));
}

test.each([
	["name: tea\ndescription: Tea.", []],
	[
		`name: tea\ndescription: ${"x".repeat(1024)}\nlicense: MIT\ncompatibility: ${"y".repeat(500)}\nmetadata:\n  author: ada\n  version: 1.0\nallowed-tools: Bash(git:*) Read`,
		[],
	],
	["name: tea\ndescription: Tea.\nallowed-tools:\n  - Bash\n  - Read", []],
	[
		"name: Tea\ndescription: Tea.",
		[
			'2: the name "Tea" is not standard · use lowercase letters, digits and single hyphens',
			'2: the name "Tea" differs from its directory "tea" · rename one of them',
		],
	],
	[
		"# tea\nname: coffee\ndescription: x",
		['3: the name "coffee" differs from its directory "tea" · rename one of them'],
	],
	["description: Tea.", ["1: the name is missing · add it"]],
	["name: []\ndescription: Tea.", ["2: the name must be text that is not empty"]],
	[`name: tea\ndescription: ${"é".repeat(1025)}`, ["3: the description has 1025 characters · shorten it to 1024"]],
	[
		`name: tea\ndescription: x\nlicense: [MIT]\ncompatibility: ${"y".repeat(501)}`,
		["4: the license must be text", "5: the compatibility has 501 characters · shorten it to 500"],
	],
	[
		"name: tea\ndescription: x\ncompatibility:",
		["4: the compatibility must be text that is not empty · remove it if it has no content"],
	],
	["name: tea\ndescription: x\nmetadata: none", ["4: metadata must consist of fields such as author: ada"]],
	["name: tea\ndescription: x\nmetadata:\n  a: b\n  c: [d]", ["6: metadata.c must be text"]],
	[
		"name: tea\ndescription: x\nallowed-tools:\n  a: b",
		["4: allowed-tools must be names separated by spaces, or a list of names"],
	],
	["version: 1\nname: tea\ndescription: x", ['2: unknown field "version" · put it under metadata']],
	[
		"name: tea\ndescription: x\nauthor: ada\nversion: 1",
		['4: unknown fields "author", "version" · put them under metadata'],
	],
])("the skill %j is used, and breaks these rules of the specification: %j", async (fields, expected) => {
	expect(await warningsFor(fields)).toEqual(expected);
});

test.each([
	["the smallest skill", "pdf-processing", "name: pdf-processing\ndescription: Extracts text from PDF files.", []],
	[
		"every optional field",
		"pdf-processing",
		[
			"name: pdf-processing",
			"description: Extracts text and tables from PDF files. Use it when the user mentions PDFs.",
			"license: Apache-2.0",
			"compatibility: Requires git, docker and access to the internet",
			'metadata:\n  author: example-org\n  version: "1.0"',
			"allowed-tools: Bash(git:*) Bash(jq:*) Read",
		].join("\n"),
		[],
	],
	["a name of digits", "2024", 'name: "2024"\ndescription: x', []],
	["a name of one character", "a", "name: a\ndescription: x", []],
	["a name of 64 characters", "x".repeat(64), `name: ${"x".repeat(64)}\ndescription: x`, []],
	[
		"a name of 65 characters",
		"x".repeat(65),
		`name: ${"x".repeat(65)}\ndescription: x`,
		["2: the name has 65 characters · shorten it to 64"],
	],
	["a hyphen at the start", "-pdf", "name: -pdf\ndescription: x", [expect.stringContaining('"-pdf" is not standard')]],
	["a letter outside a-z", "thé", "name: thé\ndescription: x", [expect.stringContaining('"thé" is not standard')]],
])("the specification's rules: %s", async (_, directory, fields, expected) => {
	const dir = tempDir();
	writeFiles(dir, { [`${directory}/SKILL.md`]: `---\n${fields}\n---\nDo it.\n` });
	const { warnings } = await loadSkills([{ path: dir, scope: "user" }]);
	expect(warnings.map((line) => line.replace(/^.*SKILL\.md:/, "").replace(/; skill ignored$/, ""))).toEqual(expected);
});

test.each(["TEA", "tea-", "green--tea", "green_tea", "green:tea"])("the name %j is not standard", async (name) => {
	const { length, ...lines } = await warningsFor(`name: "${name}"\ndescription: x`);
	expect([length, lines[0]]).toEqual([2, expect.stringContaining("is not standard")]);
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

test("disable-model-invocation marks a skill that only the user calls", async () => {
	const dir = tempDir();
	const withField = (name: string, value: string) =>
		`---\nname: ${name}\ndescription: x\ndisable-model-invocation: ${value}\n---\n`;
	writeFiles(dir, {
		"a/SKILL.md": withField("a", "true"),
		"b/SKILL.md": withField("b", "false"),
		"c/SKILL.md": withField("c", "perhaps"),
	});
	const { skills, warnings } = await loadSkills([{ path: dir, scope: "user" }]);
	expect(skills.map(({ name, isUserOnly }) => [name, isUserOnly])).toEqual([
		["a", true],
		["b", undefined],
		["c", undefined],
	]);
	expect(warnings).toEqual([`${dir}/c/SKILL.md:4: disable-model-invocation must be true or false`]);
});
