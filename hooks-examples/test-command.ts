/** `/test [arguments]` runs the project's tests where tools work. If they fail, it sends the output to the agent. */
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";

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
			const project = await findProject(ctx);
			if (!project) return { status: `No test command found in ${PROJECTS.map(({ file }) => file).join(", ")}` };
			const separator = ctx.args.length > 0 && project.separator ? [project.separator] : [];
			const [program = "", ...args] = [...project.command, ...separator, ...ctx.args];
			const shown = [program, ...args].join(" ");
			// Escape aborts the command and the tests.
			const { code, stdout, stderr } = await ctx.exec(program, args, { onHost: true });
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

/** The first of PROJECTS whose file is in the working directory of the tools. */
async function findProject(ctx: HookEventContext) {
	for (const project of PROJECTS) {
		const { code, stdout } = await ctx.exec("cat", [project.file], { onHost: true });
		if (code === 0 && (!project.contains || project.contains.test(stdout))) return project;
	}
	return undefined;
}
