import { join } from "node:path";
import { expect, test } from "vitest";
import { expandTemplate, loadPromptTemplates } from "../../src/resources/prompt-templates.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** Returns `${inner}`, without a template literal by mistake. */
const braces = (inner: string) => `$\{${inner}}`;

test.each([
	["Review $1 for $2", 'a.ts "two words"', "Review a.ts for two words"],
	["All: $@", "a 'b c'", "All: a b c"],
	["All: $ARGUMENTS", "a b", "All: a b"],
	[`From the second: ${braces("@:2")}`, "a b c", "From the second: b c"],
	[`Two from the second: ${braces("@:2:2")}`, "a b c d", "Two from the second: b c"],
	["Missing: $3.", "a", "Missing: ."],
	["$1 is not expanded again", "$2", "$2 is not expanded again"],
	[`Costs $5 and $HOME, ${braces("x")}`, "a", `Costs  and $HOME, ${braces("x")}`],
	["No place", "a b", "No place\n\na b"],
	["No place", "", "No place"],
	["$ARGUMENTSX stays", "", "$ARGUMENTSX stays"],
	["ten: $10", "1 2 3 4 5 6 7 8 9 x", "ten: x"],
])("the template %j with the arguments %j is expanded", (body, rest, expected) => {
	expect(expandTemplate({ body }, rest)).toBe(expected);
});

test("templates are read from all locations, and later ones replace earlier ones", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"user/review.md": "---\ndescription: Review a file\nargument-hint: <file>\n---\nReview $1",
		"user/fix.md": "# Fix the build\n\nNow.",
		"user/notes.txt": "no",
		"user/empty.md": "\n",
		"user/two words.md": "x",
		"project/fix.md": "Fix it here",
	});
	const { templates, warnings } = await loadPromptTemplates([
		{ path: join(dir, "user"), scope: "user" },
		{ path: join(dir, "project"), scope: "project" },
		{ path: join(dir, "absent"), scope: "project" },
	]);
	expect(templates).toEqual([
		{
			name: "fix",
			description: "Fix it here",
			body: "Fix it here",
			path: join(dir, "project/fix.md"),
			scope: "project",
		},
		{
			name: "review",
			description: "Review a file",
			argumentHint: "<file>",
			body: "Review $1",
			path: join(dir, "user/review.md"),
			scope: "user",
		},
	]);
	expect(warnings).toEqual([
		`${dir}/user/empty.md:1: the file has no text; prompt ignored`,
		`${dir}/user/two words.md:1: its name cannot be a command · use letters, digits, - and _; prompt ignored`,
		`${dir}/project/fix.md: replaces the prompt "/fix" of ${dir}/user/fix.md`,
	]);
});

test("problems in the front matter of a template are listed with their line", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"a.md": "---\ndescription: A\nargument-hint: [file]\n---\nA $1",
		"b.md": "---\ndescription:\n  x: 1\n---\nB",
		"c.md": "---\ndescription: C\nargument-hint: [\n---\nC",
		"d.md": "---\ndescription: never closed\nD",
		"e.md": "---\ndescription: E\n---\n",
		"f.md": "---\n\nA horizontal rule is no front matter.",
	});
	const { templates, warnings, broken } = await loadPromptTemplates([{ path: dir, scope: "user" }]);
	expect(templates.map(({ name, description }) => `${name}: ${description}`)).toEqual([
		...["a: A", "b: B", "c: C", "d: ---", "f: ---"],
	]);
	expect(warnings).toEqual([
		`${dir}/a.md:3: argument-hint must be text · put it in quotes`,
		`${dir}/b.md:2: description must be text · put it in quotes`,
		expect.stringMatching(/c\.md:[34]: .*; front matter ignored$/),
		`${dir}/d.md:1: the front matter has no closing --- line; front matter ignored`,
		`${dir}/e.md:1: the file has no text; prompt ignored`,
	]);
	expect([...broken]).toEqual(["c", "d", "e"].map((name) => `${dir}/${name}.md`));
});
