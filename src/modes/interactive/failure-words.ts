type FailureWords = Pick<typeof import("../request-error.js"), "nextStep" | "stoppedText"> &
	Pick<typeof import("../../agent/failure.js"), "describeFailure">;

let words: FailureWords | null = null;

/** Loads the wording of failed requests. The first frame does not need it; the first session does. */
export async function loadFailureWords(): Promise<void> {
	const [failure, next] = await Promise.all([import("../../agent/failure.js"), import("../request-error.js")]);
	words = { ...failure, ...next };
}

/** An error as one readable line; as it is until `loadFailureWords` has resolved, like the next two. */
export const describeFailure = (text: string | undefined): string => words?.describeFailure(text) ?? text ?? "";

/** The next step for the user after a described error. */
export const nextStep = (text: string): string => words?.nextStep(text) ?? "";

/** How a stopped reply ended. */
export const stoppedText = (errorMessage: string | undefined): string =>
	words?.stoppedText(errorMessage) ?? errorMessage ?? "stopped";
