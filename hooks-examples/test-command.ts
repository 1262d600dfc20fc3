/** `/test [arguments]` runs the project's tests. If they fail, it sends the output to the agent. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Maximum number of output characters for the agent. It gets the end, where test runners summarize failures. */
const MAX_OUTPUT = 20_000;

/** Test commands by project file; the first match is used. */
const PROJECTS: readonly { file: string; contains?: RegExp; command: readonly string[]; separator?: string }[] = [
	{ file: "package.json", contains: /"test"\s*:/, command: ["npm", "test", "--silent"], separator: "--" },
	{ file: "Cargo.toml", command: ["cargo", "test"] },
	{ file: "go.mod", command: ["go", "test", "./..."] },
	{ file: "pyproject.toml", command: ["python", "-m", "pytest", "-q"] },
	{ file: "Makefile", contains: /^test:/m, command: ["make", "test"] },
];

export default function testCommand(pi: HookAPI): void {
	pi.command("test", {
		description: "Run the tests and let the agent fix failures",
		argumentHint: "[arguments]",
		async handler(ctx) {
			const project = PROJECTS.find(({ file, contains }) => {
				const path = join(ctx.cwd, file);
				return existsSync(path) && (!contains || contains.test(readFileSync(path, "utf8")));
			});
			if (!project) return { status: `No test command found in ${PROJECTS.map(({ file }) => file).join(", ")}` };
			const separator = ctx.args.length > 0 && project.separator ? [project.separator] : [];
			const [program = "", ...args] = [...project.command, ...separator, ...ctx.args];
			const shown = [program, ...args].join(" ");
			// Escape aborts the command and the tests.
			const { code, stdout, stderr } = await ctx.exec(program, args);
			if (ctx.signal.aborted) return undefined;
			if (code === 0) return { status: `The tests pass (${shown})` };
			if (code === 127) return { status: `${program} is not installed` };
			const output = `${stdout}\n${stderr}`.trim();
			const end = output.length > MAX_OUTPUT ? `[…]\n${output.slice(-MAX_OUTPUT)}`.toWellFormed() : output;
			return {
				prompt: `The tests fail: \`${shown}\` exited with code ${code}. Find out why and fix it.\n\n<output>\n${end}\n</output>`,
			};
		},
	});
}
