import { readdirSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { PiError } from "../../errors.js";
import { quoteForShell } from "../../tools/machine/shell-engine.js";
import { errnoCode } from "../../util/fs.js";
import { printJson, printLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { hookSource, linkPackage, rejectBuiltin, writeNewFile } from "./scaffold.js";

const PI = "@mariozechner/pi-coding-agent";
/** The names that npm, the Agent Skills specification and commands accept. */
const NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const SCOPED_NAME = /^@[a-z0-9]+(?:-[a-z0-9]+)*\/([^/]+)$/;

/**
 * `pi hooks new --package TARGET`: writes a package to a new directory, with a hook, a skill and a test that runs.
 * @param target a directory, whose last part becomes the name of the package, or a name with a scope
 * @throws PiError `bad_arguments` for an invalid name and for a directory with files; `config_write_failed`
 */
export async function newPackage(
	{ target }: { target: string },
	{ location: { paths }, options, io }: SubcommandContext,
): Promise<number> {
	const scoped = SCOPED_NAME.exec(target)?.[1];
	const dir = resolve(paths.cwd, scoped ?? target);
	const folder = basename(dir);
	if (target === "" || !NAME.test(folder)) {
		throw new PiError("bad_arguments", `Invalid package name ${JSON.stringify(target)}`, {
			hint: "use up to 64 lowercase letters and digits with single hyphens between them",
		});
	}
	const command = folder.replace(/^pi-(?=.)/, "");
	rejectBuiltin(command);
	rejectFiles(dir);
	const name = scoped ? target : folder;
	const files = packageFiles(name, command);
	for (const [path, text] of Object.entries(files)) writeNewFile(join(dir, path), text);
	linkPackage(join(dir, "node_modules", ...PI.split("/")));
	if (options.json) {
		await printJson(io, { name, path: dir, files: Object.keys(files) });
		return 0;
	}
	const shown = relative(paths.cwd, dir).startsWith("..") ? dir : relative(paths.cwd, dir);
	const first = `${shown === "" ? "" : `${quoteForShell(["cd", shown])} && `}npm install`;
	const steps = [
		[first, "install the test runner and TypeScript"],
		["npm test", "run the test of the hook"],
		["npm run check", "check the types"],
		["pi -e .", `try the package in a session, then /${command}`],
		["before you publish", "choose a license, and complete package.json and README.md"],
	];
	await printLines(io, [
		`Wrote the package ${name} to ${dir}:`,
		...Object.keys(files).map((path) => `  ${path}`),
		"",
		...steps.map(
			([step = "", purpose], index) => `${index === 0 ? "Next:" : "     "} ${step.padEnd(first.length)}   ${purpose}`,
		),
	]);
	return 0;
}

/** @throws PiError `bad_arguments` unless the directory is missing or empty, but for a repository */
function rejectFiles(dir: string): void {
	let names: string[];
	try {
		names = readdirSync(dir);
	} catch (cause) {
		if (errnoCode(cause) === "ENOENT") return;
		throw new PiError("bad_arguments", `${dir} is not a directory that pi can read`, { cause });
	}
	if (names.some((name) => name !== ".git")) {
		throw new PiError("bad_arguments", `${dir} is not empty`, { hint: "choose another directory" });
	}
}

/** @param command name of the command, the hook and the skill */
function packageFiles(name: string, command: string): Record<string, string> {
	const json = (value: unknown) => `${JSON.stringify(value, null, "\t")}\n`;
	return {
		"package.json": json(manifest(name)),
		[`hooks/${command}.ts`]: hookSource(command),
		[`skills/${command}/SKILL.md`]: skill(command),
		[`test/${command}.test.ts`]: testSource(command),
		"tsconfig.json": json(TSCONFIG),
		"README.md": readme(name, command),
		// The lock file of npm contains the path of the link.
		".gitignore": "node_modules/\npackage-lock.json\n",
	};
}

function manifest(name: string) {
	return {
		name,
		version: "0.1.0",
		description: "Counts tool calls and blocks git push",
		keywords: ["pi-package"],
		type: "module",
		files: ["hooks", "skills"],
		pi: { hooks: ["hooks/*.ts"], skills: ["skills"] },
		scripts: { test: "vitest run", check: "tsc", prepublishOnly: "npm run check && npm test" },
		// The link satisfies it, so that npm keeps the link and installs nothing.
		peerDependencies: { [PI]: "*" },
		devDependencies: { typescript: ">=5.9", vitest: ">=3" },
	};
}

/** Without paths of this machine: the types come from the linked package. */
const TSCONFIG = {
	compilerOptions: {
		target: "es2023",
		module: "nodenext",
		types: [],
		strict: true,
		noEmit: true,
		skipLibCheck: true,
	},
	include: ["hooks", "test"],
};

function skill(command: string): string {
	return `---
name: ${command}
description: Describes changes for a push that the user makes. Use when the user asks to push or to publish a branch.
---
The package blocks \`git push\`. Run \`git log @{upstream}..\` and list each commit that a push would publish, in one line.
`;
}

function testSource(command: string): string {
	return `import { createHookTest, toolCall } from "${PI}/testing";
import { expect, onTestFinished, test } from "vitest";

test("git push is blocked, and the tool calls are counted", async () => {
	const t = await createHookTest({
		hooks: [new URL("../hooks/${command}.ts", import.meta.url)],
		replies: [toolCall("bash", { command: "git push" }), "I have not pushed."],
	});
	onTestFinished(() => t.dispose());
	await t.run("Push the branch.");
	expect(t.requests[1]?.messages.at(-1)?.text).toContain("Only the user may push");
	expect(await t.run("/${command}")).toMatchObject({ status: expect.stringMatching(/^1 tool calls/) });
	expect(t.errors).toEqual([]);
});
`;
}

function readme(name: string, command: string): string {
	return `# ${name}

A package for pi.

- The hook \`${command}\` counts the tool calls of a run and blocks \`git push\`. \`/${command}\` shows the number.
- The skill \`${command}\` describes what a push would publish.

## Install

\`\`\`sh
pi install npm:${name}
\`\`\`

## Develop

\`\`\`sh
npm link ${PI}
npm install
npm test
npm run check
pi -e .
\`\`\`

\`npm link\` makes the types and the test session of your pi available; it must be installed with \`npm install --global\`.
`;
}
