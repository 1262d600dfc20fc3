import type { BenchReport } from "./bench.js";

export function benchPage(report: BenchReport): string {
	return JSON.stringify(report);
}
