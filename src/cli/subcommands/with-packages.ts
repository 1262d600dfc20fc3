import { SettingsStore } from "../../config/settings-store.js";
import { PackageManager } from "../../packages/package-manager.js";
import { stopOnSignal } from "../../util/signals.js";
import { printNotices } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";

/** Changes packages. Ctrl+C ends npm and git, and leaves nothing half-installed. @returns the exit code */
export async function withPackages(
	{ location: { paths, env }, io }: SubcommandContext,
	work: (manager: PackageManager) => Promise<void>,
): Promise<number> {
	const controller = new AbortController();
	const end = stopOnSignal(async () => controller.abort());
	try {
		await work(new PackageManager({ paths, env, settings: new SettingsStore(paths), signal: controller.signal }));
		return 0;
	} catch (error) {
		if (end.exitCode === undefined) throw error;
		printNotices(io, ["Stopped: the package was not installed"]);
		return end.exitCode;
	} finally {
		end.release();
	}
}
