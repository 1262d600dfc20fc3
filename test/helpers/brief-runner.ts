import { VitestTestRunner } from "vitest/runners";

/**
 * Reports no import durations. A worker keeps its modules, so Vitest would send those of every module it ever loaded, twice
 * with each file, and the main process, which transforms the sources, would be busy reading them.
 */
export default class BriefRunner extends VitestTestRunner {
	override getImportDurations() {
		return {};
	}
}
