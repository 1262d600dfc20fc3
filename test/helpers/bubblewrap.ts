import { spawnSync } from "node:child_process";
import { missingPrograms, skipLine } from "./programs.js";

/** Why no sandbox can be made here, as a visible line, or undefined. */
export const NO_SANDBOX = missingPrograms("the sandbox", { bwrap: "bubblewrap" }) ?? tryNamespaces();

function tryNamespaces(): string | undefined {
	const { status, stderr } = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], { encoding: "utf8" });
	return status === 0 ? undefined : skipLine("the sandbox", stderr.trim().split("\n").at(-1) ?? "bwrap failed");
}
