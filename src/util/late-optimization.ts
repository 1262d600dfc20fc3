/** How much of a function runs before V8 optimizes it, in bytes of bytecode. V8's default is 66 KB. */
const OPTION = "--interrupt-budget=1500000";
/** Later versions lack the option, which V8 would report on stderr. They start with a compiler that costs little. */
const LAST_NODE = 20;

/**
 * Makes V8 optimize only functions that run for long. By default, its threads take a third of the program's CPU time to
 * optimize code that then hardly runs any faster.
 * @param nodeVersion `major.minor.patch`
 */
export async function optimizeLate(nodeVersion: string = process.versions.node): Promise<void> {
	if (Number.parseInt(nodeVersion, 10) > LAST_NODE) return;
	const { default: v8 } = await import("node:v8");
	v8.setFlagsFromString(OPTION);
}
