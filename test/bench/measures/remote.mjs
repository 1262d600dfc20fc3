import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startSshd, writeSshClient } from "../../helpers/sshd.js";
import { startModelServer } from "../lib/model-server.mjs";
import { interleave } from "../lib/stats.mjs";
import { upToRequest } from "./print.mjs";

const TURNS = 20;
const PROGRAMS = { ssh: "/usr/bin/ssh", sshd: "/usr/sbin/sshd" };
const run = promisify(execFile);

/**
 * Tool turns on a machine reached with ssh over loopback, and what the same costs with `ssh` alone over a shared connection.
 * The turns include request and answer, whose cost on this machine is measured too and subtracted.
 */
export async function remoteTools({ rounds, workshop }) {
	if (!Object.values(PROGRAMS).every(existsSync)) throw new Error("needs openssh-client and openssh-server");
	const dir = mkdtempSync(join(tmpdir(), "pi-bench-ssh-"));
	const sshd = await startSshd(dir, PROGRAMS);
	const { bin } = writeSshClient(dir, sshd.port, PROGRAMS);
	const file = join(dir, "1-MB.txt");
	writeFileSync(file, "0123456789abcde\n".repeat(65_536));
	let call = {};
	const server = await startModelServer((body) => {
		const results = body.messages.filter((message) => message.role === "tool").length;
		return results < TURNS ? { call } : { text: "done" };
	});
	const master = execFile(join(bin, "ssh"), ["-M", "-N", "-S", join(dir, "s"), "box"]);
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const env = { ...sandbox.env, PATH: `${bin}:${process.env.PATH}` };
		while (!existsSync(join(dir, "s"))) await new Promise((resolve) => setTimeout(resolve, 20));
		const ssh = (...command) => async () => {
			const startedAt = performance.now();
			for (let turn = 0; turn < TURNS; turn++) {
				await run(join(bin, "ssh"), ["-S", join(dir, "s"), "box", ...command], { maxBuffer: 2 ** 22, encoding: "buffer" });
			}
			return { wall: (performance.now() - startedAt) / TURNS };
		};
		const pi = (name, args, on) => async () => {
			call = { name, arguments: args };
			const command = [...workshop.pi, "--model", "bench/scripted", "--no-session", ...on, "-p", "go"];
			const { wall } = await upToRequest(server, command, { ...sandbox, env }, TURNS + 1);
			return { wall: wall / TURNS };
		};
		const there = ["--on", `ssh://box${dir}`];
		const values = await interleave(rounds, {
			sshTrue: ssh("true"),
			local: pi("jobs", { action: "list" }, []),
			bash: pi("bash", { command: "true" }, there),
			sshCat: ssh("cat", file),
			read: pi("read", { path: file }, there),
		});
		const tool = (name) => values[name].wall.map((wall, round) => wall - values.local.wall[round]);
		return [
			{
				name: "ssh: bash true, added to ssh host true",
				unit: "ms",
				values: tool("bash").map((wall, round) => wall - values.sshTrue.wall[round]),
				budget: { atMost: 15 },
			},
			{ name: "ssh: bash true", unit: "ms", values: tool("bash"), floor: "ssh", floorValues: values.sshTrue.wall, budget: null },
			{ name: "ssh: read of 1 MB", unit: "ms", values: tool("read"), floor: "ssh", floorValues: values.sshCat.wall, budget: { ratio: 1.5 } },
		];
	} finally {
		master.kill();
		sshd.stop();
		await server.close();
		rmSync(dir, { recursive: true, force: true });
	}
}
