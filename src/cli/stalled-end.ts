/**
 * Tells when nothing is left that could end the run, such as when a hook's command never answers: Node would end the
 * program as if all were well.
 * @returns takes the watch off
 */
export function watchForStall(onStall: () => void): () => void {
	process.once("beforeExit", onStall);
	return () => process.off("beforeExit", onStall);
}
