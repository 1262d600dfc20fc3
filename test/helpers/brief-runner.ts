import { VitestTestRunner } from "vitest/runners";

/**
 * Reports no import durations. A worker keeps its modules, so Vitest would send those of every module it ever loaded, twice
 * with each file: a tenth of the CPU time of a run.
 */
export default class BriefRunner extends VitestTestRunner {
	override getImportDurations() {
		return {};
	}
}
