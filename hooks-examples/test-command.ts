/** /test [arguments] runs the project's tests. When they pass it says so; when they fail the agent gets the output. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Characters of output for the agent: the end, where failures are summed up. */
const MAX_OUTPUT = 20_000;

/** What tells which command runs the tests; the first that matches counts. */
const PROJECTS: readonly { file: string; contains?: RegExp; command: readonly string[]; separator?: string }[] = [
	{ file: "package.json", contains: /"test"\s*:/, command: ["npm", "test", "--silent"], separator: "--" },
	{ file: "Cargo.toml", command: ["cargo", "test"] },
	{ file: "go.mod", command: ["go", "test", "./..."] },
	{ file: "pyproject.toml", command: ["python", "-m", "pytest", "-q"] },
	{ file: "Makefile", contains: /^test:/m, command: ["make", "test"] },
];

export default function testCommand(pi: HookAPI): void {
	pi.command("test", {
		description: "Run the tests; the agent mends what fails",
		argumentHint: "[arguments]",
		async handler(ctx) {
			const project = PROJECTS.find(({ file, contains }) => {
				const path = join(ctx.cwd, file);
				return existsSync(path) && (!contains || contains.test(readFileSync(path, "utf8")));
			});
			if (!project)
				return { status: `No tests were found: none of ${PROJECTS.map(({ file }) => file).join(", ")} names any` };
			const separator = ctx.args.length > 0 && project.separator ? [project.separator] : [];
			const [program = "", ...args] = [...project.command, ...separator, ...ctx.args];
			const shown = [program, ...args].join(" ");
			// Escape ends the command and with it the tests.
			const { code, stdout, stderr } = await ctx.exec(program, args);
			if (ctx.signal.aborted) return undefined;
			if (code === 0) return { status: `The tests pass (${shown})` };
			if (code === 127) return { status: `${program} is not installed` };
			const output = `${stdout}\n${stderr}`.trim();
			const end = output.length > MAX_OUTPUT ? `[…]\n${output.slice(-MAX_OUTPUT)}`.toWellFormed() : output;
			return {
				prompt: `The tests fail: \`${shown}\` ended with ${code}. Find out why and mend it.\n\n<output>\n${end}\n</output>`,
			};
		},
	});
}
