import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { agentDirFor } from "./support.js";

test.each([
	["-p @/dev/stdin review", "@/dev/stdin"],
	["-p --system-prompt /dev/stdin review", "/dev/stdin"],
	["-p --append-system-prompt /dev/fd/0 review", "/dev/fd/0"],
])("pi %s is refused, because pi reads stdin itself", async (args, name) => {
	const provider = await startProvider();
	const { env, cwd } = piPlace({ agentDir: agentDirFor(provider) });
	const command = `printf 'one\\ntwo\\nthree\\n' | "$0" "$1" ${args}`;
	const child = spawn("sh", ["-c", command, process.execPath, piProgram()], { cwd, env });
	onTestFinished(() => void child.kill("SIGKILL"));
	let stderr = "";
	child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
		stderr += chunk;
	});
	expect((await once(child, "close"))[0]).toBe(2);
	expect(stderr).toBe(`pi: Cannot read ${name}: it is stdin, which pi reads anyway · leave the name out\n`);
	expect(provider.requests).toEqual([]);
});
