import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, lstatSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, missingPrograms, skipLine } from "./programs.js";
import { endWithProcess } from "./sshd.js";

/** A running container with the programs of this machine and files of its own. */
export interface TestContainer {
	/** To be first in PATH: `podman`, and `docker`, which is Podman too. Both know only containers of the tests. */
	bin: string;
	name: string;
	/** Runs Podman. @returns its output */
	podman(...args: string[]): string;
	/** Ends the container and removes everything. */
	remove(): void;
}

/**
 * Kernels with both versions of cgroups: crun accepts only one of them, so Podman runs without the other. Its container then
 * gets no memory limits, which no test needs.
 */
const ONE_CGROUP_VERSION = `exec unshare -m sh -c 'umount /sys/fs/cgroup/unified; exec "$@"' sh`;
const LINKS = { bin: "usr/bin", sbin: "usr/sbin", lib: "usr/lib", lib64: "usr/lib64" };

/**
 * Starts a container of an image made here, without a network. Its `/usr` is that of this machine, read-only; with `busybox`, it
 * contains nothing but a static busybox. It ends with this process.
 * @param options `shared`: directories of this machine that it has too, as well as its process ids; `path`: its PATH
 * @returns the reason if that is not possible, after printing it
 */
export function startContainer({
	shared,
	path = "/usr/bin:/bin",
	busybox = false,
}: {
	shared?: readonly string[];
	path?: string;
	busybox?: boolean;
} = {}): TestContainer | string {
	const engine = busybox ? "busybox in podman" : "podman";
	const missing = missingPrograms(engine, {
		...{ podman: "podman", tar: "tar" },
		...(busybox ? { busybox: "busybox-static" } : {}),
	});
	if (missing !== undefined) return missing;
	if (!busybox && !lstatSync("/bin").isSymbolicLink()) return skipLine(engine, "/bin is not a link to /usr/bin");
	if (busybox && !isStatic()) return skipLine(engine, "busybox is not static (package busybox-static)");
	const dir = mkdtempSync(join(tmpdir(), "pi-podman-"));
	const bin = join(dir, "bin");
	const storage = join(dir, "storage.conf");
	const graph = join(dir, "storage");
	mkdirSync(bin);
	// Without copies of files, as file systems in a file system of layers often cannot be stacked.
	writeFileSync(storage, `[storage]\ndriver = "vfs"\ngraphroot = "${graph}/root"\nrunroot = "${graph}/run"\n`);
	writeScript(join(bin, "docker"), 'exec podman "$@"');
	makeImage(dir, busybox);

	const podman = (...args: string[]) => execFileSync(join(bin, "podman"), args, { encoding: "utf8", stdio: "pipe" });
	const name = `pi-test-${busybox ? "busybox-" : ""}${process.pid}`;
	// The container's monitor cleans up after it at its own pace, and creates missing storage again.
	const removeFiles = `rm -rf '${dir}'; sleep 2; rm -rf '${dir}'`;
	const remove = endWithProcess(`cd '${bin}' && ./podman rm -f -t 0 ${name}; ./podman rmi -f -a; ${removeFiles}`);
	let problem = "";
	for (const before of ["exec", ONE_CGROUP_VERSION]) {
		const start = `export CONTAINERS_STORAGE_CONF=${storage}\n${before} ${findProgram("podman")} "$@"`;
		writeScript(join(bin, "podman"), start);
		try {
			podman("import", join(dir, "image.tar"), "pi-test");
			const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
			const volumes = busybox ? [] : ["/usr:/usr:ro", "/etc/alternatives:/etc/alternatives:ro"];
			for (const directory of shared ?? []) volumes.push(`${directory}:${directory}`);
			const files = [...volumes.flatMap((volume) => ["--volume", volume]), "--workdir", "/work", "--env", "HOME=/root"];
			files.push("--env", `PATH=${path}`, ...(shared ? ["--pid", "host"] : []));
			podman("run", "-d", "--name", name, "--network", "none", ...limits, ...files, "pi-test", "sleep", "infinity");
			return { bin, name, podman, remove };
		} catch (error) {
			problem = String(error instanceof Error && "stderr" in error ? error.stderr : error).trim();
			spawnSync(join(bin, "podman"), ["rm", "-f", "-t", "0", name]);
		}
	}
	remove();
	return skipLine(engine, problem.split("\n").at(-1) ?? "");
}

/** Whether busybox needs no libraries. */
function isStatic(): boolean {
	const { stdout, stderr } = spawnSync("ldd", [findProgram("busybox") ?? "busybox"], { encoding: "utf8" });
	return /not a dynamic|statically linked/.test(stdout + stderr);
}

/** An image of folders and links, as small as possible. */
function makeImage(dir: string, hasBusybox: boolean): void {
	const root = join(dir, "image");
	for (const folder of ["usr", "etc", "root", "tmp", "work", "proc", "sys", "dev", "run"]) {
		mkdirSync(join(root, folder), { recursive: true });
	}
	chmodSync(join(root, "tmp"), 0o1777);
	if (hasBusybox) {
		mkdirSync(join(root, "bin"));
		copyFileSync(findProgram("busybox") ?? "busybox", join(root, "bin", "busybox"));
		for (const applet of execFileSync("busybox", ["--list"], { encoding: "utf8" }).trim().split("\n")) {
			if (applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
		}
	} else {
		for (const [link, target] of Object.entries(LINKS)) symlinkSync(target, join(root, link));
	}
	writeFileSync(join(root, "etc", "passwd"), "root:x:0:0:root:/root:/bin/sh\n");
	execFileSync("tar", ["--owner=0", "--group=0", "-cf", join(dir, "image.tar"), "-C", root, "."]);
}

function writeScript(path: string, text: string): void {
	writeFileSync(path, `#!/bin/sh\n${text}\n`);
	chmodSync(path, 0o755);
}
