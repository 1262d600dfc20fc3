import { join } from "node:path";
import { contains, directoriesBetween, distinct, realPath, words } from "./files.js";
import { repositoryPaths } from "./repository.js";
import { agentDirs, type SandboxSetup, secretPaths } from "./secrets.js";

/** The profile of sandbox-exec, which allows nothing that it does not name; of several rules that match, the last counts. */
export function seatbeltProfile(setup: SandboxSetup): string {
	const { cwd, state, hasNetwork, hasGit } = setup;
	const subpaths = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(" ");
	const secrets = distinct(secretPaths(setup).flatMap((path) => [path, realPath(path)])).filter(
		(path) => !contains(path, cwd),
	);
	const repository = hasGit ? repositoryPaths(cwd).filter((path) => contains(cwd, path)) : [];
	const skills = agentDirs(setup.env, setup.homes).map((dir) => join(dir, "skills"));
	return [
		"(version 1)",
		"(deny default)",
		"(allow process-exec process-fork sysctl-read ipc-posix-sem)",
		"(allow signal process-info* (target same-sandbox))",
		`(allow mach-lookup ${MACH_SERVICES.map((name) => `(global-name "${name}")`).join(" ")})`,
		"(allow file-read*)",
		`(allow file-write* ${subpaths([cwd, join(state, "tmp")])})`,
		'(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/fd/"))',
		...(repository.length > 0 ? [`(deny file-write* ${subpaths(repository)})`] : []),
		`(deny file-read* file-write* ${subpaths(secrets)})`,
		`(allow file-read* ${subpaths(skills)})`,
		...[...secrets, ...repository]
			.flatMap((path) => directoriesBetween(cwd, path))
			.map((dir) => `(deny file-write* (literal ${JSON.stringify(dir)}))`),
		...(hasNetwork
			? [
					'(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))',
					'(allow network-bind network-inbound (local ip "*:*"))',
					"(allow system-socket)",
				]
			: []),
	].join("\n");
}

/** Services of macOS that most programs need, such as for names of users. None of them starts programs. */
const MACH_SERVICES = words`
	com.apple.system.opendirectoryd.libinfo com.apple.system.opendirectoryd.membership com.apple.bsd.dirhelper
	com.apple.system.notification_center com.apple.system.logger com.apple.SystemConfiguration.configd com.apple.trustd.agent
`;
