import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { missingPrograms } from "../helpers/programs.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const page = readFileSync(new URL("../../docs/rpc.md", import.meta.url), "utf8");
const examples = Object.fromEntries(
	[...page.matchAll(/^```python (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => [name, code]),
);
const NO_PYTHON = missingPrograms("the Python client", { python3: "python3" });

/** Runs a program in Python with the client of the page next to it, and `pi` on the PATH. */
async function runPython(program: string, content: { provider: Awaited<ReturnType<typeof startProvider>> }) {
	const { cwd, env } = piPlace({ agentDir: agentDirFor(content.provider) });
	const bin = tempDir();
	writeFiles(bin, {
		...examples,
		"program.py": program,
		pi: `#!/bin/sh\nexec "${process.execPath}" "${piProgram()}" "$@"\n`,
	});
	chmodSync(join(bin, "pi"), 0o755);
	const child = spawn("python3", [join(bin, "program.py")], {
		cwd,
		env: { ...env, PATH: `${bin}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: "1" },
	});
	const output = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"] as const) {
		child[name].setEncoding("utf8").on("data", (chunk: string) => {
			output[name] += chunk;
		});
	}
	const code = await new Promise((resolve) => child.once("close", resolve));
	return { cwd, code, ...output };
}

test.skipIf(NO_PYTHON !== undefined)(
	"the Python client runs a prompt, answers a dialog and reads the result",
	async () => {
		const provider = await startProvider();
		provider.reply([toolCall("bash", { command: "echo hi > hi.txt" })], "It writes «hi».");
		const { cwd, ...run } = await runPython(examples["ask.py"] ?? "", { provider });
		expect(run).toEqual({
			code: 0,
			stdout: expect.stringMatching(
				/^runs bash \{'command': 'echo hi > hi\.txt'\}\npermission-gate asks: Run this command\?\n\nbash: echo hi > hi\.txt\nIt writes «hi»\.\n\d+ tokens\n$/,
			),
			stderr: "",
		});
		expect(existsSync(join(cwd, "hi.txt"))).toBe(true);
	},
);

test.skipIf(NO_PYTHON !== undefined)("the example in Python fails when the provider refuses the request", async () => {
	const provider = await startProvider();
	provider.reply({ fault: { kind: "http", status: 401, message: "invalid key" } });
	const { code, stdout, stderr } = await runPython(examples["ask.py"] ?? "", { provider });
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^RuntimeError: loopback\/scripted: 401 invalid key · /);
});

test.skipIf(NO_PYTHON !== undefined)(
	"the Python client raises the errors of pi, runs commands, and notices the end",
	async () => {
		const program = `
from client import Pi

with Pi("--no-session") as pi:
    try:
        pi.call("set_model", provider="lab", modelId="none")
    except RuntimeError as error:
        print("error:", error)
    print(list(pi.run("/name greeting")))
    print(pi.call("bash", command="exit 3")["exitCode"])
    pi._process.kill()
    try:
        pi.call("get_state")
    except (EOFError, BrokenPipeError) as error:
        print(type(error).__name__)
    pi._process.stdin = open("/dev/null", "w")
`;
		const run = await runPython(program, { provider: await startProvider() });
		expect(run).toMatchObject({
			code: 0,
			stdout: expect.stringMatching(/^error: [^\n]*lab\/none[^\n]*\n\[\]\n3\n(?:EOFError|BrokenPipeError)\n$/),
			stderr: "",
		});
	},
);
