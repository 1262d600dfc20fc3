import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a program is, as a shell finds it; administrators' directories included. */
export function findProgram(name: string): string | undefined {
	const directories = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
	return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/**
 * Why tests of an engine cannot run here, as a visible line; undefined if they can.
 * @param programs program → Debian package
 */
export function missingPrograms(engine: string, programs: Readonly<Record<string, string>>): string | undefined {
	const missing = Object.entries(programs).find(([program]) => findProgram(program) === undefined);
	return missing === undefined ? undefined : skipLine(engine, `${missing[0]} is missing (package ${missing[1]})`);
}

/** What tests with an SSH server need. */
export const SSH_PROGRAMS = { ssh: "openssh-client", "ssh-keygen": "openssh-client", sshd: "openssh-server" };

/** Prints and returns why tests are skipped. */
export function skipLine(engine: string, reason: string): string {
	const line = `SKIPPED: tests of ${engine}: ${reason}`;
	process.stderr.write(`${line}\n`);
	return line;
}

/** Arguments of all processes that contain a text, for texts that no other process has. */
export function processesWith(text: string): string[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
		.map((id) => {
			try {
				return `${id} ${readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ")}`;
			} catch {
				return ""; // ended meanwhile
			}
		})
		.filter((line) => line.includes(text));
}
