import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";

/** The directory in an agent directory for what a hook keeps about the project in `cwd`. It need not exist. */
export function hookProjectDir(agentDir: string, cwd: string, hook: string): string {
	const path = resolve(cwd);
	const digest = createHash("sha256").update(path).digest("hex").slice(0, 8);
	const name = encodeURIComponent(hook).replace(/^\./, "%2E");
	return join(agentDir, "projects", `${basename(path) || "root"}-${digest}`, name);
}
