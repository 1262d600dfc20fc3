import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { startPi } from "../helpers/pty.js";
import { tempDir } from "../helpers/temp.js";
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

test.each([[["@fifo"]], [["--plain", "@fifo"]]])(
	"pi %j sends what is written to the FIFO, and Ctrl+C ends the wait for it",
	async (args) => {
		const provider = await startProvider();
		provider.reply("Read.");
		const cwd = tempDir();
		const fifo = join(cwd, "fifo");
		execFileSync("mkfifo", [fifo]);
		const open = () => startPi({ agentDir: agentDirFor(provider), cwd, args });
		const pi = open();
		await writeFile(fifo, "from the writer");
		await pi.waitForText("Read.");
		expect(provider.requests[0]?.messages.at(-1)?.text).toContain("from the writer");
		pi.kill("SIGKILL");

		const waiting = open();
		await expect.poll(() => hasOpen(waiting.pid, fifo), { timeout: 10_000 }).toBe(true);
		await waiting.press("ctrl+c");
		expect(await waiting.exited).toMatchObject({ signal: constants.signals.SIGINT });
	},
);

function hasOpen(pid: number, path: string): boolean {
	const fds = `/proc/${pid}/fd`;
	return readdirSync(fds).some((fd) => {
		try {
			return readlinkSync(join(fds, fd)) === path;
		} catch {
			return false; // closed meanwhile
		}
	});
}
